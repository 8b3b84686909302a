#include "interleave/share_job.h"

#include <algorithm>

namespace stint {
namespace {

/// Share of an iteration: the part of hidden communication that a soft maximum leaves.
constexpr double kNothing = 1e-6;

void stretch(Link& link, double factor) {
  link.inverse_bandwidth = factor * link.inverse_bandwidth;
  link.latency = factor * link.latency;
}

}  // namespace

void stretch_links(StepGroup& group, double factor) {
  stretch(group.network, factor);
  stretch(group.inside, factor);
}

Seconds time_without_overlap(const ShareJob& job) {
  StepSetup setup = job.setup;
  setup.backward_slowdown = 0;
  for (Bucket& bucket : setup.buckets) bucket.ready = 1;
  return job.alone * (total(step_parts(setup)) / total(step_parts(job.setup)));
}

ShareJob with_network(const ShareJob& job, NetworkWhile network) {
  if (job.overlap_known || workers(job.setup) == 1 || job.setup.buckets.empty()) return job;
  ShareJob other = job;
  StepSetup& setup = other.setup;
  Seconds backward;
  for (StepGroup& group : setup.groups) {
    const Seconds compute = group.forward + group.backward;
    group.forward = kForwardShare * compute;
    group.backward = compute - group.forward;
    backward = std::max(backward, group.backward);
  }
  const bool busy = network == NetworkWhile::kBusy;
  const Seconds hidden = busy ? (1 + straggling(setup)) * backward : Seconds{};
  const Seconds sync = step_parts(job.setup).exposed_communication + hidden;
  setup.buckets.clear();
  if (sync <= kNothing * job.alone) return other;
  Bucket all{.ready = busy ? 0.0 : 1.0};
  for (const Bucket& bucket : job.setup.buckets) all.bytes += bucket.bytes;
  setup.buckets = {all};
  setup.in_flight = 1;
  const double factor = sync / bucket_time(all.bytes, setup);
  for (StepGroup& group : setup.groups) stretch_links(group, factor);
  return other;
}

}  // namespace stint
