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

/// The answer to `nonce` that proves the secret: HMAC-SHA-256 of its digits under the secret's
/// bytes, as hexadecimal digits.
std::string proof_of(std::string_view secret, std::string_view nonce);

/// Whether two texts are equal, in a time that depends on their lengths only.
bool same_text(std::string_view a, std::string_view b);

}  // namespace stint
