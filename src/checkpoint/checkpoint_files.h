#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/codec.h"
#include "base/result.h"

namespace stint {

inline constexpr const char* kCheckpointSchema = "stint.checkpoint/1";

/// A piece of a checkpoint, as one worker sent it.
struct CheckpointShard {
  int number = 0;  // From 0.
  std::int64_t bytes = 0;
  std::uint32_t checksum = 0;  // CRC-32, as zlib computes it.

  bool operator==(const CheckpointShard&) const = default;
};

/// A whole checkpoint: all of its shards are safe.
struct Checkpoint {
  std::int64_t step = 0;   // Last step that it holds.
  std::int64_t bytes = 0;  // Total of all shards.
  std::vector<CheckpointShard> shards = {};
  Json::Object unknown = {};

  bool operator==(const Checkpoint&) const = default;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, CheckpointShard>& it) {
  walk.field("number", it.number, "Number of the shard, from 0.", {.range = Range::kNotNegative});
  walk.field("bytes", it.bytes, "Length of the shard.", {.range = Range::kNotNegative});
  walk.field("checksum", it.checksum, "CRC-32 of the bytes of the shard.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Checkpoint>& it) {
  walk.field("step", it.step, "Last step that the checkpoint holds.",
             {.range = Range::kNotNegative});
  walk.field("bytes", it.bytes, "Total length of the shards.", {.range = Range::kNotNegative});
  walk.field("shards", it.shards, "Shards in the order of their numbers, without a gap.",
             {.always = true});
  walk.rest(it.unknown);
}

Json checkpoint_schema();

/// Empty when the shards are numbered without a gap and add up to the whole.
std::string problem(const Checkpoint& checkpoint);

/// The place of the shards of a checkpoint.
enum class ShardPlace {
  kFolder,     // In files beside the acknowledgement.
  kReceivers,  // With receivers, which have confirmed them.
};

/// Writes the acknowledgement of the checkpoint, after which it counts, into
/// `folder`/step-S/whole.json. Shards in the folder must exist with their lengths. Then removes
/// checkpoints older than this one, except the last whole one before it.
Status acknowledge(const std::string& folder, const Checkpoint& checkpoint,
                   ShardPlace place = ShardPlace::kFolder);

struct FoundCheckpoint {
  std::optional<Checkpoint> checkpoint = {};
  // Damaged files, and the checkpoint that is used instead.
  std::vector<std::string> warnings = {};
};

/// The newest acknowledged checkpoint in the folder. The lengths and checksums of shards in the
/// folder are verified, for which they are read; those with receivers are not. There may be none.
Result<FoundCheckpoint> latest(const std::string& folder, ShardPlace place = ShardPlace::kFolder);

/// The steps of the acknowledged checkpoints in the folder, newest first, damaged or not.
std::vector<std::int64_t> acknowledged_steps(const std::string& folder);

}  // namespace stint
