#include "calibrate/law_fit.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <utility>

#include "base/check.h"
#include "calibrate/held_out_width.h"

namespace stint {
namespace {

// Deviation of log time: typical of published tables, see docs.
constexpr double kRowDeviation = 0.06;
constexpr double kPlacementDeviation = 0.2;  // Deviation of exposed communication from run to run.
constexpr double kRowsTogether = 32;         // Weight of all rows of a job together.
constexpr double kRowTail = 2;               // Deviations beyond which the loss of a row is linear.
constexpr double kJobTail = 1.5;             // The same for a job's own constants.

const std::span<const LawName<FabricLaw>> kFabricNames = law_names(FabricLaw{});
const std::span<const LawName<JobLaw>> kJobNames = law_names(JobLaw{});

bool is_size(const LawName<JobLaw>& name) { return name.second == &JobLaw::size; }

/// The residual whose square is the robust loss: r near zero, growing as √|r| far out. Written so
/// that nothing cancels near zero, where derivatives by small differences are taken.
double robust(double residual, double tail) {
  const double ratio = residual / tail;
  return residual * std::sqrt(2 / (std::sqrt(1 + ratio * ratio) + 1));
}

FabricLaw fabric_of(std::span<const double> x) {
  FabricLaw law;
  for (std::size_t i = 0; i < kFabricNames.size(); ++i) law.*kFabricNames[i].second = x[i];
  return law;
}

JobLaw job_of(std::span<const double> x) {
  JobLaw law;
  for (std::size_t i = 0; i < kJobNames.size(); ++i) law.*kJobNames[i].second = x[i];
  return law;
}

double log_time(const FabricLaw& fabric, const JobLaw& job, const LawInput& input) {
  return std::log(law_time(fabric, job, input).in(kSecond));
}

/// The rows in the order of their jobs, so that each job's law is unpacked once.
struct RowsByJob {
  std::vector<const LawRow*> rows;
  std::vector<double> deviations;      // Deviations of log time, one per row.
  std::vector<std::size_t> job_begin;  // In rows, one more than there are jobs.
  std::vector<std::string> names;
  std::vector<double> log_times;
};

/// The weight of each row of a job.
double row_weight(const RowsByJob& problem, std::size_t job) {
  const std::size_t rows = problem.job_begin[job + 1] - problem.job_begin[job];
  return std::min(1.0, kRowsTogether / static_cast<double>(rows));
}

RowsByJob rows_by_job(std::span<const LawRow> rows) {
  std::map<std::string, std::vector<const LawRow*>> by_job;
  for (const LawRow& row : rows) {
    CHECK(row.time > Seconds{});
    by_job[row.job].push_back(&row);
  }
  RowsByJob problem;
  for (const auto& [name, of_job] : by_job) {
    problem.names.push_back(name);
    problem.job_begin.push_back(problem.rows.size());
    problem.rows.insert(problem.rows.end(), of_job.begin(), of_job.end());
  }
  problem.job_begin.push_back(problem.rows.size());
  for (std::size_t job = 0; job < problem.names.size(); ++job) {
    const double weight = row_weight(problem, job);
    for (std::size_t i = problem.job_begin[job]; i < problem.job_begin[job + 1]; ++i) {
      const LawRow& row = *problem.rows[i];
      problem.log_times.push_back(std::log(row.time.in(kSecond)));
      // Many rows of a job average out the noise of single runs, a few do not.
      const double exposed = std::max(0.0, 1 - row.input.alone / row.time);
      problem.deviations.push_back(
          std::hypot(kRowDeviation, weight * kPlacementDeviation * exposed));
    }
  }
  return problem;
}

double job_deviation(const LawPriors& priors, const LawName<JobLaw>& name, bool size_known) {
  constexpr double kFixed = 1e-3;
  if (is_size(name) && size_known) return kFixed;
  return priors.job_deviation.*name.second;
}

bool size_known(const RowsByJob& problem, std::size_t job) {
  return problem.rows[problem.job_begin[job]]->size_known;
}

/// The residuals of a point. The solver computes derivatives by moving one unknown at a time, so
/// that those of a job are cached until its own law or the fabric's moves.
class LawResiduals {
 public:
  LawResiduals(const RowsByJob& problem, const LawPriors& priors)
      : problem_(problem),
        priors_(priors),
        point_(kFabricNames.size() + problem.names.size() * kJobNames.size(),
               std::numeric_limits<double>::quiet_NaN()),  // Different from every point.
        residuals_(problem.rows.size() + problem.names.size() * kJobNames.size()) {}

