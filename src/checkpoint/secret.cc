#include "checkpoint/secret.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <sys/random.h>

#include "base/check.h"
#include "base/sha256.h"
#include "base/text.h"
#include "checkpoint/receiver_protocol.h"

namespace stint {
namespace {

constexpr std::size_t kSecretBytes = 32;

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

std::uint8_t value_of(char c) {
  return static_cast<std::uint8_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
}

/// Requires an even number of hexadecimal digits.
std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes +=
        static_cast<char>(static_cast<std::uint8_t>(16 * value_of(hex[i]) + value_of(hex[i + 1])));
  }
  return bytes;
}

Digest derived(std::string_view secret, Role role, const char* purpose, const Nonces& nonces) {
  CHECK(is_secret(secret));
  return hmac_sha256(bytes_of(secret), fmt::format("{} {} {} {} {}", kReceiverProtocol,
                                                   role == Role::kReceiver ? "receiver" : "client",
                                                   purpose, nonces.receiver, nonces.client));
}

}  // namespace

std::string random_hex(std::size_t bytes) {
  std::string random(bytes, '\0');
  // Up to 256 bytes are returned at once, without interruption.
  CHECK(bytes <= 256);
  CHECK(::getrandom(random.data(), bytes, 0) == static_cast<ssize_t>(bytes));
  return to_hex(random);
}

std::string make_secret() { return random_hex(kSecretBytes); }

bool is_secret(std::string_view text) {
  return text.size() == 2 * kSecretBytes && std::all_of(text.begin(), text.end(), is_hex);
}

std::string proof_of(std::string_view secret, Role role, const Nonces& nonces) {
  return to_hex(derived(secret, role, "proof", nonces));
}

std::string session_key(std::string_view secret, Role sender, const Nonces& nonces) {
  const Digest key = derived(secret, sender, "key", nonces);
  return {key.begin(), key.end()};
}

bool same_text(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    different |= static_cast<unsigned>(static_cast<std::uint8_t>(a[i] ^ b[i]));
  }
  return different == 0;
}

}  // namespace stint
