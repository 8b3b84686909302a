#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/codec.h"
#include "base/result.h"

namespace stint {

inline constexpr const char* kCheckpointSchema = "stint.checkpoint/1";

/// A piece of a checkpoint, as it was sent by one worker.
struct CheckpointShard {
  int number = 0;  // From 0.
  std::int64_t bytes = 0;
  std::uint32_t checksum = 0;  // CRC-32, as zlib computes it.

  bool operator==(const CheckpointShard&) const = default;
};

/// A whole checkpoint: all of its shards are safe.
struct Checkpoint {
  std::int64_t step = 0;   // After which it was made.
  std::int64_t bytes = 0;  // Of all shards.
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

/// Where the shards of a checkpoint are.
enum class ShardPlace {
  kFolder,     // In files beside the acknowledgement.
  kReceivers,  // With receivers, which said that they keep them.
};

/// Writes that the checkpoint is whole, after which it counts, into `folder`/step-S/whole.json.
/// Shards in the folder must be there with their lengths. Then removes what is older than this
/// checkpoint, but for the last whole one before it.
Status acknowledge(const std::string& folder, const Checkpoint& checkpoint,
                   ShardPlace place = ShardPlace::kFolder);

struct FoundCheckpoint {
  std::optional<Checkpoint> checkpoint = {};
  std::vector<std::string> warnings = {};  // What is damaged, and what is used instead.
};

/// The newest acknowledged checkpoint in the folder. Shards in the folder have their lengths and
/// checksums, for which they are read; those with receivers are not looked at. There may be none.
Result<FoundCheckpoint> latest(const std::string& folder, ShardPlace place = ShardPlace::kFolder);

/// The steps of the checkpoints that are acknowledged in the folder, newest first, damaged or not.
std::vector<std::int64_t> acknowledged_steps(const std::string& folder);

}  // namespace stint
