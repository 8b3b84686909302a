#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint {

/// The 32 bytes of a digest.
using Digest = std::array<std::uint8_t, 32>;

/// SHA-256 as defined by FIPS 180-4.
Digest sha256(std::string_view bytes);

/// HMAC-SHA-256 of `bytes` under `key`, as defined by RFC 2104.
Digest hmac_sha256(std::string_view key, std::string_view bytes);

/// In lower case, two digits a byte.
std::string to_hex(std::string_view bytes);
std::string to_hex(const Digest& digest);

}  // namespace stint
