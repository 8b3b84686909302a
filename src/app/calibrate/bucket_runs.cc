#include "app/calibrate/bucket_runs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "calibrate/score.h"
#include "catalog/lookup.h"
#include "load/catalog_cases.h"
#include "load/predict_inputs.h"
#include "measure/trace/timing_of.h"
#include "predict/predictor.h"

namespace stint {
namespace {

constexpr const char* kPriors = "bucket-priors";

Result<std::vector<BucketRow>> rows_of(const RunWorld& world, const CalibratedLaw& law,
                                       const std::vector<MeasuredRun>& runs) {
  std::vector<BucketRow> rows;
  for (const MeasuredRun& run : runs) {
    if (!run.time) continue;
    auto resolved = resolve_run(world, law, run);
    if (!resolved.ok()) return resolved.error();
    if (resolved->workers() == 1) continue;
    rows.push_back(
        {.job = &world.jobs.at(run.job), .resolved = std::move(*resolved), .time = *run.time});
  }
  return rows;
}

Result<BucketRows> all_rows(const RunWorld& world, const CalibratedLaw& law,
                            const std::vector<std::string>& files) {
  const auto runs = read_all(files, read_measured_runs);
  if (!runs.ok()) return runs.error();
  auto of_runs = rows_of(world, law, *runs);
  if (!of_runs.ok()) return of_runs.error();
  const auto sums = read_all(files, read_reductions);
  if (!sums.ok()) return sums.error();
  auto of_sums = reduction_rows(*sums, world.catalog);
  if (!of_sums.ok()) return of_sums.error();
  return BucketRows{.runs = std::move(*of_runs), .reductions = std::move(*of_sums)};
}

/// The data of a fit, and its error on cluster sizes that it had not seen.
void describe_fit(const BucketRows& rows, const BucketFit& fit, Calibration& calibration) {
  constexpr const char* kSums = "sums over the network";
  const std::size_t runs = rows.runs.size();
  std::set<std::string> jobs;
  std::vector<Scored> scored;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string job = i < runs ? rows.runs[i].job->name : kSums;
    const Seconds time = i < runs ? rows.runs[i].time : rows.reductions[i - runs].time;
    if (i < runs) jobs.insert(job);
    scored.push_back({.job = job, .predicted = std::exp(fit.errors[i]) * time, .measured = time});
  }
  const Score of_all = score(scored);
  const char* name = "runs";
  if (runs == 0) name = kSums;
  if (runs > 0 && runs < rows.size()) name = "runs and sums over the network";
  calibration.data.push_back({.name = name,
                              .provenance = "not stated",
                              .rows = static_cast<int>(rows.size()),
                              .jobs = {jobs.begin(), jobs.end()}});
  calibration.accuracy.push_back({.name = fmt::format("all {}", name),
                                  .split = "leave-one-cluster-size-out",
                                  .n = of_all.n,
                                  .mape = of_all.mape,
                                  .median_ape = of_all.median_ape,
                                  .p90_ape = of_all.p90_ape});
}

}  // namespace

Result<std::vector<ReductionRow>> reduction_rows(const std::vector<MeasuredReduction>& reductions,
                                                 const Catalog& catalog) {
  std::vector<ReductionRow> rows;
  for (const MeasuredReduction& reduction : reductions) {
    const Timing timing = timing_of(times_of(reduction));
    ReductionRow row{.vms = static_cast<int>(reduction.vms.size()),
                     .bytes = reduction.bytes,
                     .time = timing.median,
                     .deviation = timing.spread.value_or(Seconds{}) / timing.median};
    const std::vector<VmName> names = vms_of(reduction.cluster);
    for (const int vm : reduction.vms) {
      const VmName& name = names[static_cast<std::size_t>(vm)];
      const auto type = find_type(catalog, name);
      if (!type.ok()) return type.error();
      const auto rate = network_rate(**type);
      if (!rate) {
        return bad_input(
            fmt::format("{} has no network figure in the catalogue; add one", to_text(name)));
      }
      row.total += *rate;
      const bool first = row.slowest == BytesPerSecond{};
      row.slowest = first ? *rate : std::min(row.slowest, *rate);
    }
    rows.push_back(row);
  }
  return rows;
}

Result<RunWorld> load_run_world(const Environment& environment, const std::string& jobs) {
  RunWorld world{.jobs = shipped_jobs()};
  if (!jobs.empty()) {
    const auto text = read_file(jobs);
    if (!text.ok()) return text.error();
    auto read = read_jobs(*text, jobs);
    if (!read.ok()) return read.error();
    world.jobs = std::move(*read);
  }
  auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  world.catalog = std::move(catalog->noun);
  const auto devices = load_calibration("devices");
  if (!devices.ok()) return devices.error();
  const auto law = device_law(devices->noun);
  if (!law.ok()) return law.error();
  world.devices = *law;
  return world;
}

Result<ResolvedJob> resolve_run(const RunWorld& world, const CalibratedLaw& law,
                                const MeasuredRun& run) {
  const auto job = world.jobs.find(run.job);
  if (job == world.jobs.end()) {
    return bad_input(fmt::format("there is no profile of the job {}", printable(run.job)));
  }
  PredictOptions options{.accumulation = run.layout.accumulation,
                         .collective = run.layout.collective};
  for (const GroupSetup& setup : run.layout.setups) {
    options.group_workers_per_vm.push_back(setup.workers_per_vm);
  }
  options.batch_per_worker = run.layout.setups.front().batch_per_worker;
  auto resolved =
      resolve({job->second, world.catalog, law, world.devices}, run.layout.cluster, options);
  if (!resolved.ok()) return resolved.error();
  // The layout of the run is known, so that no batch is shared out.
  for (std::size_t i = 0; i < resolved->groups.size(); ++i) {
    auto& batches = resolved->groups[i].batches;
    std::fill(batches.begin(), batches.end(), run.layout.setups[i].batch_per_worker);
  }
  return resolved;
}

Result<Calibration> fitted_buckets(const RunWorld& world, const std::vector<std::string>& files,
                                   const std::string& onto) {
  const auto priors = load_calibration(onto.empty() ? kPriors : onto);
  if (!priors.ok()) return priors.error();
  const auto law = calibrated_law(priors->noun);
  if (!law.ok()) return law.error();
  const auto rows = all_rows(world, *law, files);
  if (!rows.ok()) return rows.error();
  const auto fit = fit_buckets(*rows, priors->noun);
  if (!fit.ok()) return fit.error();
  Calibration calibration = to_calibration(*fit, priors->noun);
  if (!onto.empty()) {
    calibration.data = priors->noun.data;
    calibration.accuracy = priors->noun.accuracy;
  }
  describe_fit(*rows, *fit, calibration);
  return calibration;
}

Result<Calibration> calibrate_buckets(const Environment& environment,
                                      const CalibrateBucketsRequest& request) {
  if (request.train.empty()) return bad_usage("--train FILE is required: the runs to learn from");
  if (request.name.empty()) return bad_usage("--name is required: the name of the calibration");
  const auto world = load_run_world(environment, request.jobs);
  if (!world.ok()) return world.error();
  auto calibration = fitted_buckets(*world, request.train, request.onto);
  if (!calibration.ok()) return calibration.error();
  calibration->name = request.name;
  calibration->date = date_at(environment.clock->now());
  if (!request.provenance.empty()) calibration->data.back().provenance = request.provenance;
  if (request.out.empty()) return calibration;
  const Status kept = write_output(request.out, write_calibration(*calibration));
  if (!kept.ok()) return kept.error();
  return calibration;
}

}  // namespace stint
