#include "simulate/step_simulation.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "simulate/reduction_flows.h"

namespace stint {
namespace {

/// The computation of one worker before the all-reduce.
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

/// The time at which the last worker has each bucket.
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

/// The time at which the last bucket has arrived, on its own network.
Seconds last_arrival(const StepSetup& setup, Detail detail, const std::vector<Seconds>& ready) {
  CHECK(setup.in_flight >= 1);
  ReductionFlows flows;
  const ClusterLinks links = add_links(flows.network(), setup, detail);
  const auto job = flows.add_job(collective_flows(flows.network(), setup, links));
  std::size_t next = 0;
  while (next < ready.size() || flows.flying(job) > 0) {
    const bool may_start = next < ready.size() && flows.flying(job) < setup.in_flight;
    if (may_start && ready[next] <= flows.now()) {
      flows.start(job, next, setup.buckets[next].bytes);
      ++next;
      continue;
    }
    Seconds until = flows.next_change();
    if (may_start) until = std::min(until, ready[next]);
    flows.advance(until);
  }
  return flows.now();
}

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
        last_arrival(setup, detail, ready_times(setup.buckets, timelines, 1 + late));
    parts.exposed_communication = std::max(Seconds{}, arrival - (1 + late) * slowest.end);
  }
  parts.input = std::max(Seconds{}, input - total(parts));
  return parts;
}

}  // namespace stint
