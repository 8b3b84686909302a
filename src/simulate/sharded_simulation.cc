#include "simulate/sharded_simulation.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "base/check.h"

namespace stint {
namespace {

/// A pass of one micro-batch through one virtual stage.
struct Pass {
  bool forward = true;
  int chunk = 0;  // Virtual stage within the stage.
  int micro_batch = 0;
};

/// How many stages, virtual stages of each, and micro-batches.
struct Shape {
  int stages = 1;
  int chunks = 1;
  int micro_batches = 1;

  int passes() const { return chunks * micro_batches; }
};

/// The k-th forward pass of a stage; backward passes come in the same order from the last chunk on.
Pass pass_at(const Shape& shape, int k, bool forward) {
  if (shape.chunks == 1) return {.forward = forward, .chunk = 0, .micro_batch = k};
  const int round = shape.stages * shape.chunks;
  const int chunk = k % round / shape.stages;
  return {.forward = forward,
          .chunk = forward ? chunk : shape.chunks - 1 - chunk,
          .micro_batch = k / round * shape.stages + k % shape.stages};
}

/// The passes of a stage in their order.
std::vector<Pass> schedule_of(const Shape& shape, int stage) {
  int early = shape.stages - stage - 1;
  if (shape.chunks > 1) early = 2 * early + (shape.chunks - 1) * shape.stages;
  if (shape.chunks > 1 && shape.micro_batches == shape.stages) early = shape.passes();
  early = std::min(early, shape.passes());
  std::vector<Pass> order;
  for (int k = 0; k < early; ++k) order.push_back(pass_at(shape, k, true));
  for (int k = 0; k < shape.passes(); ++k) {
    if (early + k < shape.passes()) order.push_back(pass_at(shape, early + k, true));
    order.push_back(pass_at(shape, k, false));
  }
  return order;
}

/// Seconds of the passes of one chunk.
struct ChunkTimes {
  Seconds forward;
  Seconds backward;
  Seconds head_forward;  // On the last virtual stage.
  Seconds head_backward;
  Seconds transfer;
};

/// Plays all stages of a pipeline.
class Pipeline {
 public:
  Pipeline(const Shape& shape, const ChunkTimes& times)
      : shape_(shape),
        times_(times),
        next_(static_cast<std::size_t>(shape.stages), 0),
        free_(static_cast<std::size_t>(shape.stages)),
        busy_(static_cast<std::size_t>(shape.stages)) {
    for (int stage = 0; stage < shape.stages; ++stage) {
      schedules_.push_back(schedule_of(shape, stage));
    }
  }

  void run() {
    // Each round plays at least one pass, or the schedule waits for itself.
    const int rounds = 2 * shape_.passes() * shape_.stages;
    for (int round = 0; round < rounds; ++round) {
      bool played = false;
      for (int stage = 0; stage < shape_.stages; ++stage) played = play_stage(stage) || played;
      if (!played) break;
    }
    for (int stage = 0; stage < shape_.stages; ++stage) {
      CHECK(next_[index(stage)] == schedules_[index(stage)].size());
    }
  }

  Seconds end() const { return *std::max_element(free_.begin(), free_.end()); }
  const std::vector<Seconds>& busy() const { return busy_; }

 private:
  using Key = std::tuple<bool, int, int>;  // Direction, virtual stage of all, micro-batch.

  static std::size_t index(int stage) { return static_cast<std::size_t>(stage); }
  int virtual_stage(int stage, const Pass& pass) const {
    return pass.chunk * shape_.stages + stage;
  }
  int last() const { return shape_.stages * shape_.chunks - 1; }

  /// Plays the passes of the stage whose inputs are there.
  bool play_stage(int stage) {
    bool played = false;
    const std::vector<Pass>& schedule = schedules_[index(stage)];
    while (next_[index(stage)] < schedule.size()) {
      const Pass& pass = schedule[next_[index(stage)]];
      const auto input = arrival(stage, pass);
      if (!input) break;
      const Seconds time = duration(stage, pass);
      free_[index(stage)] = std::max(free_[index(stage)], *input) + time;
      busy_[index(stage)] += time;
      done_[{pass.forward, virtual_stage(stage, pass), pass.micro_batch}] = free_[index(stage)];
      ++next_[index(stage)];
      played = true;
    }
    return played;
  }

  /// When the input of the pass is there; nothing while it is not known.
  std::optional<Seconds> arrival(int stage, const Pass& pass) const {
    const int own = virtual_stage(stage, pass);
    if (pass.forward && own == 0) return Seconds{};
    const bool turns = !pass.forward && own == last();
    const Key key = turns ? Key{true, own, pass.micro_batch}
                          : Key{pass.forward, pass.forward ? own - 1 : own + 1, pass.micro_batch};
    const auto found = done_.find(key);
    if (found == done_.end()) return std::nullopt;
    return found->second;
  }

  Seconds duration(int stage, const Pass& pass) const {
    const int own = virtual_stage(stage, pass);
    const bool ends = own == last();
    const bool sends = pass.forward ? !ends : own > 0;
    Seconds time = pass.forward ? times_.forward : times_.backward;
    if (ends) time += pass.forward ? times_.head_forward : times_.head_backward;
    return sends ? time + times_.transfer : time;
  }

  Shape shape_;
  ChunkTimes times_;
  std::vector<std::vector<Pass>> schedules_;
  std::vector<std::size_t> next_;  // Pass of each stage.
  std::vector<Seconds> free_;      // When each stage is free again.
  std::vector<Seconds> busy_;
  std::map<Key, Seconds> done_;
};

/// One third of what passes both ways is forward.
ChunkTimes chunk_times(const ShardedSetup& setup, const ShardedLaw& law) {
  const StageTimes stage = stage_times(setup, law);
  const double chunks = setup.layout.virtual_stages;
  const Seconds host = law.micro_step * kSecond;  // Of every stage; stage.head has it too.
  const Seconds head = std::max(Seconds{}, stage.head - host);
  return {.forward = (stage.forward + host / 3) / chunks,
          .backward = (stage.backward + host * 2 / 3) / chunks,
          .head_forward = head / 3,
          .head_backward = head * 2 / 3,
          .transfer = stage.transfer};
}

}  // namespace

double ShardedPlay::idle() const {
  if (pipeline <= Seconds{}) return 0;
  const Seconds sum = std::accumulate(busy.begin(), busy.end(), Seconds{});
  return 1 - sum / (static_cast<double>(busy.size()) * pipeline);
}

ShardedPlay simulate_sharded(const ShardedSetup& setup, const ShardedLaw& law) {
  const ParallelLayout& layout = setup.layout;
  const double rounds =
      setup.global_batch / (static_cast<double>(layout.data) * layout.micro_batch);
  const Shape shape{.stages = layout.pipeline,
                    .chunks = layout.virtual_stages,
                    .micro_batches = std::max(1, static_cast<int>(rounds))};
  CHECK(shape.chunks == 1 || shape.micro_batches % shape.stages == 0);
  Pipeline pipeline(shape, chunk_times(setup, law));
  pipeline.run();
  const ShardedParts parts = sharded_step(setup, law);
  return {.pipeline = pipeline.end(),
          .gradients = parts.gradients,
          .update = parts.update,
          .fixed = law.fixed * kSecond,
          .busy = pipeline.busy()};
}

}  // namespace stint
