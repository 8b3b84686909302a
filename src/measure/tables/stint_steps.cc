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

constexpr std::size_t kWarmUp = 2;     // Iterations that are left out …
constexpr std::size_t kEnoughFor = 5;  // … when there are more than these.

/// Iterations of a run on one layout.
struct Segment {
  MeasuredRun run;
  std::vector<Seconds> times;
  bool probe = false;  // Of the network: nothing was trained.
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
    mark_unusable(row, fmt::format("the collective {} cannot be learned from yet",
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

Result<std::vector<MeasuredRun>> read_measured_runs(std::string_view text,
                                                    const std::string& source) {
  auto loaded = read_measurements(text, source);
  if (!loaded.ok()) return loaded.error();
  std::vector<Segment> segments;
  std::map<std::string, std::size_t> current;  // Of each run, its latest segment.
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
