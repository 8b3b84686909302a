#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/private_folder.h"

namespace stint {

/// CRC-32, as zlib computes it, of `bytes` after others whose checksum is `before`.
std::uint32_t checksum_of(std::string_view bytes, std::uint32_t before = 0);

/// The number of a shard in a checkpoint.
struct ShardName {
  std::int64_t step = 0;
  int number = 0;  // From 0.
  int count = 1;

  auto operator<=>(const ShardName&) const = default;
};

/// A shard in a file: 4 bytes of CRC-32, little-endian, then the shard.
struct ShardFile {
  Descriptor file;
  std::int64_t bytes = 0;      // Length of the shard.
  std::uint32_t checksum = 0;  // Checksum stored in the file.
};

/// "step-120", the folder of a generation, and back; nothing for other names.
std::string generation_name(std::int64_t step);
std::optional<std::int64_t> step_of(std::string_view name);

/// "shard-2-of-4".
std::string shard_file_name(const ShardName& shard);

/// Writes the shard into the folder of its generation; see PrivateFolder::replace.
Status write_shard(const PrivateFolder& generation, const ShardName& shard, std::string_view bytes,
                   std::uint32_t checksum);

/// Nothing when it does not exist, or is too short. The shard itself is not read.
std::optional<ShardFile> open_shard(const PrivateFolder& generation, const ShardName& shard);

/// Reads bytes of the shard from `offset` on into `buffer`; false when there are too few.
bool read_shard(const ShardFile& shard, std::int64_t offset, char* buffer, std::size_t bytes);

/// Whether the shard has the checksum stored in its file. Reads the whole shard.
bool is_undamaged(const ShardFile& shard);

}  // namespace stint
