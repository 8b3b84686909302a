#include "validate/interleave_mixes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/check.h"

namespace stint {
namespace {

constexpr Seconds kShortest = 1 * kHour;
constexpr Seconds kLongest = 10 * kHour;
constexpr BytesPerSecond kAnyNetwork = 1 * kGB / kSecond;

std::set<std::string> jobs_of(const std::vector<MixRow>& rows) {
  std::set<std::string> jobs;
  for (const MixRow& row : rows) jobs.insert(row.job);
  return jobs;
}

bool usable(const std::vector<int>& workers_by_vm, const std::vector<MixRow>& rows) {
  return workers_by_vm.size() > 1 && jobs_of(rows).size() > 1;
}

template <class T>
const T& any_of(const std::vector<T>& list, Random& random) {
  return list[static_cast<std::size_t>(random.below(static_cast<int>(list.size())))];
}

}  // namespace

bool has_mixes(const MixTable& table) {
  return std::any_of(table.begin(), table.end(),
                     [](const auto& it) { return usable(it.first, it.second); });
}

JobMix draw_mix(const MixTable& table, int count, Random& random) {
  std::vector<const MixTable::value_type*> placements;
  for (const auto& it : table) {
    if (usable(it.first, it.second)) placements.push_back(&it);
  }
  CHECK(!placements.empty());
  const auto& [workers_by_vm, rows] = *any_of(placements, random);
  const std::set<std::string> names = jobs_of(rows);
  const std::vector<std::string> jobs(names.begin(), names.end());
  JobMix mix{.vms = static_cast<int>(workers_by_vm.size())};
  for (int i = 0; i < count; ++i) {
    const std::string& job = any_of(jobs, random);
    std::vector<const MixRow*> choices;
    for (const MixRow& row : rows) {
      if (row.job == job) choices.push_back(&row);
    }
    const MixRow* row = any_of(choices, random);
    const double logarithm = random.uniform(0, std::log(kLongest / kShortest));
    mix.jobs.push_back(
        {.row = row, .iterations = std::exp(logarithm) * (kShortest / row->measured)});
  }
  return mix;
}

ShareJob predicted_job(const MixJob& job) {
  return {.name = job.row->job,
          .setup = job.row->predicted,
          .alone = job.row->alone,
          .deviation = job.row->deviation,
          .iterations = job.iterations,
          .overlap_known = false};
}

ShareJob measured_job(const MixJob& job, NetworkWhile network) {
  const MixRow& row = *job.row;
  const Seconds compute = std::max(Seconds{}, row.measured - row.synchronised);
  const Seconds backward = (1 - kForwardShare) * compute;
  const bool busy = network == NetworkWhile::kBusy;
  const Seconds sync = row.synchronised + (busy ? backward : Seconds{});
  const int vms = static_cast<int>(row.workers_by_vm.size());
  StepSetup setup{.groups = {{.vms = vms,
                              .forward = kForwardShare * compute,
                              .backward = backward,
                              .network = {.inverse_bandwidth = 1 / kAnyNetwork}}},
                  .buckets = {{.bytes = kMB, .ready = busy ? 0.0 : 1.0}}};
  // As many bytes as take that long.
  setup.buckets[0].bytes = sync / bucket_time(kMB, setup) * kMB;
  return {.name = row.job,
          .setup = std::move(setup),
          .alone = row.measured,
          .iterations = job.iterations};
}

}  // namespace stint
