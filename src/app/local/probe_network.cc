#include "app/local/probe_network.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <unistd.h>

#include "app/calibrate/bucket_runs.h"
#include "app/calibrate/calibrate_case.h"
#include "app/local/local_cases.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "calibrate/network_probe.h"
#include "catalog/lookup.h"
#include "load/catalog_cases.h"
#include "load/job_files.h"
#include "load/predict_inputs.h"
#include "load/python_world.h"
#include "load/startup_times.h"
#include "measure/measurement.h"
#include "measure/trace/timing_of.h"
#include "predict/calibrated_law.h"
#include "predict/resolve.h"

namespace stint {
namespace {

constexpr Bytes kNumber = 4 * kByte;  // Size of the numbers that are summed.

/// Pairs by the distance of their numbers around a circle.
std::vector<std::vector<int>> pairs_of(int vms) {
  std::vector<std::vector<int>> pairs;
  for (int distance = 1; distance <= vms / 2; ++distance) {
    for (int first = 0; first < vms; ++first) {
      const int second = (first + distance) % vms;
      std::vector<int> pair = {std::min(first, second), std::max(first, second)};
      const bool known = std::find(pairs.begin(), pairs.end(), pair) != pairs.end();
      if (!known && pairs.size() < kPairsMax) pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

constexpr int kInterruptedCode = 130;
constexpr const char* kJob = "probe of the network";

/// The time of an all-reduce by a calibration.
using SumTime = std::function<Seconds(const ReductionRow& row)>;

/// Times by a calibration that follows single all-reduces, or by the law of steps on the network of
/// the first VM.
Result<SumTime> sum_time(const Calibration& calibration, const Catalog& catalog,
                         const Cluster& cluster) {
  auto law = calibrated_law(calibration);
  if (!law.ok()) return law.error();
  if (law->buckets) {
    return SumTime([buckets = law->buckets->law](const ReductionRow& row) {
      return reduction_time(row, buckets);
    });
  }
  const auto type = find_type(catalog, vms_of(cluster).front());
  if (!type.ok()) return type.error();
  const NetworkKnowledge networks = shipped_networks();
  const FabricFacts facts = fabric_facts(catalog, **type);
  const FabricTransfer transfer = fabric_transfer(networks, law->facts, facts);
  const auto transport = facts.transport.value_or(TransportFamily::kTcp);
  return SumTime([fabric = transferred(law->fabric, transfer), reference = transfer.rate,
                  of_transport = networks.physics.transports.at(transport)](const auto& row) {
    return lone_reduction_time(fabric, row, {.transport = of_transport, .reference = reference});
  });
}

/// The inputs that are resolved before the cluster is made.
struct Prepared {
  Cluster cluster;
  Catalog catalog;
  Calibration calibration;
  SumTime time;  // By the calibration.
  ProbeOutline outline;
};

/// The time of an all-reduce over some of the VMs.
Seconds time_of(const PlannedSum& sum, const ClusterSpec& spec, const SumTime& time) {
  ReductionRow row{.vms = static_cast<int>(sum.vms.size()), .bytes = sum.bytes};
  row.slowest = spec.vms[static_cast<std::size_t>(sum.vms[0])].network;
  for (const int vm : sum.vms) {
    row.slowest = std::min(row.slowest, spec.vms[static_cast<std::size_t>(vm)].network);
  }
  return time(row);
}

Result<ProbeOutline> outline_of(const ClusterSpec& spec, const ProbeRequest& request,
                                const SumTime& time) {
  const int vms = static_cast<int>(spec.vms.size());
  auto sums =
      planned_sums(vms, request.counts.empty() ? usual_counts(vms) : request.counts, request.sizes);
  if (!sums.ok()) return sums.error();
  Seconds round;
  for (const PlannedSum& sum : *sums) round += (request.repeats + 1) * time_of(sum, spec, time);
  const Seconds rounds = (request.rounds - 1) * std::max(round, request.every) + round;
  return ProbeOutline{.sums = std::move(*sums),
                      .duration = vms * startup_times().probe_worker_start + rounds};
}

Result<Prepared> prepare(const Environment& environment, const ProbeRequest& request) {
  const auto cluster = parse_cluster(request.cluster);
  if (!cluster.ok()) return cluster.error();
  auto calibration = load_calibration(request.calibration);
  if (!calibration.ok()) return calibration.error();
  auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  auto time = sum_time(calibration->noun, catalog->noun, *cluster);
  if (!time.ok()) return time.error();
  const auto spec = cluster_spec(*cluster, catalog->noun, "probe");
  if (!spec.ok()) return spec.error();
  const auto warning = traffic_warning(*spec);
  if (!warning.ok()) return warning.error();
  auto outline = outline_of(*spec, request, *time);
  if (!outline.ok()) return outline.error();
  return Prepared{.cluster = *cluster,
                  .catalog = std::move(catalog->noun),
                  .calibration = std::move(calibration->noun),
                  .time = std::move(*time),
                  .outline = std::move(*outline)};
}

/// Times the plan on a cluster and keeps the output of its workers, which are measurements.
class Session {
 public:
  Session(const Environment& environment, const ProbeRequest& request, Layout layout,
          const std::vector<PlannedSum>& sums, const ProbeProgress& progress)
      : request_(request),
        sums_(sums),
        progress_(progress),
        run_(fmt::format("probe of {} at {:.0f}", request.cluster,
                         environment.clock->now().in(kSecond))) {
    note(write_measurement({.run = run_,
                            .at = environment.clock->now(),
                            .start = RunStart{.job = kJob, .layout = std::move(layout)}}));
  }

  Status run(const LocalCluster& cluster) {
    if (!kept_.ok()) return kept_;  // An unwritable file is reported now rather than after minutes.
    const auto folder = TemporaryFolder::make();
    if (!folder.ok()) return folder.error();
    const Status unpacked = unpack_python(folder->path());
    if (!unpacked.ok()) return unpacked;
    const ExecRequest exec{.command = {request_.python, "-m", "stint.probe", "--run", run_,
                                       "--plan", to_text(plan_json(sums_), JsonStyle::kLine),
                                       "--rounds", fmt::format("{}", request_.rounds), "--repeats",
                                       fmt::format("{}", request_.repeats), "--every",
                                       fmt::format("{}", request_.every.in(kSecond))},
                           .variables = {"PYTHONPATH=" + folder->path(), "OMP_NUM_THREADS=1",
                                         "PYTHONDONTWRITEBYTECODE=1"}};
    const auto code =
        exec_all(cluster, exec, [this](std::string_view vm, bool error, std::string_view line) {
          error ? complain(vm, line) : take(line);
        });
    if (!code.ok()) return code.error();
    if (*code == kInterruptedCode) {
      return Error{ErrorKind::kInterrupted,
                   request_.out.empty()
                       ? "interrupted; nothing was written"
                       : "interrupted; the measurements so far are in " + request_.out};
    }
    if (*code != 0) {
      return failed(fmt::format("the probe exited with code {}: {}", *code,
                                complaint_.empty() ? "no output" : complaint_));
    }
    return kept_;
  }

  const std::string& text() const { return text_; }

 private:
  void note(const std::string& line) {
    text_ += line;
    if (request_.out.empty() || !kept_.ok()) return;
    kept_ = append_file(request_.out, line);
  }

  void take(std::string_view printed) {
    const std::string line = fmt::format("{}\n", printed);
    const auto read = read_measurements(line, "a worker");
    if (!read.ok() || read->noun.empty() || !read->noun[0].reduction) return;
    note(line);
    ++done_;
    const double all = static_cast<double>(sums_.size()) * request_.rounds * request_.repeats;
    progress_(done_ / all);
  }

  void complain(std::string_view vm, std::string_view line) {
    if (!line.empty()) complaint_ = fmt::format("{} on {}", printable(line), vm);
  }

  const ProbeRequest& request_;
  const std::vector<PlannedSum>& sums_;
  const ProbeProgress& progress_;
  std::string run_;
  std::string text_;       // All lines so far.
  std::string complaint_;  // The last line on an error stream.
  Status kept_;            // Status of writing them.
  int done_ = 0;
};

Layout layout_of(const Cluster& cluster) {
  Layout layout{.cluster = cluster};
  layout.setups.resize(cluster.groups.size());
  return layout;
}

/// The planned all-reduce that was measured.
PlannedSum planned_of(const std::vector<PlannedSum>& sums, const MeasuredReduction& measured) {
  for (const PlannedSum& sum : sums) {
    if (sum.vms == measured.vms && sum.bytes == measured.bytes) return sum;
  }
  return {.vms = measured.vms, .bytes = measured.bytes};
}

Status add_sums(const Prepared& prepared, const std::vector<MeasuredReduction>& measured,
                ProbeReport& report) {
  const auto rows = reduction_rows(measured, prepared.catalog);
  if (!rows.ok()) return rows.error();
  std::vector<ReductionTimes> times;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const ReductionRow& row = (*rows)[i];
    const double n = row.vms;
    const ProbedSum sum{.planned = planned_of(prepared.outline.sums, measured[i]),
                        .time = timing_of(times_of(measured[i])),
                        .bus = 2 * (n - 1) / n * row.bytes / row.time,
                        .predicted = prepared.time(row)};
    report.mape += std::abs(sum.predicted / row.time - 1) / static_cast<double>(rows->size());
    times.push_back(
        {.rounds = measured[i].rounds, .expected = sum.predicted, .pair = sum.planned.pair});
    report.sums.push_back(sum);
  }
  report.spread = spread_of(times);
  return {};
}

/// The calibration updated with the probe, written to the requested file.
Result<Calibration> fold(const Environment& environment, const ProbeRequest& request,
                         const Calibration& before, const std::string& text) {
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.error();
  const std::string file = folder->path() + "/probe.jsonl";
  const Status written = write_file(file, text);
  if (!written.ok()) return written.error();
  const std::string provenance =
      fmt::format("stint probe network --cluster '{}', {}", request.cluster,
                  to_text(date_at(environment.clock->now())));
  if (calibrated_law(before)->buckets) {
    return calibrate_buckets(environment, {.train = {file},
                                           .jobs = {},
                                           .name = before.name,
                                           .provenance = provenance,
                                           .out = request.fold,
                                           .onto = request.calibration});
  }
  const auto no_steps = [](const CalibrateRequest&) { return std::vector<AccuracyRecord>{}; };
  return calibrate_fabric(environment,
                          {.format = StepFormat::kStint,
                           .train = {file},
                           .name = before.name,
                           .provenance = provenance,
                           .out = request.fold,
                           .onto = request.calibration},
                          no_steps);
}

}  // namespace

std::vector<int> usual_counts(int vms) {
  std::vector<int> counts;
  for (int count = 2; count < vms; count *= 2) counts.push_back(count);
  counts.push_back(vms);
  return counts;
}

Result<std::vector<PlannedSum>> planned_sums(int vms, const std::vector<int>& counts,
                                             std::vector<Bytes> sizes) {
  if (vms < 2) return bad_usage("a probe needs two VMs or more");
  if (sizes.empty()) return bad_usage("--sizes is required: the tensor sizes");
  for (Bytes& size : sizes) {
    if (size < kNumber) return bad_usage("--sizes must be 4 bytes or more");
    size = std::floor(size / kNumber) * kNumber;
  }
  std::sort(sizes.begin(), sizes.end());
  std::vector<PlannedSum> sums;
  for (const int count : counts) {
    if (count < 2 || count > vms) {
      return bad_usage(
          fmt::format("--vms must be from 2 to {} VMs of this cluster, not {}", vms, count));
    }
    std::vector<int> first(static_cast<std::size_t>(count));
    std::iota(first.begin(), first.end(), 0);
    for (const Bytes size : sizes) sums.push_back({.vms = first, .bytes = size});
  }
  const Bytes middle = sizes[sizes.size() / 2];
  for (const auto& pair : pairs_of(vms)) {
    const auto known = std::find(sums.begin(), sums.end(), PlannedSum{pair, middle, false});
    if (known != sums.end()) {
      known->pair = true;
    } else {
      sums.push_back({.vms = pair, .bytes = middle, .pair = true});
    }
  }
  return sums;
}

Json plan_json(const std::vector<PlannedSum>& sums) {
  Json::Array list;
  for (const PlannedSum& sum : sums) {
    Json::Array vms;
    for (const int vm : sum.vms) vms.emplace_back(vm);
    Json one;
    one.add("vms", {std::move(vms)});
    one.add("bytes", Json(Json::Value{static_cast<std::int64_t>(sum.bytes.in(kByte))}));
    list.push_back(std::move(one));
  }
  return {std::move(list)};
}

Result<ProbeOutline> outline_probe(const Environment& environment, const ProbeRequest& request) {
  auto prepared = prepare(environment, request);
  if (!prepared.ok()) return prepared.error();
  return std::move(prepared->outline);
}

Result<ProbeReport> probe_network(const Environment& environment, const ProbeRequest& request,
                                  const ProbeProgress& progress) {
  auto prepared = prepare(environment, request);
  if (!prepared.ok()) return prepared.error();
  const Status torch = check_torch(request.python);
  if (!torch.ok()) return torch.error();
  auto started = start_cluster(environment, {.cluster = request.cluster,
                                             .name = fmt::format("probe-{}", ::getpid()),
                                             .ends_with_maker = true});
  if (!started.ok()) return started.error();
  const auto status = started->cluster.status();
  if (!status.ok()) return status.error();
  Session session(environment, request, layout_of(prepared->cluster), prepared->outline.sums,
                  progress);
  const Status ran = session.run(started->cluster);
  const auto down = started->cluster.down();
  if (!ran.ok()) return ran.error();
  if (!down.ok()) return down.error();

  ProbeReport report{.cluster = request.cluster,
                     .before = prepared->calibration,
                     .warnings = std::move(started->warnings)};
  for (const VmStatus& vm : status->vms) report.vms.push_back(vm.name);
  const auto measured = read_reductions(session.text(), "the output of the workers");
  if (!measured.ok()) return measured.error();
  if (measured->empty()) return failed("the workers measured nothing");
  const Status added = add_sums(*prepared, *measured, report);
  if (!added.ok()) return added.error();
  if (request.fold.empty()) return report;
  auto folded = fold(environment, request, prepared->calibration, session.text());
  if (folded.ok()) {
    report.folded = std::move(*folded);
  } else {
    report.not_folded = folded.error();
  }
  return report;
}

}  // namespace stint