  std::size_t size() const { return residuals_.size(); }

  void at(std::span<const double> x, std::span<double> out) {
    const auto shared = x.first(kFabricNames.size());
    const FabricLaw fabric = fabric_of(shared);
    const bool fabric_moved = !std::equal(shared.begin(), shared.end(), point_.begin());
    for (std::size_t job = 0; job < problem_.names.size(); ++job) {
      const std::size_t first = kFabricNames.size() + job * kJobNames.size();
      const auto own = x.subspan(first, kJobNames.size());
      const auto before = point_.begin() + static_cast<std::ptrdiff_t>(first);
      if (fabric_moved || !std::equal(own.begin(), own.end(), before)) evaluate(job, fabric, own);
    }
    std::copy(x.begin(), x.end(), point_.begin());
    std::copy(residuals_.begin(), residuals_.end(), out.begin());
  }

 private:
  void evaluate(std::size_t job, const FabricLaw& fabric, std::span<const double> own) {
    const JobLaw law = job_of(own);
    const double weight = std::sqrt(row_weight(problem_, job));
    for (std::size_t i = problem_.job_begin[job]; i < problem_.job_begin[job + 1]; ++i) {
      const double error = log_time(fabric, law, problem_.rows[i]->input) - problem_.log_times[i];
      residuals_[i] = weight * robust(error / problem_.deviations[i], kRowTail);
    }
    const std::size_t first_prior = problem_.rows.size() + job * kJobNames.size();
    for (std::size_t i = 0; i < kJobNames.size(); ++i) {
      const double deviation = job_deviation(priors_, kJobNames[i], size_known(problem_, job));
      residuals_[first_prior + i] = robust(own[i] / deviation, kJobTail);
    }
  }

