#include "measure/tables/stint_steps.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "measure/measurement.h"
#include "measure/tables/table_cells.h"
#include "measure/trace/timing_of.h"

namespace stint {
namespace {

std::string problem_of(const ReductionRecord& record, const Cluster& cluster) {
  std::int64_t there = 0;
  for (const VmGroup& group : cluster.groups) there += group.count;
  std::vector<int> sorted = record.vms;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() < 2) return "an all-reduce needs two VMs or more";
  if (sorted.back() >= there) {
    return fmt::format("there is no VM {}: the cluster '{}' has {}", sorted.back(),
                       to_text(cluster), there);
  }
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return "a VM takes part twice";
  }
  return "";
}

constexpr std::size_t kWarmUp = 2;     // Iterations that are left out …
constexpr std::size_t kEnoughFor = 5;  // … when there are more than these.

/// Iterations of a run on one layout.
struct Segment {
  MeasuredRun run;
  std::vector<Seconds> times;
  bool probe = false;  // A probe of the network: nothing was trained.
};

void place(StepRow& row, const Layout& layout) {
  CHECK(layout.setups.size() == layout.cluster.groups.size());
  std::int64_t total = 0;
  for (std::size_t i = 0; i < layout.setups.size(); ++i) {
    const VmGroup& group = layout.cluster.groups[i];
    const GroupSetup& setup = layout.setups[i];
    if (!(group.vm == layout.cluster.groups[0].vm)) mark_unusable(row, "mixed cluster");
    if (setup.batch_per_worker != layout.setups[0].batch_per_worker) {
      mark_unusable(row, "batches differ between groups");
    }
    total += std::int64_t{group.count} * setup.workers_per_vm;
    if (total > kMaxWorkers) {
      row.workers_by_vm = {1};
      return mark_unusable(row, "too many workers");
    }
    row.workers_by_vm.insert(row.workers_by_vm.end(), static_cast<std::size_t>(group.count),
                             setup.workers_per_vm);
  }
}

StepRow row_of(const MeasuredRun& run) {
  const Layout& layout = run.layout;
  StepRow row{.job = run.job, .device = layout.cluster.groups[0].vm.name, .time = run.time};
  place(row, layout);
  row.batch_per_worker = layout.setups[0].batch_per_worker;
  if (layout.collective == Collective::kParameterServer) {
    row.servers = static_cast<int>(row.workers_by_vm.size());
  } else if (layout.collective != Collective::kRing) {
    mark_unusable(row, fmt::format("the collective {} is not supported for training yet",
                                   name_of(layout.collective)));
  }
  if (layout.accumulation > 1) mark_unusable(row, "accumulates gradients");
  return row;
}

std::optional<Seconds> typical_time(std::vector<Seconds> times) {
  if (times.size() > kEnoughFor) times.erase(times.begin(), times.begin() + kWarmUp);
  return times.empty() ? std::nullopt : std::optional(median_of(std::move(times)));
}

}  // namespace

Result<std::vector<MeasuredReduction>> read_reductions(std::string_view text,
                                                       const std::string& source) {
  const auto loaded = read_measurements(text, source);
  if (!loaded.ok()) return loaded.error();
  std::map<std::string, Cluster> clusters;  // Clusters of the runs, by name.
  std::vector<MeasuredReduction> found;
  std::vector<std::string> runs;            // Run of each result.
  std::map<std::string, std::size_t> last;  // Latest result of each run.
  for (const Measurement& line : loaded->noun) {
    if (line.start) {
      clusters[line.run] = line.start->layout.cluster;
      last.erase(line.run);
    }
    const auto cluster = clusters.find(line.run);
    if (!line.reduction || cluster == clusters.end()) continue;
    const ReductionRecord& record = *line.reduction;
    const std::string wrong = problem_of(record, cluster->second);
    if (!wrong.empty()) return bad_input(fmt::format("{}: {}", source, wrong));
    std::size_t place = 0;
    while (place < found.size() &&
           !(runs[place] == line.run && found[place].cluster == cluster->second &&
             found[place].vms == record.vms && found[place].bytes == record.bytes)) {
      ++place;
    }
    if (place == found.size()) {
      found.push_back({.cluster = cluster->second, .vms = record.vms, .bytes = record.bytes});
      runs.push_back(line.run);
    }
    const auto before = last.find(line.run);
    if (before == last.end() || before->second != place) found[place].rounds.emplace_back();
    found[place].rounds.back().push_back(record.time);
    last[line.run] = place;
  }
  return found;
}

std::vector<VmName> vms_of(const Cluster& cluster) {
  std::vector<VmName> vms;
  for (const VmGroup& group : cluster.groups) {
    vms.insert(vms.end(), static_cast<std::size_t>(group.count), group.vm);
  }
  return vms;
}

std::vector<Seconds> times_of(const MeasuredReduction& reduction) {
  std::vector<Seconds> times;
  for (const auto& round : reduction.rounds) times.insert(times.end(), round.begin(), round.end());
  return times;
}

Result<std::vector<MeasuredRun>> read_measured_runs(std::string_view text,
                                                    const std::string& source) {
  auto loaded = read_measurements(text, source);
  if (!loaded.ok()) return loaded.error();
  std::vector<Segment> segments;
  std::map<std::string, std::size_t> current;  // Latest segment of each run.
  for (Measurement& line : loaded->noun) {
    if (line.start) {
      current[line.run] = segments.size();
      segments.push_back({.run = {.run = line.run,
                                  .job = std::move(line.start->job),
                                  .layout = std::move(line.start->layout)}});
    }
    const auto segment = current.find(line.run);
    if (line.iteration && segment != current.end()) {
      segments[segment->second].times.push_back(line.iteration->time);
    }
    if (line.reduction && segment != current.end()) segments[segment->second].probe = true;
  }
  std::vector<MeasuredRun> runs;
  runs.reserve(segments.size());
  for (Segment& segment : segments) {
    if (segment.probe) continue;
    segment.run.time = typical_time(std::move(segment.times));
    runs.push_back(std::move(segment.run));
  }
  return runs;
}

Result<std::vector<StepRow>> read_stint_steps(std::string_view text, const std::string& source) {
  const auto runs = read_measured_runs(text, source);
  if (!runs.ok()) return runs.error();
  std::vector<StepRow> rows;
  rows.reserve(runs->size());
  for (const MeasuredRun& run : *runs) rows.push_back(row_of(run));
  return rows;
}

}  // namespace stint
