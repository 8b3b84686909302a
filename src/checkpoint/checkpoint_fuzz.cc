// Files of a checkpoint; the first byte chooses: its acknowledgement beside a shard, a shard beside
// its acknowledgement, or the names of files.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/shard_file.h"

namespace {

constexpr std::string_view kShard = "a shard of a few bytes";
constexpr std::int64_t kStep = 5;

stint::Checkpoint small_checkpoint() {
  const auto bytes = static_cast<std::int64_t>(kShard.size());
  return {.step = kStep,
          .bytes = bytes,
          .shards = {{.number = 0, .bytes = bytes, .checksum = stint::checksum_of(kShard)}}};
}

/// Replaces a file of a whole checkpoint and looks for the newest that is undamaged.
void try_file(const std::string& folder, const std::string& name, std::string_view contents) {
  const auto all = stint::PrivateFolder::make(folder);
  CHECK(all.ok());
  const auto generation = all->make_inside(stint::generation_name(kStep));
  CHECK(generation.ok());
  const auto checksum = stint::checksum_of(kShard);
  CHECK(stint::write_shard(*generation, {.step = kStep}, kShard, checksum).ok());
  CHECK(stint::acknowledge(folder, small_checkpoint()).ok());
  CHECK(stint::write_file(generation->path() + "/" + name, contents).ok());
  const auto found = stint::latest(folder);
  CHECK(found.ok());
  CHECK(found->checkpoint || !found->warnings.empty());
  // Only what has the checksums that were acknowledged is used.
  if (found->checkpoint) CHECK(stint::problem(*found->checkpoint).empty());
  CHECK(stint::acknowledged_steps(folder).size() == 1);
}

void try_name(std::string_view text) {
  const auto step = stint::step_of(text);
  if (step) CHECK(stint::generation_name(*step) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const auto folder = stint::TemporaryFolder::make();
  CHECK(folder.ok());
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  switch (bytes[0]) {
    case 'w':
      try_file(folder->path(), "whole.json", text);
      break;
    case 's':
      try_file(folder->path(), stint::shard_file_name({.step = kStep}), text);
      break;
    default:
      try_name(text);
  }
  return 0;
}
