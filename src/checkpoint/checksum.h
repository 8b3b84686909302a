#pragma once

#include <cstdint>
#include <string_view>

namespace stint {

/// CRC-32, as zlib computes it, of `bytes` behind others whose checksum is `before`.
std::uint32_t checksum_of(std::string_view bytes, std::uint32_t before = 0);

}  // namespace stint
