#include "measure/tables/reductions.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "measure/measurement.h"

namespace stint {
namespace {

std::string problem_of(const ReductionRecord& record, const Cluster& cluster) {
  std::int64_t there = 0;
  for (const VmGroup& group : cluster.groups) there += group.count;
  std::vector<int> sorted = record.vms;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() < 2) return "a sum needs two VMs or more";
  if (sorted.back() >= there) {
    return fmt::format("there is no VM {}: the cluster '{}' has {}", sorted.back(),
                       to_text(cluster), there);
  }
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return "a VM takes part twice";
  }
  return "";
}

}  // namespace

Result<std::vector<MeasuredReduction>> read_reductions(std::string_view text,
                                                       const std::string& source) {
  const auto loaded = read_measurements(text, source);
  if (!loaded.ok()) return loaded.error();
  std::map<std::string, Cluster> clusters;  // Of the runs, by name.
  std::vector<MeasuredReduction> found;
  std::vector<std::string> runs;            // Of each found.
  std::map<std::string, std::size_t> last;  // Of each run, its latest.
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

}  // namespace stint
