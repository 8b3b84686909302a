#include "calibrate/sharded/sharded_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "base/check.h"
#include "solver/least_squares.h"

namespace stint {
namespace {

constexpr double kNoise = 0.05;      // Of one row, relative.
constexpr double kRowNoise = 0.02;   // Of one row beside what the law misses at its setup.
constexpr double kRobustBeyond = 2;  // Deviations of it.
constexpr double kTableDeviation = 0.1;
constexpr double kGpuDeviation = 0.05;
constexpr double kJobDeviation = 0.06;
constexpr double kSoftwareDeviation = 0.1;
constexpr double kOddDeviation = 0.3;
constexpr double kOddUnseen = 1;  // Some jobs are five times as slow on odd placements, others not.
constexpr double kCarriedShare = 0.5;  // Of the prior deviation, between tables.
constexpr double kReach = 6;           // Deviations that an unknown may move.

constexpr const char* kGpuScope = "sharded gpu";

/// Constants that every table has around those that all share, and the deviation between tables:
/// what software and hosts decide. Without them, one table's launches bend the products of all.
struct TableConstant {
  const char* name;
  double ShardedLaw::*member;
  double deviation;
};

constexpr std::array kTableConstants = {
    TableConstant{"product", &ShardedLaw::product, 0.1},
    TableConstant{"launch", &ShardedLaw::launch, 0.6},
    TableConstant{"sweep", &ShardedLaw::sweep, 0.25},
    TableConstant{"network_efficiency", &ShardedLaw::network_efficiency, 0.3},
};

std::string table_key(const std::string& table, const TableConstant& constant) {
  return fmt::format("own: {}: {}", table, constant.name);
}

/// The effects that a row has: a key, and the deviation of effects of its kind.
struct EffectKey {
  std::string key;
  double deviation;
  std::optional<double> unseen = {};  // Deviation where there is no row, if it is another one.
};

std::vector<EffectKey> effect_keys(const ShardedRow& row, bool several_tables) {
  std::vector<EffectKey> keys{{"gpu: " + row.gpu, kGpuDeviation},
                              {fmt::format("job: {}: {}", row.table, row.job), kJobDeviation}};
  if (several_tables) keys.push_back({"table: " + row.table, kTableDeviation});
  if (!row.software.empty()) {
    keys.push_back({fmt::format("software: {}: {}", row.table, row.software), kSoftwareDeviation});
  }
  // Jobs take detours between VMs in ways of their own.
  if (row.odd_placement) {
    keys.push_back(
        {fmt::format("odd: {}: {}{}", row.table, row.job, row.offloads_update ? " (offload)" : ""),
         kOddDeviation});
  }
  return keys;
}

/// The law at constants `x`, moved by the `own` ones of a table.
ShardedLaw law_at(std::span<const double> x, std::span<const double> own = {}) {
  ShardedLaw law;
  std::size_t i = 0;
  for (const ShardedConstant& constant : sharded_constants()) {
    law.*constant.member = std::exp(x[i++]);
  }
  for (std::size_t k = 0; k < own.size(); ++k) {
    law.*kTableConstants[k].member *= std::exp(own[k]);
  }
  return law;
}

double log_law(const ShardedCase& it, const ShardedLaw& law) {
  return std::log(sharded_step(it.setup, law).total().in(kSecond));
}

}  // namespace

ShardedPriors physical_priors() {
  ShardedPriors priors;
  const ShardedLaw law;
  for (const ShardedConstant& it : sharded_constants()) {
    priors.constants.push_back({.mean = std::log(law.*it.member), .deviation = it.deviation});
  }
  return priors;
}

Result<ShardedPriors> calibrated_priors(const Calibration& calibration) {
  const auto law = sharded_law(calibration);
  if (!law.ok()) return law.error();
  ShardedPriors priors;
  for (const ShardedConstant& it : sharded_constants()) {
    const double value = (*law).*it.member;
    double posterior = 0;
    for (const Constant& constant : calibration.constants) {
      if (constant.scope == kShardedScope && constant.name == it.name) {
        posterior = constant.deviation.value_or(0) / value;
      }
    }
    const double between = kCarriedShare * it.deviation;
    priors.constants.push_back(
        {.mean = std::log(value), .deviation = std::hypot(posterior, between)});
  }
  for (const Constant& constant : calibration.constants) {
    if (constant.scope != kGpuScope) continue;
    priors.gpus[constant.name] = {
        .mean = constant.value,
        .deviation = std::hypot(constant.deviation.value_or(kGpuDeviation), kTableDeviation)};
  }
  return priors;
}

namespace {

/// Whether each constant changes the time of some row; the others stay where they are believed.
std::vector<bool> moving_constants(const CasePointers& rows, const ShardedPriors& priors) {
  constexpr double kMove = 0.2;
  constexpr double kSeen = 1e-6;
  std::vector<double> x;
  for (const ConstantBelief& belief : priors.constants) x.push_back(belief.mean);
  const ShardedLaw middle = law_at(x);
  std::vector<bool> moving(x.size(), false);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] += kMove;
    const ShardedLaw moved = law_at(x);
    x[i] -= kMove;
    moving[i] = std::any_of(rows.begin(), rows.end(), [&](const ShardedCase* it) {
      return std::abs(log_law(*it, moved) - log_law(*it, middle)) > kSeen;
    });
  }
  return moving;
}

