#include "checkpoint/shard_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>
#include <vector>
#include <zlib.h>

namespace stint {
namespace {

constexpr std::string_view kStepPrefix = "step-";
constexpr std::int64_t kHead = 4;          // Bytes.
constexpr std::size_t kChunk = 1U << 20U;  // Bytes read at a time.

std::array<char, kHead> head_of(std::uint32_t checksum) {
  std::array<char, kHead> head{};
  for (std::size_t i = 0; i < head.size(); ++i) head[i] = static_cast<char>(checksum >> (8 * i));
  return head;
}

bool read_at(int file, std::int64_t offset, char* buffer, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::pread(file, buffer, bytes, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    buffer += got;
    offset += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

std::uint32_t checksum_of(std::string_view bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string generation_name(std::int64_t step) { return fmt::format("{}{}", kStepPrefix, step); }

std::optional<std::int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kStepPrefix.size());
  std::int64_t step = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  // A name that we would write differently, such as "step-007", is not ours.
  if (read.ec != std::errc() || step < 0 || generation_name(step) != name) return std::nullopt;
  return step;
}

std::string shard_file_name(const ShardName& shard) {
  return fmt::format("shard-{}-of-{}", shard.number, shard.count);
}

Status write_shard(const PrivateFolder& generation, const ShardName& shard, std::string_view bytes,
                   std::uint32_t checksum) {
  const auto head = head_of(checksum);
  return generation.replace(shard_file_name(shard), {head.data(), head.size()}, bytes, "put");
}

std::optional<ShardFile> open_shard(const PrivateFolder& generation, const ShardName& shard) {
  auto open = generation.open_file(shard_file_name(shard));
  if (!open || open->bytes < kHead) return std::nullopt;
  std::array<char, kHead> head{};
  if (!read_at(open->file.get(), 0, head.data(), head.size())) return std::nullopt;
  std::uint32_t checksum = 0;
  for (std::size_t i = 0; i < head.size(); ++i) {
    checksum |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(head[i])) << (8 * i);
  }
  return ShardFile{
      .file = std::move(open->file), .bytes = open->bytes - kHead, .checksum = checksum};
}

bool read_shard(const ShardFile& shard, std::int64_t offset, char* buffer, std::size_t bytes) {
  return read_at(shard.file.get(), kHead + offset, buffer, bytes);
}

bool is_undamaged(const ShardFile& shard) {
  std::vector<char> buffer(static_cast<std::size_t>(std::min<std::int64_t>(shard.bytes, kChunk)));
  std::uint32_t checksum = 0;
  for (std::int64_t at = 0; at < shard.bytes;) {
    const auto bytes = static_cast<std::size_t>(
        std::min<std::int64_t>(shard.bytes - at, static_cast<std::int64_t>(buffer.size())));
    if (!read_shard(shard, at, buffer.data(), bytes)) return false;
    checksum = checksum_of({buffer.data(), bytes}, checksum);
    at += static_cast<std::int64_t>(bytes);
  }
  return checksum == shard.checksum;
}

}  // namespace stint
