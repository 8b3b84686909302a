#include "app/probe_network.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <unistd.h>

#include "app/bucket_runs.h"
#include "app/catalog_cases.h"
#include "app/local_cases.h"
#include "app/predict_inputs.h"
#include "app/python_world.h"
#include "app/reduction_rows.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "measure/measurement.h"
#include "measure/timing_of.h"

namespace stint {
namespace {

constexpr int kInterruptedCode = 130;
constexpr const char* kJob = "probe of the network";
constexpr Seconds kWorkerStart = 2 * kSecond;  // Of one worker's Python and torch, two at a time.

/// What sums are expected to take.
struct Expectation {
  Calibration calibration;
  BucketLaw law;
  Catalog catalog;
};

Result<Expectation> expectation_of(const Environment& environment, const ProbeRequest& request) {
  auto loaded = load_calibration(request.calibration);
  if (!loaded.ok()) return loaded.error();
  const auto buckets = calibrated_buckets(loaded->noun);
  if (!buckets.ok()) return buckets.error();
  if (!*buckets) {
    return bad_usage(fmt::format(
        "the calibration {} does not follow single sums; name one that 'stint calibrate buckets' "
        "made, or local",
        printable(request.calibration)));
  }
  auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  return Expectation{.calibration = std::move(loaded->noun),
                     .law = (*buckets)->law,
                     .catalog = std::move(catalog->noun)};
}

Result<std::vector<PlannedSum>> sums_of(const Cluster& cluster, const ProbeRequest& request) {
  const int vms = static_cast<int>(vms_of(cluster).size());
  return planned_sums(vms, request.counts.empty() ? usual_counts(vms) : request.counts,
                      request.sizes);
}

/// The measurement that a line of a worker tells of.
struct WorkerLine {
  ReductionRecord sum;
  std::vector<double> times;
};

std::optional<WorkerLine> parse_worker_line(std::string_view text) {
  const auto json = parse_json(text, "worker");
  if (!json.ok()) return std::nullopt;
  const Json* vms = json->find("vms");
  const Json* bytes = json->find("bytes");
  const Json* times = json->find("times_s");
  if (vms == nullptr || bytes == nullptr || times == nullptr) return std::nullopt;
  const auto* numbers = vms->as<Json::Array>();
  const auto* size = bytes->as<std::int64_t>();
  const auto* seconds = times->as<Json::Array>();
  if (numbers == nullptr || size == nullptr || seconds == nullptr) return std::nullopt;
  WorkerLine line{.sum = {.vms = {}, .bytes = static_cast<double>(*size) * kByte, .time = {}},
                  .times = {}};
  for (const Json& vm : *numbers) {
    if (const auto* number = vm.as<std::int64_t>()) {
      line.sum.vms.push_back(static_cast<int>(*number));
    }
  }
  for (const Json& time : *seconds) {
    if (const auto* value = time.as<double>()) line.times.push_back(*value);
  }
  return line;
}

/// Times the plan on a cluster and turns what its workers print into lines of measurements.
class Session {
 public:
  Session(const Environment& environment, const ProbeRequest& request, Layout layout,
          const std::vector<PlannedSum>& sums, const ProbeProgress& progress)
      : environment_(environment),
        request_(request),
        sums_(sums),
        progress_(progress),
        run_(fmt::format("probe of {} at {:.0f}", request.cluster,
                         environment.clock->now().in(kSecond))) {
    note({.run = run_,
          .at = environment.clock->now(),
          .start = RunStart{.job = kJob, .layout = std::move(layout)}});
  }

  Status run(const LocalCluster& cluster) {
    const auto folder = TemporaryFolder::make();
    if (!folder.ok()) return folder.error();
    const Status unpacked = unpack_python(folder->path());
    if (!unpacked.ok()) return unpacked;
    const ExecRequest exec{.command = {request_.python, "-m", "stint.probe", "--plan",
                                       to_text(plan_json(sums_), JsonStyle::kLine), "--rounds",
                                       fmt::format("{}", request_.rounds), "--repeats",
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
                   request_.out.empty() ? "interrupted; nothing was written"
                                        : "interrupted; what was measured is in " + request_.out};
    }
    if (*code != 0) {
      return failed(fmt::format("the probe ended with exit {}: {}", *code,
                                complaint_.empty() ? "it said nothing" : complaint_));
    }
    return kept_;
  }

  const std::string& text() const { return text_; }

 private:
  void note(const Measurement& measurement) {
    const std::string line = write_measurement(measurement);
    text_ += line;
    if (request_.out.empty() || !kept_.ok()) return;
    kept_ = append_file(request_.out, line);
  }

  void take(std::string_view line) {
    auto told = parse_worker_line(line);
    if (!told) return;
    for (const double time : told->times) {
      told->sum.time = time * kSecond;
      note({.run = run_, .at = environment_.clock->now(), .reduction = told->sum});
    }
    ++done_;
    progress_(static_cast<double>(done_) /
              (static_cast<double>(sums_.size()) * static_cast<double>(request_.rounds)));
  }

  void complain(std::string_view vm, std::string_view line) {
    if (!line.empty()) complaint_ = fmt::format("{} on {}", printable(line), vm);
  }