/// Residuals of rows. Effects are the first unknowns, so that their derivatives, which come right
/// after the middle was computed, need no times of the law.
class ShardedResiduals {
 public:
  ShardedResiduals(const CasePointers& rows, ShardedFitRows facts, std::vector<double> believed,
                   std::vector<std::size_t> constants, std::size_t first)
      : rows_(rows),
        facts_(std::move(facts)),
        point_(std::move(believed)),
        constants_(std::move(constants)),
        first_(first) {
    for (std::size_t i = 0; i < rows_.size(); ++i) tables_[facts_.own[i]].rows.push_back(i);
    logs_.resize(rows_.size());
  }

  void operator()(std::span<const double> x, std::span<double> residuals) {
    bool moved = false;
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      moved = moved || point_[constants_[i]] != x[first_ + i];
      point_[constants_[i]] = x[first_ + i];
    }
    for (auto& [numbers, table] : tables_) {
      std::vector<double> own;
      for (const std::size_t number : numbers) own.push_back(x[number]);
      if (!moved && table.known && own == table.own) continue;
      const ShardedLaw law = law_at(point_, own);
      for (const std::size_t i : table.rows) logs_[i] = log_law(*rows_[i], law);
      table.own = std::move(own);
      table.known = true;
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      double predicted = logs_[i];
      for (const std::size_t effect : facts_.effects[i]) predicted += x[effect];
      residuals[i] = (predicted - facts_.log_times[i]) / facts_.noise[i];
    }
  }

 private:
  /// The rows that share constants of their own, and where these stood when their times were
  /// computed.
  struct Table {
    std::vector<std::size_t> rows;
    std::vector<double> own;
    bool known = false;
  };

  const CasePointers& rows_;
  ShardedFitRows facts_;
  std::vector<double> point_;  // Of all constants, and the times of the law there.
  std::vector<double> logs_;
  std::vector<std::size_t> constants_;
  std::size_t first_;
  std::map<std::vector<std::size_t>, Table> tables_;  // By the numbers of their own constants.
};

Unknown unknown_of(const ConstantBelief& belief, double start) {
  const double least = belief.mean - kReach * belief.deviation;
  const double most = belief.mean + kReach * belief.deviation;
  return {.prior_mean = belief.mean,
          .prior_deviation = belief.deviation,
          .start = std::clamp(start, least, most),
          .min = least,
          .max = most};
}

}  // namespace

ShardedFitRows ShardedStepModel::collect(const CasePointers& rows, const ShardedStepModel* near,
                                         std::vector<Unknown>& unknowns) {
  std::map<std::string, double> count;
  for (const ShardedCase* it : rows) ++count[it->row.table];
  several_tables_ = count.size() > 1;
  ShardedFitRows facts;
  for (const ShardedCase* it : rows) {
    CHECK(is_measured(*it));
    std::vector<std::size_t>& own = facts.effects.emplace_back();
    for (const EffectKey& key : effect_keys(it->row, several_tables_)) {
      const auto [found, added] = effects_.try_emplace(key.key, unknowns.size());
      own.push_back(found->second);
      if (!added) continue;
      const auto known = priors_.gpus.find(it->row.gpu);
      const bool carried = key.key.starts_with("gpu: ") && known != priors_.gpus.end();
      const ConstantBelief belief = carried ? known->second : ConstantBelief{0, key.deviation};
      double start = belief.mean;
      if (near != nullptr) {
        const auto before = near->effects_.find(key.key);
        if (before != near->effects_.end()) start = near->values_[before->second];
      }
      unknowns.push_back(unknown_of(belief, start));
    }
    std::vector<std::size_t>& moved = facts.own.emplace_back();
    for (const TableConstant& constant : kTableConstants) {
      if (!several_tables_) break;
      const std::string key = table_key(it->row.table, constant);
      const auto [found, added] = effects_.try_emplace(key, unknowns.size());
      moved.push_back(found->second);
      if (!added) continue;
      const bool known = near != nullptr && near->effects_.contains(key);
      unknowns.push_back(
          unknown_of({0, constant.deviation}, known ? near->values_[near->effects_.at(key)] : 0));
    }
    facts.log_times.push_back(std::log(it->row.time->in(kSecond)));
    facts.noise.push_back(kNoise * std::sqrt(std::max(1.0, count[it->row.table] / kRowsMost)));
  }
  return facts;
}

