#include "calibrate/sharded_memory_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/check.h"
#include "calibrate/score.h"

namespace stint {
namespace {

/// A constant that differs between software, and the deviation of its logarithm.
struct Habit {
  double ShardedMemoryLaw::*member;
  double deviation;
};

constexpr std::array<Habit, 4> kHabits{{{&ShardedMemoryLaw::activations, 0.3},
                                        {&ShardedMemoryLaw::overhead, 0.7},
                                        {&ShardedMemoryLaw::reserved, 0.12},
                                        {&ShardedMemoryLaw::logits, 0.3}}};

// Deviation of ln peak that residuals are counted in, that is believed before any are seen, and how
// many rows that belief counts for.
constexpr double kPeakDeviation = 0.1;
constexpr double kBelievedRows = 2;
// What a model adds that its software was not fitted with: how far frameworks differ from the
// counted activations depends on the model too.
constexpr double kModelDeviation = 0.1;
constexpr double kPeakRobustBeyond = 1.5;
constexpr double kLogStep = 1e-4;  // Of derivatives by differences, in logarithms.

std::size_t constants() { return sharded_memory_constants().size(); }

/// The law for the logarithms of constants and, unless empty, of habits over them.
ShardedMemoryLaw habitual_law(std::span<const double> logs, std::span<const double> habits) {
  ShardedMemoryLaw law;
  for (std::size_t k = 0; k < constants(); ++k) {
    law.*sharded_memory_constants()[k].member = std::exp(logs[k]);
  }
  for (std::size_t k = 0; k < habits.size(); ++k) law.*kHabits[k].member *= std::exp(habits[k]);
  return law;
}

Bytes fullest_peak(const ShardedMemoryCase& it, const ShardedMemoryLaw& law) {
  if (it.stages.empty()) return sharded_memory(it.setup, it.states, law).total();
  Bytes most{};
  for (const ShardedStage& stage : it.stages) {
    most = std::max(most, stage_memory(it.setup, stage, it.states, law).total());
  }
  return most;
}

std::string model_key(const ShardedMemoryCase& it) {
  const ShardedShape& size = it.setup.shape;
  return fmt::format("{}:{}:{}:{}", it.software, size.layers, size.hidden, size.wide);
}

std::vector<Unknown> peak_unknowns(std::size_t software) {
  std::vector<Unknown> unknowns;
  for (const ShardedMemoryConstant& it : sharded_memory_constants()) {
    const double mean = std::log(ShardedMemoryLaw{}.*it.member);
    unknowns.push_back({.prior_mean = mean, .prior_deviation = it.deviation, .start = mean});
  }
  for (std::size_t i = 0; i < software; ++i) {
    for (const Habit& habit : kHabits) unknowns.push_back({.prior_deviation = habit.deviation});
  }
  return unknowns;
}

/// The deviation that leaves one in five of `errors` beyond 1.28 of it, with what is believed of it
/// before.
double peak_deviation(std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  constexpr double kEighty = 1.2816;
  const double seen = quantile(errors, 0.8) / kEighty;
  const auto rows = static_cast<double>(errors.size());
  return std::sqrt((rows * seen * seen + kBelievedRows * kPeakDeviation * kPeakDeviation) /
                   (rows + kBelievedRows));
}

}  // namespace

Result<ShardedMemoryModel> ShardedMemoryModel::fit(std::span<const ShardedMemoryCase> cases) {
  std::vector<const ShardedMemoryCase*> rows;
  ShardedMemoryModel model;
  for (const ShardedMemoryCase& it : cases) {
    if (!it.peak) continue;
    rows.push_back(&it);
    model.models_.insert(model_key(it));
    model.software_.try_emplace(it.software, model.software_.size());
  }
  CHECK(!rows.empty());
  const auto log_error = [&](const ShardedMemoryCase& it, std::span<const double> x) {
    const std::size_t from = constants() + kHabits.size() * model.software_.at(it.software);
    const ShardedMemoryLaw law =
        habitual_law(x.first(constants()), x.subspan(from, kHabits.size()));
    return std::log(fullest_peak(it, law) / *it.peak);
  };
  LeastSquares problem{.unknowns = peak_unknowns(model.software_.size()),
                       .rows = rows.size(),
                       .residuals = {},
                       .robust_beyond = kPeakRobustBeyond};
  problem.residuals = [&](std::span<const double> x, std::span<double> residuals) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      residuals[i] = log_error(*rows[i], x) / kPeakDeviation;
    }
  };
  auto fitted = stint::fit(problem);
  if (!fitted.ok()) return fitted.error();
  model.fitted_ = std::move(*fitted);
  std::map<std::string, std::vector<double>> errors;
  for (const ShardedMemoryCase* it : rows) {
    errors[it->software].push_back(std::abs(log_error(*it, model.fitted_.values)));
  }
  for (auto& [software, all] : errors) model.error_[software] = peak_deviation(std::move(all));
  double squares = 0;
  for (const ShardedMemoryCase* it : rows) {
    const double deviation = model.deviation(*it, false);
    squares += deviation * deviation;
  }
  model.spread_ = std::sqrt(squares / static_cast<double>(rows.size()));
  return model;
}

