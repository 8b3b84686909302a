#include "validate/validate_runs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "app/calibrate/bucket_runs.h"
#include "base/text.h"
#include "calibrate/score.h"
#include "predict/predictor.h"

namespace stint {
namespace {

constexpr const char* kFormula = "formula";

/// The formula as a calibration, without uncertainty.
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

/// Predictions of all runs under one law, and their errors.
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
  if (worst < 0) return "No run was measured, so there is no score.";
  return fmt::format("The worst error is {:.1f} %, of {}.", 100 * worst, printable(name));
}

Result<Outcome> predict_runs(const RunWorld& world, const Calibration& calibration,
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

Result<Calibration> calibration_of(const RunWorld& world, const ValidateRunsRequest& request) {
  if (!request.train.empty()) return fitted_buckets(world, request.train, "");
  auto loaded = load_calibration(request.calibration);
  if (!loaded.ok()) return loaded.error();
  return std::move(loaded->noun);
}

}  // namespace

Result<ValidationReport> validate_runs(const Environment& environment,
                                       const ValidateRunsRequest& request) {
  if (request.test.empty()) return bad_usage("--test FILE is required: the runs to predict");
  if (request.train.empty() == request.calibration.empty()) {
    return bad_usage("--train FILE… or --calibration NAME is required: what to predict from");
  }
  const auto world = load_run_world(environment, request.jobs);
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
