#include "calibrate/scaling/scaling_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "calibrate/held_out_width.h"
#include "solver/least_squares.h"
#include "solver/random_effects.h"

namespace stint {
namespace {

// Of a job of which nothing is known: its time per sample may be anything.
constexpr double kAnyTime = 3;

// Quantile of the normal distribution at 90 %.
constexpr double kNormal90 = 1.2815515655446004;

// Rows further than this many deviations from the law count linearly: some were measured on a
// cluster that was not well.
constexpr double kRobustBeyond = 2;

/// The parts of the logarithm of time per sample, then the constants of the job, then the
/// deviations of its owner.
enum Part : std::size_t {
  kJob,
  kFamily,
  kDevice,
  kOwner,
  kEdition,
  kFloor,
  kExposed,
  kCrossing,
  kGrowth,
  kWireGrowth,
  kOwnerExposed,
  kOwnerCrossing,
  kParts
};

using Parts = std::array<double, kParts>;

/// The name of each part that applies to a row; rows with one name share the part.
std::array<std::string, kParts> names_of(const ScalingRow& row) {
  const std::string owner = fmt::format("{} | {}", row.device, row.owner);
  return {"job",
          "family " + row.family,
          "device " + row.device,
          "owner " + owner,
          fmt::format("edition {} | {}", owner, row.edition),
          "floor",
          "exposed",
          "crossing",
          "growth",
          "wire_growth",
          "exposed " + owner,
          "crossing " + owner};
}

/// What is believed of each part before any row of the job; levels without a belief of their own
/// are around zero.
std::array<ScalingBelief, kParts> beliefs_of(const ScalingPriors& priors) {
  std::array<ScalingBelief, kParts> beliefs;
  beliefs[kJob] = {0, kAnyTime};
  beliefs[kFamily] = {0, priors.family};
  beliefs[kDevice] = {0, priors.device};
  beliefs[kOwner] = {0, priors.owner};
  beliefs[kEdition] = {0, priors.edition};
  beliefs[kFloor] = priors.floor;
  beliefs[kExposed] = priors.exposed;
  beliefs[kCrossing] = priors.crossing;
  beliefs[kGrowth] = priors.growth;
  beliefs[kWireGrowth] = priors.wire_growth;
  beliefs[kOwnerExposed] = {0, priors.owner_exposed};
  beliefs[kOwnerCrossing] = {0, priors.owner_crossing};
  return beliefs;
}

bool is_never_negative(std::size_t part) {
  return part == kCrossing || part == kGrowth || part == kWireGrowth;
}

/// What the floor is relative to.
struct Usual {
  double reference = 0;
  double floor_samples = 1;
  double floor_by_speed = 0;
};

ScalingLaw law_of(const Parts& parts, const Usual& usual) {
  const double device = parts[kJob] + parts[kFamily] + parts[kDevice];
  const double slower = device - usual.reference;
  return {.per_sample = std::exp(device + parts[kOwner] + parts[kEdition]) * kSecond,
          .floor = usual.floor_samples * std::exp(parts[kFloor] - usual.floor_by_speed * slower),
          .crossing = std::max(0.0, parts[kCrossing] + parts[kOwnerCrossing]),
          .growth = std::max(0.0, parts[kGrowth]),
          .exposed = std::exp(parts[kExposed] + parts[kOwnerExposed]),
          .wire_growth = std::max(0.0, parts[kWireGrowth])};
}

double log_time(const Parts& parts, const Usual& usual, const ScalingSetup& setup) {
  return std::log(scaled_step_time(law_of(parts, usual), setup).in(kSecond));
}

double log_per_sample(const ScalingRow& row) {
  CHECK(row.time.has_value());
  return std::log(row.time->in(kSecond) / samples_per_worker(row));
}

double median(std::vector<double> values) {
  CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Logarithm of parameters times tokens, where both are known.
std::optional<double> log_size(const ScalingRow& row) {
  if (!row.parameters || !row.tokens) return std::nullopt;
  return std::log(*row.parameters * *row.tokens);
}

/// Numbers names in the order in which they come.
std::size_t number_of(std::map<std::string, std::size_t>& numbers, const std::string& name) {
  return numbers.emplace(name, numbers.size()).first->second;
}

/// One fitted row: its unknowns, its setup and the logarithm of its time.
struct FitRow {
  std::array<std::size_t, kParts> unknowns;
  ScalingSetup setup;
  double log_time = 0;
};

Parts parts_of(const FitRow& row, std::span<const double> x) {
  Parts parts;
  for (std::size_t part = 0; part < kParts; ++part) parts[part] = x[row.unknowns[part]];
  return parts;
}

// Kinds of the effects by which jobs and families are compared.
enum Kind : std::size_t { kSizedJob, kOtherJob, kPerSize, kAnyFamily, kJobFamily, kKinds };

}  // namespace

ScalingModel::Population ScalingModel::population_of(std::span<const ScalingRow> rows,
                                                     const ScalingPriors& priors) {
  const double any = kAnyTime * kAnyTime;
  const double family = priors.family * priors.family;
  RandomEffects effects;
  effects.believed = {.kinds = {family, any, 10 * any, 1, family},
                      .noises = {priors.owner * priors.owner + priors.noise * priors.noise}};
  Numbers numbers;
  const auto effect = [&](Kind kind, const std::string& name) {
    const std::size_t number = number_of(numbers, fmt::format("{} {}", kind, name));
    if (number == effects.kind_of.size()) effects.kind_of.push_back(kind);
    return EffectShare{.unknown = number};
  };
  // Logarithms around their median, so that the prior of every effect is around zero.
  std::vector<double> logs;
  for (const ScalingRow& row : rows)
    logs.push_back(log_per_sample(row) - log_size(row).value_or(0));
  Population population;
  if (logs.empty()) return population;
  const double centre = median(logs);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ScalingRow& row = rows[i];
    Observation& it = effects.observations.emplace_back();
    const bool sized = log_size(row).has_value();
    population.sized = population.sized || sized;
    it.value = logs[i] - centre;
    it.shares = {effect(sized ? kSizedJob : kOtherJob, row.job), effect(kAnyFamily, row.family),
                 effect(kJobFamily, row.job + row.family)};
    if (sized) it.shares.push_back(effect(kPerSize, ""));
  }
  const FittedEffects fitted = fit_random_effects(effects);
  const auto belief = [&](const std::vector<EffectShare>& shares, double beyond) {
    return ScalingBelief{fitted.mean(shares), std::sqrt(fitted.variance(shares) + beyond)};
  };
  for (const ScalingRow& row : rows) {
    population.families[row.family] = belief({effect(kAnyFamily, row.family)}, family);
  }
  if (!population.sized) return population;
  // What a size costs and what a family does to it are known together better than each alone.
  const EffectVariances& variances = fitted.variances();
  const double job = variances.kinds[kSizedJob];
  for (const ScalingRow& row : rows) {
    ScalingBelief& it = population.per_size[row.family];
    it = belief({effect(kPerSize, ""), effect(kAnyFamily, row.family)},
                job + variances.kinds[kJobFamily]);
    it.mean += centre;
  }
  population.per_size_elsewhere =
      belief({effect(kPerSize, "")}, job + variances.kinds[kAnyFamily] + family);
  population.per_size_elsewhere.mean += centre;
  return population;
}

Result<ScalingModel> ScalingModel::fit(std::span<const ScalingRow> rows,
                                       const ScalingPriors& priors) {
  std::vector<ScalingRow> measured;
  std::map<std::string, std::vector<ScalingRow>> by_job;
  for (const ScalingRow& row : rows) {
    if (!row.unusable.empty() || !row.time) continue;
    measured.push_back(row);
    by_job[row.job].push_back(row);
  }
  ScalingModel model;
  model.priors_ = priors;
  model.population_ = population_of(measured, priors);
  for (const auto& [name, of_job] : by_job) {
    auto job = model.fit_job(of_job);
    if (!job.ok()) return job.error();
    model.jobs_.emplace(name, std::move(*job));
  }
  model.learn_unseen(measured);
  return model;
}

void ScalingModel::learn_unseen(std::span<const ScalingRow> rows) {
  std::map<std::string, std::size_t> jobs;
  for (const ScalingRow& row : rows) {
    if (log_size(row)) ++jobs[row.job];
  }
  constexpr std::size_t kFewJobs = 3;  // One of which is held out.
  if (jobs.size() < kFewJobs) return;
  HeldOutErrors errors;
  for (const auto& [job, count] : jobs) {
    std::vector<ScalingRow> others;
    for (const ScalingRow& row : rows) {
      if (row.job != job) others.push_back(row);
    }
    // Jobs without rows are predicted by the population alone, so its jobs need no fits.
    ScalingModel without;
    without.priors_ = priors_;
    without.population_ = population_of(others, priors_);
    for (const ScalingRow& row : rows) {
      if (row.job != job || !log_size(row)) continue;
      const Estimate it = without.estimate(row, without.unseen_job(row));
      errors.add(std::log(row.time->in(kSecond)) - it.log_time, {it.deviation, it.deviation},
                 count);
    }
  }
  unseen_ = errors.factors(jobs.size());
}

Result<ScalingModel::Job> ScalingModel::fit_job(std::span<const ScalingRow> rows) const {
  Job job;
  std::vector<double> logs;
  std::vector<double> samples;
  for (const ScalingRow& row : rows) {
    logs.push_back(log_per_sample(row));
    samples.push_back(samples_per_worker(row) / row.micro_steps);
  }
  job.reference = median(logs);
  job.floor_samples = median(samples);

  LeastSquares problem{.robust_beyond = kRobustBeyond};
  std::vector<FitRow> fit_rows;
  auto beliefs = beliefs_of(priors_);
  for (const ScalingRow& row : rows) {
    FitRow& it = fit_rows.emplace_back();
    it.setup = scaling_setup(row, priors_);
    it.log_time = std::log(row.time->in(kSecond));
    beliefs[kJob].mean = job.reference - population_.families.at(row.family).mean;
    beliefs[kFamily].mean = population_.families.at(row.family).mean;
    const auto names = names_of(row);
    for (std::size_t part = 0; part < kParts; ++part) {
      it.unknowns[part] = number_of(job.numbers, names[part]);
      if (it.unknowns[part] < problem.unknowns.size()) continue;
      Unknown& unknown = problem.unknowns.emplace_back();
      unknown.prior_mean = beliefs[part].mean;
      unknown.prior_deviation = beliefs[part].deviation;
      unknown.start = beliefs[part].mean;
      if (is_never_negative(part)) unknown.min = 0;
    }
  }
  problem.rows = fit_rows.size();
  const Usual usual{job.reference, job.floor_samples, priors_.floor_by_speed};
  problem.residuals = [&](std::span<const double> x, std::span<double> residuals) {
    for (std::size_t i = 0; i < fit_rows.size(); ++i) {
      const double predicted = log_time(parts_of(fit_rows[i], x), usual, fit_rows[i].setup);
      residuals[i] = (predicted - fit_rows[i].log_time) / priors_.noise;
    }
  };
  auto fitted = stint::fit(problem);
  if (!fitted.ok()) return fitted.error();
  job.values = std::move(fitted->values);
  job.covariance = std::move(fitted->covariance);
  return job;
}

ScalingModel::Job ScalingModel::unseen_job(const ScalingRow& row) const {
  const auto found = population_.per_size.find(row.family);
  const ScalingBelief per_size =
      found == population_.per_size.end() ? population_.per_size_elsewhere : found->second;
  Job job;
  job.numbers = {{"job", 0}, {"family " + row.family, 1}};
  job.values = {per_size.mean + *log_size(row), 0};
  job.covariance = {{per_size.deviation * per_size.deviation, 0}, {0, 0}};
  job.reference = job.values[0];
  job.floor_samples = samples_per_worker(row) / row.micro_steps;
  return job;
}

Forecast ScalingModel::estimate(const ScalingRow& row) const {
  if (!row.unusable.empty()) return {.note = row.unusable};
  const auto found = jobs_.find(row.job);
  const bool known = found != jobs_.end();
  if (!known && !(population_.sized && log_size(row))) {
    return {.note = fmt::format("there is no training data for {}", printable(row.job))};
  }
  const Estimate it = estimate(row, known ? found->second : unseen_job(row));
  const double reach = kNormal90 * it.deviation;
  return {.time = std::exp(it.log_time) * kSecond,
          .p10 = std::exp(it.log_time - reach * (known ? 1 : unseen_.below)) * kSecond,
          .p90 = std::exp(it.log_time + reach * (known ? 1 : unseen_.above)) * kSecond,
          .note = {}};
}

ScalingModel::Estimate ScalingModel::estimate(const ScalingRow& row, const Job& job) const {
  const auto names = names_of(row);
  const auto beliefs = beliefs_of(priors_);
  const ScalingSetup setup = scaling_setup(row, priors_);
  const Usual usual{job.reference, job.floor_samples, priors_.floor_by_speed};
  std::array<std::optional<std::size_t>, kParts> known;
  Parts parts;
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto found = job.numbers.find(names[part]);
    if (found != job.numbers.end()) known[part] = found->second;
    parts[part] = known[part] ? job.values[*known[part]] : beliefs[part].mean;
  }
  const auto family = population_.families.find(row.family);
  if (!known[kFamily] && family != population_.families.end()) {
    parts[kFamily] = family->second.mean;
  }

  const double middle = log_time(parts, usual, setup);
  Parts slopes;
  for (std::size_t part = 0; part < kParts; ++part) {
    const double step = 1e-4 * beliefs[part].deviation;
    Parts moved = parts;
    moved[part] += step;
    slopes[part] = (log_time(moved, usual, setup) - middle) / step;
  }
  double variance = priors_.noise * priors_.noise;
  for (std::size_t i = 0; i < kParts; ++i) {
    if (!known[i]) variance += std::pow(slopes[i] * beliefs[i].deviation, 2);
    for (std::size_t k = 0; k < kParts && known[i]; ++k) {
      if (known[k]) variance += slopes[i] * slopes[k] * job.covariance[*known[i]][*known[k]];
    }
  }
  return {.log_time = middle, .deviation = std::sqrt(std::max(0.0, variance))};
}

}  // namespace stint
