#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stint {

/// Random bytes of the kernel, as hexadecimal digits.
std::string random_hex(std::size_t bytes);

/// The secret of a run: 32 random bytes as hexadecimal digits.
std::string make_secret();

/// Whether `text` has the form of a run's secret.
bool is_secret(std::string_view text);

/// The two ends of a connection that prove the secret of the run to each other.
enum class Role { kReceiver, kClient };

/// The random texts that the two ends choose for one connection.
struct Nonces {
  std::string receiver;
  std::string client;
};

/// The text by which the end `role` proves the secret: HMAC-SHA-256 under the secret's bytes, as
/// hexadecimal digits, of
///
///   stint.receiver/2 ROLE proof RECEIVER'S-NONCE CLIENT'S-NONCE
///
/// The role is part of it, so that a proof that is sent back proves nothing.
std::string proof_of(std::string_view secret, Role role, const Nonces& nonces);

/// The key under which the end `sender` authenticates what it sends on this connection: the same
/// with "key" in place of "proof", as 32 bytes.
std::string session_key(std::string_view secret, Role sender, const Nonces& nonces);

/// Whether two texts are equal, in a time that depends on their lengths only.
bool same_text(std::string_view a, std::string_view b);

}  // namespace stint
