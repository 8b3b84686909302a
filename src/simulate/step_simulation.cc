#include "simulate/step_simulation.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "simulate/flow_network.h"

namespace stint {
namespace {

/// What one worker computes before the gradients are summed.
struct Timeline {
  Seconds forward;
  Seconds backward;
  Seconds last_backward_start;
  Seconds end;
};

Timeline play_compute(const StepGroup& group, const StepSetup& setup, double slowdown) {
  Timeline it;
  for (int step = 1; step <= setup.accumulation; ++step) {
    const double factor = step == setup.accumulation ? slowdown : 1;
    it.forward += group.forward;
    it.last_backward_start = it.end + group.forward;
    it.end = it.last_backward_start + factor * group.backward;
    it.backward += factor * group.backward;
  }
  return it;
}

/// When the last worker has each bucket.
std::vector<Seconds> ready_times(const std::vector<Bucket>& buckets,
                                 const std::vector<Timeline>& timelines, double late) {
  std::vector<Seconds> times(buckets.size());
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    for (const Timeline& it : timelines) {
      const Seconds ready =
          it.last_backward_start + buckets[i].ready * (it.end - it.last_backward_start);
      times[i] = std::max(times[i], late * ready);
    }
  }
  return times;
}

/// Plays the collectives of one iteration on a network of its own.
class Exchange {
 public:
  Exchange(const StepSetup& setup, Detail detail)
      : setup_(setup),
        chains_(collective_flows(network_, setup, add_links(network_, setup, detail))) {
    CHECK(setup.in_flight >= 1);
    CHECK(!chains_.empty());
  }

  /// When the last bucket has arrived.
  Seconds run(const std::vector<Seconds>& ready) {
    std::size_t next = 0;
    while (next < ready.size() || flying_ > 0) {
      const bool may_start = next < ready.size() && flying_ < setup_.in_flight;
      if (may_start && ready[next] <= network_.now()) {
        begin(setup_.buckets[next++].bytes);
        continue;
      }
      Seconds until = network_.next_change();
      if (may_start) until = std::min(until, ready[next]);
      for (const FlowNetwork::FlowId flow : network_.advance(until)) end(flow);
    }
    return network_.now();
  }

 private:
  /// A chain of a bucket on its way.
  struct Playing {
    std::size_t bucket = 0;
    std::size_t chain = 0;
    std::size_t stage = 0;
    std::size_t flows = 0;  // Of the stage, that have not ended.
  };

  void begin(Bytes bytes) {
    ++flying_;
    const std::size_t bucket = chains_left_.size();
    chains_left_.push_back(chains_.size());
    bytes_.push_back(bytes);
    for (std::size_t chain = 0; chain < chains_.size(); ++chain) {
      playing_.push_back({.bucket = bucket, .chain = chain});
      start_stage(playing_.size() - 1);
    }
  }

  void start_stage(std::size_t index) {
    Playing& it = playing_[index];
    const Stage& stage = chains_[it.chain][it.stage];
    it.flows = stage.size();
    for (const Send& send : stage) {
      const auto flow = network_.start(send.size * bytes_[it.bucket], send.latency, send.route);
      if (flow >= owner_.size()) owner_.resize(flow + 1);
      owner_[flow] = index;
    }
  }

  void end(FlowNetwork::FlowId flow) {
    Playing& it = playing_[owner_[flow]];
    if (--it.flows > 0) return;
    if (++it.stage < chains_[it.chain].size()) return start_stage(owner_[flow]);
    if (--chains_left_[it.bucket] == 0) --flying_;
  }

  const StepSetup& setup_;
  FlowNetwork network_;
  std::vector<Chain> chains_;  // Of any bucket.
  std::vector<Playing> playing_;
  std::vector<std::size_t> owner_;        // Of each flow, in playing_.
  std::vector<std::size_t> chains_left_;  // Of each bucket that has left.
  std::vector<Bytes> bytes_;              // Of each bucket that has left.
  int flying_ = 0;
};

}  // namespace

IterationParts simulate_step(const StepSetup& setup, Detail detail) {
  CHECK(!setup.groups.empty());
  CHECK(setup.accumulation >= 1);
  const bool communicates = workers(setup) > 1 && !setup.buckets.empty();
  const double slowdown = communicates ? 1 + setup.backward_slowdown : 1;
  const double late = straggling(setup);

  std::vector<Timeline> timelines;
  Timeline slowest;
  IterationParts parts;
  Seconds input;
  for (const StepGroup& group : setup.groups) {
    timelines.push_back(play_compute(group, setup, slowdown));
    if (timelines.back().end > slowest.end) slowest = timelines.back();
    parts.update = std::max(parts.update, group.update);
    input = std::max(input, static_cast<double>(setup.accumulation) * group.input);
  }
  parts.forward = slowest.forward;
  parts.backward = slowest.backward;
  parts.straggling = late * slowest.end;
  if (communicates) {
    const Seconds arrival =
        Exchange(setup, detail).run(ready_times(setup.buckets, timelines, 1 + late));
    parts.exposed_communication = std::max(Seconds{}, arrival - (1 + late) * slowest.end);
  }
  parts.input = std::max(Seconds{}, input - total(parts));
  return parts;
}

}  // namespace stint
