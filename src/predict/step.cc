#include "predict/step.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "predict/overlap.h"
#include "predict/straggler.h"

namespace stint {
namespace {

/// (a^G + b^G)^(1/G) without overflow.
Seconds soft_max(Seconds a, Seconds b, double sharpness) {
  const Seconds high = std::max(a, b);
  if (high <= Seconds{} || !std::isfinite(sharpness)) return high;
  const double ratio = std::min(a, b) / high;
  if (ratio <= 0) return high;
  return high * std::pow(1 + std::pow(ratio, sharpness), 1 / sharpness);
}

Link slower(const Link& a, const Link& b) {
  return {.inverse_bandwidth = std::max(a.inverse_bandwidth, b.inverse_bandwidth),
          .latency = std::max(a.latency, b.latency)};
}

/// The size of a cluster, its fullest VM, and the slowest link between VMs.
struct Shape {
  int vms = 0;
  int workers = 0;
  int workers_per_vm_max = 1;
  Link network;
};

Shape shape_of(const StepSetup& setup) {
  Shape shape;
  for (const StepGroup& group : setup.groups) {
    CHECK(group.vms >= 1);
    CHECK(group.workers_per_vm >= 1);
    shape.vms += group.vms;
    shape.workers += group.vms * group.workers_per_vm;
    shape.workers_per_vm_max = std::max(shape.workers_per_vm_max, group.workers_per_vm);
    shape.network = slower(shape.network, group.network);
  }
  return shape;
}

/// The VMs with the slowest inside decide; a VM of one worker has no inside to wait for.
Seconds hierarchical_time(Bytes bytes, const StepSetup& setup, const Shape& shape) {
  Seconds slowest;
  for (const StepGroup& group : setup.groups) {
    slowest = std::max(slowest,
                       hierarchical_allreduce_time(bytes, {.vms = shape.vms,
                                                           .workers_per_vm = group.workers_per_vm,
                                                           .inside = group.inside,
                                                           .between = shape.network}));
  }
  return slowest;
}

Seconds bucket_time(Bytes bytes, const StepSetup& setup, const Shape& shape) {
  if (shape.workers == 1) return {};
  // One VM is one group.
  const Link& link = shape.vms == 1 ? setup.groups.front().inside : shape.network;
  switch (setup.collective) {
    case Collective::kRing:
      return ring_allreduce_time(bytes, shape.vms == 1 ? shape.workers : shape.vms, link);
    case Collective::kHierarchical:
      return hierarchical_time(bytes, setup, shape);
    case Collective::kParameterServer:
      // The workers of a VM share its NIC, so a VM counts as one sender of all their gradients.
      return parameter_server_time(bytes * shape.workers_per_vm_max, shape.vms, setup.servers,
                                   link);
    case Collective::kTopK:
      return top_k_time(bytes, shape.workers, link, setup.sparsification);
  }
  CHECK(false);
}

/// What stretches the time of every worker.
struct Stretch {
  double micro_steps = 1;
  double slowdown = 1;  // Of the last backward.
  double late = 1;      // Of all compute.
};

Seconds compute_time(const StepGroup& group, const Stretch& stretch) {
  return stretch.micro_steps * group.forward +
         (stretch.micro_steps - 1 + stretch.slowdown) * group.backward;
}

/// When the last group has the gradients of `bucket`, from the start of the iteration.
Seconds ready_time(const Bucket& bucket, const StepSetup& setup, const Stretch& stretch) {
  Seconds ready;
  for (const StepGroup& group : setup.groups) {
    const Seconds missing = (1 - bucket.ready) * stretch.slowdown * group.backward;
    ready = std::max(ready, compute_time(group, stretch) - missing);
  }
  return stretch.late * ready;
}

/// The reductions of one iteration.
struct Exchange {
  Seconds end;  // When the last bucket has arrived, from the start of the iteration.
  Seconds sum;  // What they take without a pause.
};

Exchange one_by_one(const StepSetup& setup, const Shape& shape, const Stretch& stretch) {
  Exchange it;
  for (const Bucket& bucket : setup.buckets) {
    const Seconds time = bucket_time(bucket.bytes, setup, shape);
    it.end = std::max(it.end, ready_time(bucket, setup, stretch)) + time;
    it.sum += time;
  }
  return it;
}

/// Rings of several buckets at once: the latency of one passes while another moves.
Exchange side_by_side(const StepSetup& setup, const Shape& shape, const Stretch& stretch) {
  const Seconds latency = bucket_time({}, setup, shape);
  Exchange it{.sum = latency};
  std::vector<BucketTiming> timings;
  timings.reserve(setup.buckets.size());
  for (const Bucket& bucket : setup.buckets) {
    const Seconds moving = bucket_time(bucket.bytes, setup, shape) - latency;
    timings.push_back(
        {.ready = ready_time(bucket, setup, stretch), .communication = moving, .latency = latency});
    it.sum += moving;
  }
  it.end = last_arrival(timings, setup.in_flight);
  return it;
}

/// The time after `compute` in which workers only wait for gradients.
Seconds exposed_time(const StepSetup& setup, const Shape& shape, const Stretch& stretch,
                     Seconds compute) {
  const bool shares = setup.in_flight > 1 && setup.collective == Collective::kRing;
  const Exchange it = shares ? side_by_side(setup, shape, stretch)  //
                             : one_by_one(setup, shape, stretch);
  const Seconds left = compute - ready_time(setup.buckets.front(), setup, stretch);
  return std::max(it.end - compute, soft_max(left, it.sum, setup.sharpness) - left);
}

}  // namespace

int vms(const StepSetup& setup) { return shape_of(setup).vms; }

int workers(const StepSetup& setup) { return shape_of(setup).workers; }

double straggling(const StepSetup& setup) {
  const Shape shape = shape_of(setup);
  return std::hypot(setup.vm_spread * expected_max_of_normals(shape.vms),
                    setup.jitter * expected_max_of_normals(shape.workers));
}

Seconds bucket_time(Bytes bytes, const StepSetup& setup) {
  return bucket_time(bytes, setup, shape_of(setup));
}

IterationParts step_parts(const StepSetup& setup) {
  CHECK(!setup.groups.empty());
  CHECK(setup.accumulation >= 1);
  CHECK(setup.in_flight >= 1);
  CHECK(setup.sharpness > 0);
  const Shape shape = shape_of(setup);
  const bool communicates = shape.workers > 1 && !setup.buckets.empty();
  const double late = straggling(setup);
  const Stretch stretch{.micro_steps = static_cast<double>(setup.accumulation),
                        .slowdown = communicates ? 1 + setup.backward_slowdown : 1,
                        .late = 1 + late};

  IterationParts parts;
  const StepGroup* slowest = &setup.groups.front();
  Seconds input;
  for (const StepGroup& group : setup.groups) {
    if (compute_time(group, stretch) > compute_time(*slowest, stretch)) slowest = &group;
    parts.update = std::max(parts.update, group.update);
    input = std::max(input, stretch.micro_steps * group.input);
  }
  const Seconds compute = compute_time(*slowest, stretch);
  parts.forward = stretch.micro_steps * slowest->forward;
  parts.backward = (stretch.micro_steps - 1 + stretch.slowdown) * slowest->backward;
  parts.straggling = late * compute;
  if (communicates) {
    parts.exposed_communication = exposed_time(setup, shape, stretch, stretch.late * compute);
  }
  parts.input = std::max(Seconds{}, input - total(parts));
  return parts;
}

}  // namespace stint
