#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint {

/// The 32 bytes that stand for a text.
using Digest = std::array<std::uint8_t, 32>;

/// SHA-256, as FIPS 180-4 has it.
Digest sha256(std::string_view bytes);

/// HMAC-SHA-256 of `bytes` under `key`, as RFC 2104 has it.
Digest hmac_sha256(std::string_view key, std::string_view bytes);

/// In lower case, two digits a byte.
std::string to_hex(std::string_view bytes);
std::string to_hex(const Digest& digest);

}  // namespace stint