double ShardedMemoryModel::deviation(const ShardedMemoryCase& it, bool known) const {
  const std::size_t count = constants() + kHabits.size();
  const std::size_t from =
      known ? constants() + kHabits.size() * software_.at(it.software) : fitted_.values.size();
  const auto place = [&](std::size_t k) { return k < constants() ? k : from + k - constants(); };
  std::vector<double> x(count, 0.0);
  for (std::size_t k = 0; k < count; ++k) {
    if (place(k) < fitted_.values.size()) x[k] = fitted_.values[place(k)];
  }
  const auto log_peak = [&] {
    const std::span<const double> all(x);
    return std::log(
        fullest_peak(it, habitual_law(all.first(constants()), all.subspan(constants()))).in(kByte));
  };
  const double middle = log_peak();
  std::vector<double> slope(count);
  for (std::size_t k = 0; k < count; ++k) {
    const double before = std::exchange(x[k], x[k] + kLogStep);
    slope[k] = (log_peak() - middle) / kLogStep;
    x[k] = before;
  }
  const double error = known ? error_.at(it.software) : kPeakDeviation;
  double variance = error * error;
  if (!known || !models_.contains(model_key(it))) variance += kModelDeviation * kModelDeviation;
  // The covariance is that of rows with the deviation that residuals were counted in.
  const double narrower = std::min(1.0, std::pow(error / kPeakDeviation, 2));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < count; ++k) {
      double covariance = 0;
      if (std::max(place(i), place(k)) < fitted_.values.size()) {
        covariance = narrower * fitted_.covariance[place(i)][place(k)];
      } else if (i == k) {
        covariance = std::pow(kHabits[i - constants()].deviation, 2);
      }
      variance += slope[i] * slope[k] * covariance;
    }
  }
  return std::sqrt(variance);
}

ShardedPeak ShardedMemoryModel::estimate(const ShardedMemoryCase& it) const {
  const auto found = software_.find(it.software);
  const bool known = found != software_.end();
  const std::span<const double> x(fitted_.values);
  std::span<const double> habits;
  if (known) habits = x.subspan(constants() + kHabits.size() * found->second, kHabits.size());
  const Bytes mean = fullest_peak(it, habitual_law(x.first(constants()), habits));
  constexpr double kTenth = 1.2816;  // Deviations that one in ten lies beyond.
  const double reach = std::exp(kTenth * deviation(it, known));
  return {.mean = mean, .p10 = mean / reach, .p90 = reach * mean};
}

ShardedMemoryLaw ShardedMemoryModel::law() const {
  ShardedMemoryLaw law = habitual_law(std::span(fitted_.values).first(constants()), {});
  law.spread = spread_;
  return law;
}

Calibration ShardedMemoryModel::to_calibration(const std::string& name) const {
  Calibration calibration{.name = name};
  std::vector<std::size_t> identified;
  for (std::size_t k = 0; k < constants(); ++k) {
    const ShardedMemoryConstant& it = sharded_memory_constants()[k];
    const double value = std::exp(fitted_.values[k]);
    const double prior = ShardedMemoryLaw{}.*it.member;
    calibration.constants.push_back({.name = it.name,
                                     .scope = kShardedMemoryScope,
                                     .value = value,
                                     .unit = it.unit,
                                     .deviation = value * std::sqrt(fitted_.covariance[k][k]),
                                     .prior_mean = prior,
                                     .prior_deviation = prior * it.deviation,
                                     .identified = fitted_.identified[k]});
    if (fitted_.identified[k]) identified.push_back(k);
  }
  for (const std::size_t i : identified) {
    std::vector<double> row;
    for (const std::size_t k : identified) {
      row.push_back(fitted_.covariance[i][k] * std::exp(fitted_.values[i] + fitted_.values[k]));
    }
    calibration.covariance.push_back(std::move(row));
  }
  calibration.constants.push_back({.name = "spread",
                                   .scope = kShardedMemoryScope,
                                   .value = spread_,
                                   .unit = "1",
                                   .identified = false});
  return calibration;
}

Bytes plain_peak(const ShardedMemoryCase& it) {
  constexpr double kStateBytes = 16;
  constexpr double kActivationBytes = 34;
  const ParallelLayout& layout = it.setup.layout;
  const ShardedShape& size = it.setup.shape;
  const double shards = layout.zero >= 3 ? static_cast<double>(layout.data) * layout.context : 1;
  const double tokens = layout.micro_batch * size.tokens(it.setup.sequence) / layout.context;
  const double layers = size.layers / layout.pipeline;
  return (kStateBytes * size.worker_parameters(layout) / shards +
          kActivationBytes * tokens * size.hidden * layers / layout.tensor) *
         kByte;
}

}  // namespace stint