  const Environment& environment_;
  const ProbeRequest& request_;
  const std::vector<PlannedSum>& sums_;
  const ProbeProgress& progress_;
  std::string run_;
  std::string text_;       // All lines so far.
  std::string complaint_;  // The last line on an error stream.
  Status kept_;            // Of writing them.
  int done_ = 0;
};

Layout layout_of(const Cluster& cluster) {
  Layout layout{.cluster = cluster};
  layout.setups.resize(cluster.groups.size());
  return layout;
}

/// The planned sum that was measured.
PlannedSum planned_of(const std::vector<PlannedSum>& sums, const MeasuredReduction& measured) {
  for (const PlannedSum& sum : sums) {
    if (sum.vms == measured.vms && sum.bytes == measured.bytes) return sum;
  }
  return {.vms = measured.vms, .bytes = measured.bytes};
}

Status add_sums(const Expectation& expectation, const std::vector<PlannedSum>& planned,
                const std::vector<MeasuredReduction>& measured, ProbeReport& report) {
  const auto rows = reduction_rows(measured, expectation.catalog);
  if (!rows.ok()) return rows.error();
  std::vector<ReductionTimes> times;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const ReductionRow& row = (*rows)[i];
    const double n = row.vms;
    const ProbedSum sum{.planned = planned_of(planned, measured[i]),
                        .time = timing_of(times_of(measured[i])),
                        .bus = 2 * (n - 1) / n * row.bytes / row.time,
                        .predicted = reduction_time(row, expectation.law)};
    report.mape += std::abs(sum.predicted / row.time - 1) / static_cast<double>(rows->size());
    times.push_back(
        {.rounds = measured[i].rounds, .expected = sum.predicted, .pair = sum.planned.pair});
    report.sums.push_back(sum);
  }
  report.spread = spread_of(times);
  return {};
}

/// The calibration with the probe in it, written to where the request wants it.
Result<Calibration> fold(const Environment& environment, const ProbeRequest& request,
                         const Expectation& expectation, const std::string& text) {
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.error();
  const std::string file = folder->path() + "/probe.jsonl";
  const Status written = write_file(file, text);
  if (!written.ok()) return written.error();
  return calibrate_buckets(
      environment,
      {.train = {file},
       .jobs = {},
       .name = expectation.calibration.name,
       .provenance = fmt::format("stint probe network --cluster '{}', {}", request.cluster,
                                 to_text(date_at(environment.clock->now()))),
       .out = request.fold,
       .onto = request.calibration});
}

}  // namespace

Result<ProbeOutline> outline_probe(const Environment& environment, const ProbeRequest& request) {
  const auto cluster = parse_cluster(request.cluster);
  if (!cluster.ok()) return cluster.error();
  auto sums = sums_of(*cluster, request);
  if (!sums.ok()) return sums.error();
  const auto expectation = expectation_of(environment, request);
  if (!expectation.ok()) return expectation.error();
  ProbeOutline outline{.sums = {},
                       .duration = static_cast<double>(vms_of(*cluster).size()) * kWorkerStart};
  Seconds round;
  for (const PlannedSum& sum : *sums) {
    const auto row = reduction_rows(
        {{.cluster = *cluster, .vms = sum.vms, .bytes = sum.bytes, .rounds = {{1 * kSecond}}}},
        expectation->catalog);
    if (!row.ok()) return row.error();
    round += (request.repeats + 1) * reduction_time(row->front(), expectation->law);
  }
  outline.duration += (request.rounds - 1) * std::max(round, request.every) + round;
  outline.sums = std::move(*sums);
  return outline;
}

Result<ProbeReport> probe_network(const Environment& environment, const ProbeRequest& request,
                                  const ProbeProgress& progress) {
  const auto outline = outline_probe(environment, request);
  if (!outline.ok()) return outline.error();
  const auto expectation = expectation_of(environment, request);
  if (!expectation.ok()) return expectation.error();
  const Status torch = check_torch(request.python);
  if (!torch.ok()) return torch.error();
  auto started = start_cluster(environment, {.cluster = request.cluster,
                                             .name = fmt::format("probe-{}", ::getpid()),
                                             .ends_with_maker = true});
  if (!started.ok()) return started.error();
  const auto status = started->cluster.status();
  if (!status.ok()) return status.error();
  const Layout layout = layout_of(*parse_cluster(request.cluster));
  Session session(environment, request, layout, outline->sums, progress);
  const Status ran = session.run(started->cluster);
  const auto down = started->cluster.down();
  if (!ran.ok()) return ran.error();
  if (!down.ok()) return down.error();

  ProbeReport report{.cluster = request.cluster,
                     .before = expectation->calibration,
                     .warnings = std::move(started->warnings)};
  for (const VmStatus& vm : status->vms) report.vms.push_back(vm.name);
  const auto measured = read_reductions(session.text(), "what the workers printed");
  if (!measured.ok()) return measured.error();
  if (measured->empty()) return failed("the workers measured nothing");
  const Status added = add_sums(*expectation, outline->sums, *measured, report);
  if (!added.ok()) return added.error();
  if (request.fold.empty()) return report;
  auto folded = fold(environment, request, *expectation, session.text());
  if (!folded.ok()) return folded.error();
  report.folded = std::move(*folded);
  return report;
}

}  // namespace stint
