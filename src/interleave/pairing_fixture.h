#pragma once

#include <algorithm>
#include <string>

#include "interleave/share_job.h"

namespace stint {

/// A job on two VMs of 1 GB/s that computes for `compute` ms and then sends for `sync` ms, hiding
/// nothing, a thousand times.
inline ShareJob plain_job(const std::string& name, double compute_ms, double sync_ms) {
  ShareJob job{.name = name,
               .setup = {.groups = {{.vms = 2,
                                     .forward = compute_ms / 3 * kMillisecond,
                                     .backward = compute_ms * 2 / 3 * kMillisecond,
                                     .network = {.inverse_bandwidth = 1 * kMillisecond / kMB}}},
                         .buckets = {{.bytes = sync_ms * kMB, .ready = 1}}},
               .iterations = 1000};
  job.alone = total(step_parts(job.setup));
  return job;
}

inline TurnTimes times_of(const ShareJob& job) {
  const StepGroup& group = job.setup.groups.front();
  return {.compute = group.forward + group.backward,
          .sync = bucket_time(job.setup.buckets.front().bytes, job.setup)};
}

/// Turns by the closed form of two jobs, or its bound for other rhythms.
inline std::optional<SharedPace> closed_form_pace(const SharingQuestion& question) {
  const int first = question.turns[0];
  const int second = question.turns[1];
  const TurnTimes a = times_of(question.first);
  const TurnTimes b = times_of(question.second);
  const Seconds period = first >= second ? rhythm_bound(a, b, first, LinkSharing::kFirstCome)
                                         : rhythm_bound(b, a, second, LinkSharing::kFirstCome);
  return SharedPace{
      .slowdown = {period / first / question.first.alone, period / second / question.second.alone}};
}

}  // namespace stint
