#include "measure/trace/trace_profile.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <utility>

#include "base/check.h"
#include "measure/trace/timing_of.h"

namespace stint {
namespace {

/// The value that stands there most often; the smallest of several.
template <class T>
std::optional<T> most_frequent(const std::vector<T>& values) {
  std::map<T, int> counts;
  for (const T& value : values) ++counts[value];
  const auto best =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best == counts.end()) return std::nullopt;
  return best->first;
}

std::vector<TraceIteration> all_iterations(const std::vector<RankTrace>& ranks) {
  std::vector<TraceIteration> all;
  for (const RankTrace& rank : ranks) {
    all.insert(all.end(), rank.found.iterations.begin(), rank.found.iterations.end());
  }
  return all;
}

/// The timing of a part, over the iterations that have it.
std::optional<Timing> part(const std::vector<TraceIteration>& iterations,
                           std::optional<Seconds> TraceIteration::*member) {
  std::vector<Seconds> times;
  for (const TraceIteration& it : iterations) {
    if (it.*member) times.push_back(*(it.*member));
  }
  if (times.empty()) return std::nullopt;
  return timing_of(std::move(times));
}

/// The ranks must be different ones of one world.
Status check_ranks(const std::vector<RankTrace>& ranks) {
  std::map<int, std::string> files;
  std::optional<int> world;
  for (const RankTrace& rank : ranks) {
    const TraceHeader& header = rank.header;
    if (header.rank && !files.emplace(*header.rank, rank.source).second) {
      return bad_input(fmt::format("{} and {} are both of rank {}; give one trace per rank",
                                   files[*header.rank], rank.source, *header.rank));
    }
    if (world && header.world_size && *header.world_size != *world) {
      return bad_input(fmt::format("{} has {} ranks, another file {}; give traces of one run",
                                   rank.source, *header.world_size, *world));
    }
    if (header.world_size) world = header.world_size;
  }
  return {};
}

void count_workers(TraceProfile& profile, const std::vector<RankTrace>& ranks) {
  profile.workers = profile.files;
  profile.workers_from = "the number of files";
  for (const RankTrace& rank : ranks) {
    if (rank.group_size && *rank.group_size > profile.workers) {
      profile.workers = *rank.group_size;
      profile.workers_from = "the group of an all-reduce";
    }
  }
  for (const RankTrace& rank : ranks) {
    if (!rank.header.world_size || *rank.header.world_size < 1) continue;
    profile.workers = *rank.header.world_size;
    profile.workers_from = "distributedInfo";
  }
}

/// Buckets as the usual iteration has them: those with the most frequent number of all-reduces.
void find_buckets(TraceProfile& profile, const std::vector<TraceIteration>& iterations) {
  std::vector<std::size_t> counts;
  for (const TraceIteration& it : iterations) counts.push_back(it.reductions.size());
  const std::size_t usual = most_frequent(counts).value_or(0);
  for (std::size_t i = 0; i < usual; ++i) {
    std::vector<Bytes> bytes;
    std::vector<double> ready;
    for (const TraceIteration& it : iterations) {
      if (it.reductions.size() != usual || !it.reductions[i].bytes) continue;
      bytes.push_back(*it.reductions[i].bytes);
      ready.push_back(it.reductions[i].ready);
    }
    if (bytes.empty()) {
      profile.buckets.clear();
      return;
    }
    // Four digits are more than backward passes repeat.
    constexpr double kDigits = 1e4;
    profile.buckets.push_back(
        {.bytes = median_of(bytes), .ready = std::round(median_of(ready) * kDigits) / kDigits});
  }
}

/// Hints come first, then what the network carried, then what backward added up.
void find_gradients(TraceProfile& profile, const std::vector<TraceIteration>& iterations,
                    const TraceHints& hints) {
  find_buckets(profile, iterations);
  Bytes carried;
  for (const Bucket& bucket : profile.buckets) carried += bucket.bytes;
  std::vector<Bytes> added;
  for (const TraceIteration& it : iterations) {
    if (it.gradients) added.push_back(*it.gradients);
  }
  if (hints.gradients) {
    profile.gradients = hints.gradients;
    constexpr double kSame = 0.01;  // As a job profile wants its buckets to add up.
    if (std::abs(carried / *hints.gradients - 1) > kSame && !profile.buckets.empty()) {
      profile.notes.emplace_back(
          "the all-reduces do not add up to --gradients, so the buckets are left out");
      profile.buckets.clear();
    }
  } else if (!profile.buckets.empty()) {
    profile.gradients = carried;
  } else if (!added.empty()) {
    profile.gradients = median_of(added);
  }
}

void find_batch(TraceProfile& profile, const std::vector<TraceIteration>& iterations,
                const TraceHints& hints) {
  std::vector<int> batches;
  for (const TraceIteration& it : iterations) {
    if (it.batch) batches.push_back(*it.batch);
  }
  profile.batch_per_worker =
      hints.batch_per_worker ? hints.batch_per_worker : most_frequent(batches);
}

void list_gaps(TraceProfile& profile, const std::vector<TraceIteration>& iterations) {
  const auto add = [&](const char* what, const char* advice) {
    profile.gaps.push_back({what, advice});
  };
  if (!profile.gradients) {
    add("the size of the gradients",
        "give it with --gradients, or profile with record_shapes and Kineto");
  }
  if (!profile.batch_per_worker) {
    add("the batch of one worker",
        "give it with --batch, or profile with record_shapes and Kineto");
  }
  if (!profile.update) add("the update: no Optimizer.step", "");
  if (!profile.input) add("waiting for data: no enumerate(DataLoader)", "");
  const bool reduces = std::any_of(iterations.begin(), iterations.end(),
                                   [](const auto& it) { return !it.reductions.empty(); });
  if (!reduces) {
    add("all-reduces of gradients", profile.workers > 1 ? "profile the ranks that communicate"
                                                        : "profile several workers to see them");
  } else if (profile.buckets.empty()) {
    add("the bytes of all-reduces", "profile with record_shapes and Kineto");
  }
  if (!profile.on_gpu) add("GPU kernels: all times are the processor's", "");
  add("parameters, peak memory, size of the data set and goal: no trace has them",
      "add them to the profile by hand");
}

void list_notes(TraceProfile& profile, const std::vector<RankTrace>& ranks) {
  bool assumed = false;
  for (const RankTrace& rank : ranks) {
    assumed = assumed || rank.assumed_types;
    if (rank.found.iterations.empty()) {
      profile.notes.push_back(fmt::format("{} has no iteration", rank.source));
    }
    if (rank.dropped > 0) {
      profile.notes.push_back(fmt::format("{} has more than {} relevant events; {} were dropped",
                                          rank.source, TraceMarks::kMarksMax, rank.dropped));
    }
  }
  if (assumed && profile.gradients) {
    profile.notes.emplace_back("gradients of unknown type count as four bytes per element");
  }
  if (profile.workers > profile.files) {
    profile.notes.push_back(
        fmt::format("{} of {} ranks were given", profile.files, profile.workers));
  }
}

std::optional<JobProfile> job_of(const TraceProfile& profile, const TraceHints& hints,
                                 bool loads_itself) {
  if (!profile.gradients || !profile.batch_per_worker) return std::nullopt;
  const int batch = *profile.batch_per_worker;
  JobProfile job{
      .name = hints.name, .gradient_bytes = *profile.gradients, .buckets = profile.buckets};
  const std::int64_t global = std::int64_t{batch} * profile.workers;
  if (global <= std::numeric_limits<int>::max()) {
    job.batch = BatchRange{.reference = static_cast<int>(global)};
  }
  job.compute.push_back({.device = profile.device,
                         .batch_per_worker = batch,
                         .forward = profile_timing(*profile.forward),
                         .backward = profile_timing(*profile.backward),
                         .update = profile_timing(profile.update.value_or(Timing{}))});
  if (profile.input && loads_itself) {
    job.input_per_sample = profile_time(profile.input->median / batch);
  }
  job.environment["measured_by"] = "trace of torch.profiler";
  job.environment["workers"] = std::to_string(profile.workers);
  return job;
}

Status check_iterations(const std::vector<RankTrace>& ranks,
                        const std::vector<TraceIteration>& iterations) {
  if (!iterations.empty()) return {};
  const bool rhythm = std::any_of(ranks.begin(), ranks.end(), [](const RankTrace& it) {
    return it.found.rhythm != TraceRhythm::kNone;
  });
  return bad_input(fmt::format(
      "{}: no iteration: there is {}; profile a few complete training steps", ranks.front().source,
      rhythm ? "no backward pass in any step"
             : "no ProfilerStep and fewer than two Optimizer.step events"));
}

}  // namespace

