#include "checkpoint/checkpoint_files.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <unistd.h>

#include "base/codec.h"
#include "base/crash_point.h"
#include "checkpoint/private_folder.h"
#include "checkpoint/shard_file.h"

namespace stint {
namespace {

constexpr const char* kWholeName = "whole.json";
constexpr std::int64_t kWholeBytesMax = 1 << 24;

/// The check that is made of the shards.
enum class Look { kNot, kLengths, kChecksums };

/// The steps of the generations in the folder, newest first.
std::vector<std::int64_t> steps_in(const PrivateFolder& folder) {
  std::vector<std::int64_t> steps;
  for (const std::string& name : folder.names()) {
    if (const auto step = step_of(name)) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end(), std::greater<>());
  return steps;
}

Result<Checkpoint> read_whole(OpenFile whole, std::int64_t step) {
  std::string text(static_cast<std::size_t>(std::min(whole.bytes, kWholeBytesMax)), '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t count = ::read(whole.file.get(), text.data() + got, text.size() - got);
    if (count <= 0) return bad_input(fmt::format("{}: unreadable", kWholeName));
    got += static_cast<std::size_t>(count);
  }
  auto loaded = read_document<Checkpoint>(text, kCheckpointSchema, kWholeName);
  if (!loaded.ok()) return loaded.error();
  if (loaded->noun.step != step) {
    return bad_input(fmt::format("{}: from step {}", kWholeName, loaded->noun.step));
  }
  return std::move(loaded->noun);
}

/// The error of a shard; empty when there is none.
std::string shard_problem(const PrivateFolder& generation, const Checkpoint& checkpoint,
                          const CheckpointShard& wanted, Look look) {
  const int count = static_cast<int>(checkpoint.shards.size());
  const auto shard =
      open_shard(generation, {.step = checkpoint.step, .number = wanted.number, .count = count});
  if (!shard) return fmt::format("shard {} of {} is missing", wanted.number, count);
  if (shard->bytes != wanted.bytes) {
    return fmt::format("shard {} of {} has {} bytes instead of {}", wanted.number, count,
                       shard->bytes, wanted.bytes);
  }
  const bool right =
      shard->checksum == wanted.checksum && (look != Look::kChecksums || is_undamaged(*shard));
  if (!right) return fmt::format("shard {} of {} has a wrong checksum", wanted.number, count);
  return "";
}

std::string shards_problem(const PrivateFolder& generation, const Checkpoint& checkpoint,
                           Look look) {
  if (look == Look::kNot) return "";
  for (const CheckpointShard& shard : checkpoint.shards) {
    std::string wrong = shard_problem(generation, checkpoint, shard, look);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

/// The checkpoint of this step, or its error; nothing when it was not acknowledged.
std::optional<Result<Checkpoint>> find_whole(const PrivateFolder& folder, std::int64_t step,
                                             Look look) {
  const auto generation = folder.find_inside(generation_name(step));
  if (!generation) return std::nullopt;
  auto whole = generation->open_file(kWholeName);
  if (!whole) return std::nullopt;
  auto checkpoint = read_whole(std::move(*whole), step);
  if (!checkpoint.ok()) return checkpoint;
  const std::string wrong = shards_problem(*generation, *checkpoint, look);
  if (!wrong.empty()) return bad_input(wrong);
  return checkpoint;
}

/// Removes checkpoints older than that of `step`, except the last whole one before it.
Status prune(const PrivateFolder& folder, std::int64_t step, Look look) {
  bool kept = false;
  for (const std::int64_t older : steps_in(folder)) {
    if (older >= step) continue;
    const auto whole = kept ? std::nullopt : find_whole(folder, older, look);
    if (whole && whole->ok()) {
      kept = true;
      continue;
    }
    // Without its acknowledgement the checkpoint does not count, even if its removal is
    // interrupted.
    if (const auto generation = folder.find_inside(generation_name(older))) {
      const Status removed = generation->remove_file(kWholeName);
      if (!removed.ok()) return removed;
    }
    crash_point("prune");
    const Status removed = folder.remove_inside(generation_name(older));
    if (!removed.ok()) return removed;
  }
  return {};
}

}  // namespace

Json checkpoint_schema() {
  return schema_document(kCheckpointSchema, "A whole checkpoint",
                         SchemaWalk::schema_of<Checkpoint>());
}

std::string problem(const Checkpoint& checkpoint) {
  if (checkpoint.shards.empty()) return "has no shards";
  std::int64_t left = checkpoint.bytes;
  int number = 0;
  for (const CheckpointShard& shard : checkpoint.shards) {
    if (shard.number != number++) return "its shards are not numbered from 0 on";
    if (shard.bytes > left) return "its shards are longer than the whole";
    left -= shard.bytes;
  }
  return left == 0 ? "" : "its shards are shorter than the whole";
}

Status acknowledge(const std::string& folder, const Checkpoint& checkpoint, ShardPlace place) {
  const Status right =
      check_fields(checkpoint, fmt::format("the checkpoint of step {}", checkpoint.step));
  if (!right.ok()) return right;
  const auto all = PrivateFolder::make(folder);
  if (!all.ok()) return all.error();
  const auto generation = all->make_inside(generation_name(checkpoint.step));
  if (!generation.ok()) return generation.error();
  const Look look = place == ShardPlace::kFolder ? Look::kLengths : Look::kNot;
  const std::string wrong = shards_problem(*generation, checkpoint, look);
  if (!wrong.empty()) {
    return failed(fmt::format("the checkpoint of step {} in {} is incomplete ({}) and ignored",
                              checkpoint.step, folder, wrong));
  }
  crash_point("acknowledge-begin");
  const Status written = generation->replace(
      kWholeName, "", write_document(checkpoint, kCheckpointSchema), "acknowledge");
  if (!written.ok()) return written;
  return prune(*all, checkpoint.step, look);
}

Result<FoundCheckpoint> latest(const std::string& folder, ShardPlace place) {
  FoundCheckpoint found;
  const auto all = PrivateFolder::find(folder);
  if (!all && !std::filesystem::exists(std::filesystem::symlink_status(folder))) return found;
  if (!all) return failed(fmt::format("cannot open {}; check its permissions", folder));
  const Look look = place == ShardPlace::kFolder ? Look::kChecksums : Look::kNot;
  std::vector<std::string> damages;
  for (const std::int64_t step : steps_in(*all)) {
    const auto whole = find_whole(*all, step, look);
    if (!whole) continue;
    if (whole->ok()) {
      found.checkpoint = **whole;
      break;
    }
    damages.push_back(
        fmt::format("the checkpoint of step {} is damaged ({})", step, whole->error().message));
  }
  const std::string instead = found.checkpoint
                                  ? fmt::format("using that of step {}", found.checkpoint->step)
                                  : "there is no earlier one";
  for (const std::string& damage : damages) {
    found.warnings.push_back(fmt::format("{}; {}", damage, instead));
  }
  return found;
}

std::vector<std::int64_t> acknowledged_steps(const std::string& folder) {
  std::vector<std::int64_t> acknowledged;
  const auto all = PrivateFolder::find(folder);
  if (!all) return acknowledged;
  for (const std::int64_t step : steps_in(*all)) {
    const auto generation = all->find_inside(generation_name(step));
    if (generation && generation->open_file(kWholeName)) acknowledged.push_back(step);
  }
  return acknowledged;
}

}  // namespace stint