  const RowsByJob& problem_;
  const LawPriors& priors_;
  std::vector<double> point_;
  std::vector<double> residuals_;  // At that point: of the rows, then of each job's constants.
};

/// The errors of a job relative to the expected noise of its rows, shrunk towards 1.
double noise_scale(const FittedLaw& law, const RowsByJob& problem, std::size_t job) {
  constexpr double kBelief = 16;  // Weight of the prior, in rows.
  constexpr double kLargest = 9;  // Limit of a squared error over its variance, for outliers.
  const double weight = row_weight(problem, job);
  double sum = kBelief;
  double count = kBelief;
  for (std::size_t i = problem.job_begin[job]; i < problem.job_begin[job + 1]; ++i) {
    const LawRow& row = *problem.rows[i];
    const Seconds time = law_time(law.fabric, law.job_law(row.job), row.input);
    const double error = std::log(time / row.time);
    const double variance = law.noise_variance(row.job, row.input, time);
    sum += weight * std::min(kLargest, error * error / variance);
    count += weight;
  }
  return std::sqrt(sum / count);
}

std::vector<Unknown> unknowns_of(const RowsByJob& problem, const LawPriors& priors,
                                 const FittedLaw* start) {
  std::vector<Unknown> unknowns;
  for (const auto& [name, field] : kFabricNames) {
    const double mean = priors.fabric.*field;
    unknowns.push_back({.prior_mean = mean,
                        .prior_deviation = priors.fabric_deviation.*field,
                        .start = start != nullptr ? start->fabric.*field : mean});
  }
  for (const std::string& job : problem.names) {
    const JobLaw law = start != nullptr ? start->job_law(job) : JobLaw{};
    for (const auto& [name, field] : kJobNames) {
      // The prior of a job has heavy tails and is among the residuals.
      unknowns.push_back(
          {.prior_deviation = std::numeric_limits<double>::infinity(), .start = law.*field});
    }
  }
  return unknowns;
}

/// Jobs that were held out, with the law of the others.
struct HeldOut {
  std::map<std::string, std::vector<const LawRow*>> jobs;
  FittedLaw others;
};

Result<std::vector<HeldOut>> held_out_jobs(const FittedLaw& law, std::span<const LawRow> rows) {
  constexpr std::size_t kGroups = 4;
  std::vector<std::string> names;
  for (const auto& [name, fitted] : law.jobs) names.push_back(name);
  const std::size_t groups = std::min(kGroups, names.size());
  std::vector<HeldOut> folds(groups);
  for (std::size_t group = 0; group < groups; ++group) {
    HeldOut& fold = folds[group];
    for (std::size_t i = group; i < names.size(); i += groups) fold.jobs[names[i]];
    std::vector<LawRow> kept;
    for (const LawRow& row : rows) {
      const auto held = fold.jobs.find(row.job);
      if (held == fold.jobs.end()) {
        kept.push_back(row);
      } else {
        held->second.push_back(&row);
      }
    }
    auto without = fit_law(kept, law.priors, &law);
    if (!without.ok()) return without.error();
    fold.others = std::move(*without);
  }
  return folds;
}

void set_dispersion(FittedLaw& law, const std::vector<HeldOut>& folds) {
  constexpr double kBelief = 2;  // Weight of the prior, in jobs.
  double sum = kBelief;
  double count = kBelief;
  for (const HeldOut& fold : folds) {
    for (const auto& [job, rows] : fold.jobs) {
      CHECK(!rows.empty());
      double bias = 0;
      double spread = 0;
      for (const LawRow* row : rows) {
        const LawEstimate estimate = fold.others.predict(job, row->size_known, row->input);
        bias += std::log(estimate.time / row->time);
        const double bound =
            estimate.time < row->time ? estimate.spread.above : estimate.spread.below;
        spread += bound * bound;
      }
      const auto of_job = static_cast<double>(rows.size());
      sum += bias * bias / of_job / spread;
      ++count;
    }
  }
  // Few jobs cannot show that unseen ones are closer than the prior.
  law.dispersion = std::max(1.0, std::sqrt(sum / count));
}

void set_unseen(FittedLaw& law, std::vector<HeldOut>& folds) {
  HeldOutErrors errors;
  for (HeldOut& fold : folds) {
    fold.others.dispersion = law.dispersion;
    for (const auto& [job, rows] : fold.jobs) {
      for (const LawRow* row : rows) {
        const LawEstimate estimate = fold.others.predict(job, row->size_known, row->input);
        errors.add(std::log(row->time / estimate.time), estimate.spread, rows.size());
      }
    }
  }
  // Two jobs of Pollux that are alike narrowed the interval of the third until four in ten of its
  // rows lay outside.
  constexpr double kNarrowing = 2;
  law.unseen = errors.factors(law.jobs.size(), 1, kNarrowing);
}

}  // namespace

Seconds LawEstimate::p10() const { return std::exp(-kEightInTen * spread.below) * time; }
Seconds LawEstimate::p90() const { return std::exp(kEightInTen * spread.above) * time; }

Result<LawPriors> law_priors(const Calibration& calibration) {
  std::map<std::string, const Constant*> by_name;
  for (const Constant& constant : calibration.constants) by_name[constant.name] = &constant;
  std::vector<std::string> missing;
  const auto take = [&](const char* name, double& value, double* deviation) {
    const auto found = by_name.find(name);
    const bool there = found != by_name.end() &&
                       (deviation == nullptr || found->second->prior_deviation.value_or(0) > 0);
    if (!there) {
      missing.emplace_back(name);
      return;
    }
    value = deviation == nullptr ? found->second->value
                                 : found->second->prior_mean.value_or(found->second->value);
    if (deviation != nullptr) *deviation = *found->second->prior_deviation;
  };
  LawPriors priors;
  for (const auto& [name, field] : kFabricNames) {
    take(name, priors.fabric.*field, &(priors.fabric_deviation.*field));
  }
  for (const auto& [name, field] : kJobNames) {
    double mean = 0;
    take(name, mean, &(priors.job_deviation.*field));
  }
  take("noise_floor", priors.noise_floor, nullptr);
  take("noise_exposed", priors.noise_exposed, nullptr);
  if (missing.empty()) return priors;
  return bad_input(fmt::format("the calibration {} lacks {} or its prior_deviation",
                               calibration.name, missing.front()));
}

JobLaw FittedLaw::job_law(const std::string& job) const {
  const auto found = jobs.find(job);
  return found == jobs.end() ? JobLaw{} : found->second.law;
}

double FittedLaw::noise_variance(const std::string& job, const LawInput& input,
                                 Seconds time) const {
  const auto found = jobs.find(job);
  const double scale = found == jobs.end() ? 1 : found->second.noise;
  return stint::noise_variance(
      {.floor = priors.noise_floor, .exposed = priors.noise_exposed, .scale = scale}, input, time);
}

std::vector<double> FittedLaw::slopes(const std::string& job, bool size_is_known,
                                      const LawInput& input) const {
  constexpr double kStep = 1e-4;
  const auto found = jobs.find(job);
  const bool seen = found != jobs.end();
  const std::size_t unknowns = solution.values.size();
  std::vector<double> slopes(unknowns + (seen ? 0 : kJobNames.size()), 0.0);
  JobLaw own = job_law(job);
  FabricLaw shared = fabric;
  for (std::size_t i = 0; i < kFabricNames.size(); ++i) {
    double& value = shared.*kFabricNames[i].second;
    const double kept = value;
    value = kept + kStep;
    const double above = log_time(shared, own, input);
    value = kept - kStep;
    slopes[i] = (above - log_time(shared, own, input)) / (2 * kStep);
    value = kept;
  }
  const std::size_t first = seen ? found->second.first_unknown : unknowns;
  for (std::size_t i = 0; i < kJobNames.size(); ++i) {
    if (is_size(kJobNames[i]) && size_is_known) continue;
    double& value = own.*kJobNames[i].second;
    const double kept = value;
    value = kept + kStep;
    const double above = log_time(shared, own, input);
    value = kept - kStep;
    slopes[first + i] = (above - log_time(shared, own, input)) / (2 * kStep);
    value = kept;
  }
  return slopes;
}

LawEstimate FittedLaw::predict(const std::string& job, bool size_is_known,
                               const LawInput& input) const {
  const auto found = jobs.find(job);
  const JobLaw own = job_law(job);
  // The constants that the time depends on: the fabric's, and the job's own.
  std::vector<std::size_t> unknowns;
  for (std::size_t i = 0; i < kFabricNames.size(); ++i) unknowns.push_back(i);
  for (std::size_t i = 0; found != jobs.end() && i < kJobNames.size(); ++i) {
    unknowns.push_back(found->second.first_unknown + i);
  }
  std::vector<std::vector<double>> correlation;
  for (const std::size_t i : unknowns) {
    auto& row = correlation.emplace_back();
    for (const std::size_t k : unknowns) row.push_back(solution.covariance[i][k]);
  }
  std::vector<double> deviations = correlate(correlation);
  for (std::size_t i = deviations.size() - kFabricNames.size(); i < kJobNames.size(); ++i) {
    deviations.push_back(dispersion * priors.job_deviation.*kJobNames[i].second);
  }
  const auto log_time_at = [&](std::span<const double> moved) {
    FabricLaw shared = fabric;
    JobLaw law = own;
    for (std::size_t i = 0; i < kFabricNames.size(); ++i) {
      shared.*kFabricNames[i].second += moved[i] * deviations[i];
    }
    for (std::size_t i = 0; i < kJobNames.size(); ++i) {
      if (is_size(kJobNames[i]) && size_is_known) continue;
      const std::size_t constant = kFabricNames.size() + i;
      law.*kJobNames[i].second += moved[constant] * deviations[constant];
    }
    return log_time(shared, law, input);
  };
  const Seconds time = law_time(fabric, own, input);
  LogSpread spread = log_spread(log_time_at, deviations.size(), correlation)
                         .with(std::sqrt(noise_variance(job, input, time)));
  if (found == jobs.end()) spread = {spread.below * unseen.below, spread.above * unseen.above};
  return {.time = time, .spread = spread};
}

Result<FittedLaw> fit_law(std::span<const LawRow> rows, const LawPriors& priors,
                          const FittedLaw* start) {
  const RowsByJob problem = rows_by_job(rows);
  LawResiduals residuals(problem, priors);
  const LeastSquares task{
      .unknowns = unknowns_of(problem, priors, start),
      .rows = residuals.size(),
      .residuals = [&](std::span<const double> x, std::span<double> out) { residuals.at(x, out); }};
  auto solved = fit(task);
  if (!solved.ok()) return solved.error();
  FittedLaw law{.priors = priors, .fabric = fabric_of(solved->values), .jobs = {}, .solution = {}};
  for (std::size_t job = 0; job < problem.names.size(); ++job) {
    const std::size_t first = kFabricNames.size() + job * kJobNames.size();
    const std::span<const double> values = solved->values;
    law.jobs[problem.names[job]] = {
        .law = job_of(values.subspan(first, kJobNames.size())),
        .rows = problem.job_begin[job + 1] - problem.job_begin[job],
        .first_unknown = first,
        .gradients = problem.rows[problem.job_begin[job]]->input.gradients};
  }
  law.solution = std::move(*solved);
  for (std::size_t job = 0; job < problem.names.size(); ++job) {
    const double scale = noise_scale(law, problem, job);
    law.jobs[problem.names[job]].noise = scale;
  }
  return law;
}

Status measure_dispersion(FittedLaw& law, std::span<const LawRow> rows) {
  if (law.jobs.size() < 2) return {};
  auto folds = held_out_jobs(law, rows);
  if (!folds.ok()) return folds.error();
  set_dispersion(law, *folds);
  set_unseen(law, *folds);
  return {};
}

}  // namespace stint