Result<ShardedStepModel> ShardedStepModel::fit(const CasePointers& rows,
                                               const ShardedPriors& priors,
                                               const ShardedStepModel* near) {
  ShardedStepModel model;
  model.priors_ = priors;
  if (rows.empty()) {
    model.keep({}, {});
    return model;
  }
  LeastSquares problem{.rows = rows.size(), .robust_beyond = kRobustBeyond, .iterations_max = 40};
  ShardedFitRows facts = model.collect(rows, near, problem.unknowns);
  const std::size_t first = problem.unknowns.size();
  const std::vector<bool> moving = moving_constants(rows, priors);
  std::vector<std::size_t> constants;
  std::vector<double> believed;
  for (std::size_t i = 0; i < moving.size(); ++i) {
    const ConstantBelief& belief = priors.constants[i];
    believed.push_back(belief.mean);
    if (!moving[i]) continue;
    constants.push_back(i);
    const double start = near == nullptr ? belief.mean : near->values_[i];
    problem.unknowns.push_back(unknown_of(belief, start));
  }
  problem.residuals =
      ShardedResiduals(rows, std::move(facts), std::move(believed), constants, first);
  const auto fitted = stint::fit(problem);
  if (!fitted.ok()) return fitted.error();
  model.keep(*fitted, constants);
  std::vector<double> residuals;
  std::vector<Neighbour> neighbours;
  for (const ShardedCase* it : rows) {
    residuals.push_back(std::log(it->row.time->in(kSecond)) - model.log_time(*it, model.values_));
    neighbours.push_back(model.neighbour(*it));
  }
  model.missed_ = NearbyResiduals(neighbours, residuals);
  return model;
}

/// Puts constants first and effects behind them; constants that no row moves keep their prior.
void ShardedStepModel::keep(const Fitted& fitted, const std::vector<std::size_t>& constants) {
  const std::size_t count = priors_.constants.size();
  const std::size_t first = effects_.size();
  std::vector<std::size_t> place(fitted.values.size());  // Of each unknown of the fit.
  for (auto& [key, number] : effects_) {
    place[number] = count + number;
    number += count;
  }
  for (std::size_t i = 0; i < constants.size(); ++i) place[first + i] = constants[i];
  values_.assign(count + first, 0);
  identified_.assign(count + first, false);
  covariance_.assign(count + first, std::vector<double>(count + first, 0));
  for (std::size_t i = 0; i < count; ++i) {
    values_[i] = priors_.constants[i].mean;
    covariance_[i][i] = priors_.constants[i].deviation * priors_.constants[i].deviation;
  }
  for (std::size_t i = 0; i < place.size(); ++i) {
    values_[place[i]] = fitted.values[i];
    identified_[place[i]] = fitted.identified[i];
    for (std::size_t j = 0; j < place.size(); ++j) {
      covariance_[place[i]][place[j]] = fitted.covariance[i][j];
    }
  }
}

double ShardedStepModel::log_time(const ShardedCase& it, std::span<const double> x) const {
  std::vector<double> own;
  for (const TableConstant& constant : kTableConstants) {
    const auto found = effects_.find(table_key(it.row.table, constant));
    if (found == effects_.end()) break;
    own.push_back(x[found->second]);
  }
  double sum = log_law(it, law_at(x, own));
  for (const EffectKey& key : effect_keys(it.row, several_tables_)) {
    const auto found = effects_.find(key.key);
    if (found != effects_.end()) sum += x[found->second];
  }
  return sum;
}

ShardedStepModel ShardedStepModel::on(const NeighbourScales& scales) const {
  ShardedStepModel model = *this;
  model.missed_ = missed_.on(scales);
  return model;
}

Neighbour ShardedStepModel::neighbour(const ShardedCase& it) const {
  return {.row = it.row, .cost = log_law(it, law()) - std::log(step_at_peak(it.setup).in(kSecond))};
}

