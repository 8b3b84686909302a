#include "app/bucket_runs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "app/catalog_cases.h"
#include "app/predict_inputs.h"
#include "app/reduction_rows.h"
#include "base/file.h"
#include "base/text.h"
#include "calibrate/score.h"
#include "predict/predictor.h"

namespace stint {
namespace {

constexpr const char* kPriors = "bucket-priors";
constexpr const char* kFormula = "formula";

/// What runs are looked up in.
struct World {
  JobsByName jobs;
  Catalog catalog;
  DeviceLaw devices;
};

Result<World> load_world(const Environment& environment, const std::string& jobs) {
  World world{.jobs = shipped_jobs()};
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

/// Appends what `read` finds in each of the files.
template <class T>
Result<std::vector<T>> read_all(const std::vector<std::string>& files,
                                Result<std::vector<T>> (*read)(std::string_view,
                                                               const std::string&)) {
  std::vector<T> all;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    auto found = read(*text, file);
    if (!found.ok()) return found.error();
    all.insert(all.end(), std::make_move_iterator(found->begin()),
               std::make_move_iterator(found->end()));
  }
  return all;
}

/// The question that a run answers. The law must outlive the answer.
Result<ResolvedJob> resolve_run(const World& world, const CalibratedLaw& law,
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
  // What was run is known: nothing is shared out.
  for (std::size_t i = 0; i < resolved->groups.size(); ++i) {
    auto& batches = resolved->groups[i].batches;
    std::fill(batches.begin(), batches.end(), run.layout.setups[i].batch_per_worker);
  }
  return resolved;
}

Result<std::vector<BucketRow>> rows_of(const World& world, const CalibratedLaw& law,
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

Result<BucketRows> all_rows(const World& world, const CalibratedLaw& law,
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

/// What a fit was made from, and how far off it was where it had not seen the cluster's size.
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

/// A fit to runs and probes as a calibration, with what it says of itself.
Result<Calibration> fitted(const World& world, const std::vector<std::string>& files,
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

/// The formula as a calibration: exact about itself.
Calibration formula_calibration() {
  Calibration calibration{.name = kFormula};
  const BucketLaw law = ring_formula();
  for (const auto& [name, field] : law_names(law)) {
    calibration.constants.push_back(
        {.name = name, .scope = "buckets", .value = law.*field, .unit = "1", .identified = false});
  }
  for (const char* name : {"noise_floor", "noise_exposed"}) {
    calibration.constants.push_back(
        {.name = name, .scope = "noise", .unit = "1", .identified = false});
  }
  return calibration;
}

/// Predictions of all runs under one law, and how far off they are.
struct Outcome {
  Validation validation;
  std::vector<PredictionLine> lines;
};

/// The largest error, as a sentence.
std::string worst_note(const std::vector<MeasuredRun>& runs, const std::vector<Scored>& scored) {
  double worst = -1;
  std::string name;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!scored[i].predicted || !scored[i].measured) continue;
    const double error = std::abs(*scored[i].predicted / *scored[i].measured - 1);
    if (error <= worst) continue;
    worst = error;
    name = runs[i].run;
  }
  if (worst < 0) return "No run was measured, so nothing was scored.";
  return fmt::format("The worst error is {:.1f} %, of {}.", 100 * worst, printable(name));
}

Result<Outcome> predict_runs(const World& world, const Calibration& calibration,
                             const std::vector<MeasuredRun>& runs) {
  const auto law = calibrated_law(calibration);
  if (!law.ok()) return law.error();
  Outcome outcome{.validation = {.what = "runs"}};
  std::vector<Scored> scored;
  for (const MeasuredRun& run : runs) {
    Scored row{.job = run.job, .measured = run.time};
    PredictionLine line{.row = outcome.lines.size()};
    const auto resolved = resolve_run(world, *law, run);
    if (resolved.ok()) {
      const JobProfile& job = world.jobs.at(run.job);
      const auto iteration =
          predict({job, world.catalog, *law, world.devices}, *resolved, step_parts)
              .prediction.iteration;
      row.predicted = iteration.mean;
      line.predicted = iteration.mean.in(kSecond);
      if (calibration.name != kFormula) {
        row.p10 = iteration.p10;
        row.p90 = iteration.p90;
        line.p10 = iteration.p10.in(kSecond);
        line.p90 = iteration.p90.in(kSecond);
      }
    } else {
      line.note = resolved.error().message;
    }
    scored.push_back(std::move(row));
    outcome.lines.push_back(std::move(line));
  }
  Validation& it = outcome.validation;
  const bool measured = std::any_of(runs.begin(), runs.end(),
                                    [](const MeasuredRun& run) { return run.time.has_value(); });
  if (measured) {
    it.overall = score(scored);
    it.jobs = score_by_job(scored);
    it.mean_over_jobs = mean_over(it.jobs);
  }
  it.notes.push_back(worst_note(runs, scored));
  return outcome;
}

Result<Calibration> calibration_of(const World& world, const ValidateRunsRequest& request) {
  if (!request.train.empty()) return fitted(world, request.train, "");
  auto loaded = load_calibration(request.calibration);
  if (!loaded.ok()) return loaded.error();
  return std::move(loaded->noun);
}

}  // namespace

Result<Calibration> calibrate_buckets(const Environment& environment,
                                      const CalibrateBucketsRequest& request) {
  if (request.train.empty()) return bad_usage("--train FILE is missing: the runs to learn from");
  if (request.name.empty()) return bad_usage("--name is missing: what to call the calibration");
  const auto world = load_world(environment, request.jobs);
  if (!world.ok()) return world.error();
  auto calibration = fitted(*world, request.train, request.onto);
  if (!calibration.ok()) return calibration.error();
  calibration->name = request.name;
  calibration->date = date_at(environment.clock->now());
  if (!request.provenance.empty()) calibration->data.back().provenance = request.provenance;
  if (request.out.empty()) return calibration;
  const Status kept = write_file(request.out, write_calibration(*calibration));
  if (!kept.ok()) return kept.error();
  return calibration;
}

Result<ValidationReport> validate_runs(const Environment& environment,
                                       const ValidateRunsRequest& request) {
  if (request.test.empty()) return bad_usage("--test FILE is missing: the runs to predict");
  if (request.train.empty() == request.calibration.empty()) {
    return bad_usage("give either --train FILE… to learn from or --calibration NAME");
  }
  const auto world = load_world(environment, request.jobs);
  if (!world.ok()) return world.error();
  const auto runs = read_all(request.test, read_measured_runs);
  if (!runs.ok()) return runs.error();
  if (runs->empty()) return bad_input("the test files start no run");
  const auto calibration = calibration_of(*world, request);
  if (!calibration.ok()) return calibration.error();
  auto ours = predict_runs(*world, *calibration, *runs);
  if (!ours.ok()) return ours.error();
  auto formula = predict_runs(*world, formula_calibration(), *runs);
  if (!formula.ok()) return formula.error();
  formula->validation.baseline = kFormula;
  if (request.formula) std::swap(*ours, *formula);
  return ValidationReport{.validation = std::move(ours->validation),
                          .beside = {std::move(formula->validation)},
                          .predictions = std::move(ours->lines)};
}

}  // namespace stint