Result<TraceProfile> profile_traces(const std::vector<RankTrace>& ranks, const TraceHints& hints) {
  CHECK(!ranks.empty());
  const Status same = check_ranks(ranks);
  if (!same.ok()) return same.error();
  const std::vector<TraceIteration> iterations = all_iterations(ranks);
  const Status some = check_iterations(ranks, iterations);
  if (!some.ok()) return some.error();

  TraceProfile profile{.files = static_cast<int>(ranks.size()),
                       .rhythm = ranks.front().found.rhythm,
                       .forward = part(iterations, &TraceIteration::forward),
                       .backward = part(iterations, &TraceIteration::backward),
                       .update = part(iterations, &TraceIteration::update),
                       .input = part(iterations, &TraceIteration::input),
                       .communication = part(iterations, &TraceIteration::communication)};
  for (const RankTrace& rank : ranks) profile.events += rank.events;
  std::vector<Seconds> times;
  for (const TraceIteration& it : iterations) times.push_back(it.time);
  profile.iteration = timing_of(std::move(times));
  profile.on_gpu = iterations.front().on_gpu;
  profile.device = hints.device;
  if (profile.device.empty() && profile.on_gpu) profile.device = ranks.front().header.device;
  if (profile.device.empty()) profile.device = profile.on_gpu ? "gpu" : "cpu";
  count_workers(profile, ranks);
  find_gradients(profile, iterations, hints);
  find_batch(profile, iterations, hints);
  list_gaps(profile, iterations);
  list_notes(profile, ranks);
  profile.job = job_of(profile, hints, ranks.front().loads_itself);
  if (profile.job) {
    const Status valid = validate(*profile.job);
    if (!valid.ok()) return valid.error();
  }
  return profile;
}

}  // namespace stint