ShardedStepModel::Estimate ShardedStepModel::estimate(const ShardedCase& it) const {
  constexpr double kStep = 1e-4;
  double variance = kNoise * kNoise;
  std::vector<std::size_t> moving;
  double carried = 0;
  for (std::size_t i = 0; i < priors_.constants.size(); ++i) moving.push_back(i);
  for (const EffectKey& key : effect_keys(it.row, several_tables_)) {
    const auto found = effects_.find(key.key);
    if (found != effects_.end()) {
      moving.push_back(found->second);
      continue;
    }
    const auto known = priors_.gpus.find(it.row.gpu);
    if (key.key.starts_with("gpu: ") && known != priors_.gpus.end()) {
      variance += known->second.deviation * known->second.deviation;
      carried += known->second.mean;
    } else {
      const double unseen = key.unseen.value_or(key.deviation);
      variance += unseen * unseen;
    }
  }
  const std::size_t effects = moving.size();
  for (const TableConstant& constant : kTableConstants) {
    const auto found = effects_.find(table_key(it.row.table, constant));
    if (found != effects_.end()) moving.push_back(found->second);
  }
  const double middle = log_time(it, values_);
  std::vector<double> slopes;
  std::vector<double> x = values_;
  for (const std::size_t i : moving) {
    double slope = 1;  // Of an effect.
    if (i < priors_.constants.size() || slopes.size() >= effects) {
      x[i] = values_[i] + kStep;
      slope = (log_time(it, x) - middle) / kStep;
      x[i] = values_[i];
    }
    slopes.push_back(slope);
  }
  for (std::size_t a = 0; a < moving.size(); ++a) {
    for (std::size_t b = 0; b < moving.size(); ++b) {
      variance += slopes[a] * slopes[b] * covariance_[moving[a]][moving[b]];
    }
  }
  const NearbyResiduals::Value missed = missed_.at(neighbour(it));
  variance = std::max(variance - kNoise * kNoise, 0.0) + kRowNoise * kRowNoise + missed.variance;
  return {.log_time = middle + carried + missed.mean, .deviation = std::sqrt(variance)};
}

ShardedLaw ShardedStepModel::law() const { return law_at(values_); }

ShardedPriors ShardedStepModel::carried() const {
  ShardedPriors priors;
  for (std::size_t i = 0; i < priors_.constants.size(); ++i) {
    const double between = kCarriedShare * priors_.constants[i].deviation;
    priors.constants.push_back(
        {.mean = values_[i], .deviation = std::sqrt(covariance_[i][i] + between * between)});
  }
  priors.gpus = priors_.gpus;
  for (const auto& [key, number] : effects_) {
    if (!key.starts_with("gpu: ")) continue;
    priors.gpus[key.substr(5)] = {
        .mean = values_[number],
        .deviation = std::sqrt(covariance_[number][number] + kTableDeviation * kTableDeviation)};
  }
  return priors;
}

Calibration ShardedStepModel::to_calibration() const {
  Calibration calibration;
  std::vector<std::size_t> numbers;  // Of the constants among the unknowns.
  std::size_t i = 0;
  for (const ShardedConstant& it : sharded_constants()) {
    const double value = std::exp(values_[i]);
    calibration.constants.push_back(
        {.name = it.name,
         .scope = kShardedScope,
         .value = value,
         .unit = it.unit,
         .deviation = value * std::sqrt(covariance_[i][i]),
         .prior_mean = std::exp(priors_.constants[i].mean),
         .prior_deviation = std::exp(priors_.constants[i].mean) * priors_.constants[i].deviation,
         .identified = identified_[i]});
    numbers.push_back(i);
    ++i;
  }
  for (const auto& [key, number] : effects_) {
    if (!key.starts_with("gpu: ")) continue;
    calibration.constants.push_back({.name = key.substr(5),
                                     .scope = kGpuScope,
                                     .value = values_[number],
                                     .unit = "1",
                                     .deviation = std::sqrt(covariance_[number][number]),
                                     .identified = true});
    numbers.push_back(number);
  }
  // Of the values themselves: constants were fitted in their logarithms, effects are logarithms.
  const auto slope = [&](std::size_t number) {
    return number < priors_.constants.size() ? std::exp(values_[number]) : 1;
  };
  for (std::size_t a = 0; a < numbers.size(); ++a) {
    if (!in_covariance(calibration.constants[a])) continue;
    std::vector<double>& line = calibration.covariance.emplace_back();
    for (std::size_t b = 0; b < numbers.size(); ++b) {
      if (!in_covariance(calibration.constants[b])) continue;
      line.push_back(slope(numbers[a]) * slope(numbers[b]) * covariance_[numbers[a]][numbers[b]]);
    }
  }
  return calibration;
}

}  // namespace stint
