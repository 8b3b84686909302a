#include "checkpoint/checksum.h"

#include <zlib.h>

namespace stint {

std::uint32_t checksum_of(std::string_view bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace stint
