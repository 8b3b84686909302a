#include "calibrate/epoch_law.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "predict/law.h"
#include "solver/least_squares.h"

namespace stint {
namespace {

constexpr double kHalfNoise = 10;        // Epochs to a target at which half of s counts.
constexpr double kPriorDeviation = 0.4;  // Of ln s and ln c of what workloads share,
constexpr double kOwnDeviation = 0.5;    // and of one workload around it.
constexpr double kLawNoise = 0.35;       // What the law misses at a batch,
constexpr double kRounding = 0.3;        // epochs are whole: ± 0.3 of one,
constexpr double kSeedNoise = 0.06;      // and seeds differ: Zeus' repeats.
constexpr double kCellsMost = 3;         // That a workload counts as, however many it has.
constexpr double kEpochsLeast = 2;       // Of a cell that is fitted to: one epoch tells nothing.
constexpr double kPriorSpread = 0.35;    // Of workloads that are held out, as many as
constexpr double kPriorWorkloads = 2;
constexpr double kPriorBatchSpread = 0.2;  // Of batches that are held out, as many as
constexpr double kPriorBatches = 4;
constexpr double kFullDistance = 2;  // Doublings of the batch at which the spread is whole.

double squared(double value) { return value * value; }

/// ln of the ideal epochs of a target, from ln epochs at its batches.
double ideal_of(const EpochLaw& law, const std::map<int, double>& batches, int smallest) {
  constexpr int kRounds = 30;
  double ideal = batches.begin()->second;
  for (int round = 0; round < kRounds; ++round) {
    double sum = 0;
    for (const auto& [batch, log_epochs] : batches) {
      sum += log_epochs -
             epochs_over_ideal(law, std::exp(ideal), static_cast<double>(batch) / smallest);
    }
    ideal = sum / static_cast<double>(batches.size());
  }
  return ideal;
}

int smallest_batch(const std::map<double, std::map<int, double>>& targets) {
  int smallest = targets.begin()->second.begin()->first;
  for (const auto& [target, batches] : targets)
    smallest = std::min(smallest, batches.begin()->first);
  return smallest;
}

/// The cells of a workload that tell something about its law, as residuals in deviations.
void append_residuals(const std::map<double, std::map<int, double>>& targets, const EpochLaw& law,
                      std::vector<double>& residuals) {
  const int smallest = smallest_batch(targets);
  std::vector<double> own;
  for (const auto& [target, batches] : targets) {
    if (batches.size() < 2) continue;
    const double ideal = ideal_of(law, batches, smallest);
    for (const auto& [batch, log_epochs] : batches) {
      if (log_epochs < std::log(kEpochsLeast)) continue;
      const double off =
          log_epochs - ideal -
          epochs_over_ideal(law, std::exp(ideal), static_cast<double>(batch) / smallest);
      own.push_back(off / std::hypot(kLawNoise, kRounding / std::exp(log_epochs)));
    }
  }
  const double weight = std::sqrt(std::min(1.0, kCellsMost / static_cast<double>(own.size())));
  for (const double it : own) residuals.push_back(weight * it);
}

/// The mean square of what the law of other workloads misses at batches well above the smallest,
/// when only that one is known; nothing where no cell tells.
std::optional<double> held_out_square(const std::map<double, std::map<int, double>>& targets,
                                      const EpochLaw& shared) {
  const int smallest = smallest_batch(targets);
  double sum = 0;
  int count = 0;
  for (const auto& [target, batches] : targets) {
    const auto known = batches.find(smallest);
    if (known == batches.end()) continue;
    const double ideal = ideal_of(shared, {*known}, smallest);
    for (const auto& [batch, log_epochs] : batches) {
      const double ratio = static_cast<double>(batch) / smallest;
      const bool tells = std::log2(ratio) >= kFullDistance && log_epochs >= std::log(kEpochsLeast);
      if (!tells) continue;
      sum += squared(log_epochs - ideal - epochs_over_ideal(shared, std::exp(ideal), ratio));
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

/// What a law misses at a batch, and how far the nearest known batch is, in doublings.
struct Missed {
  double value = 0;
  double distance = std::numeric_limits<double>::infinity();
};

/// Between two known batches what the law misses is interpolated; beyond them it stays as it is.
template <class Law>
Missed missed_at(const std::map<int, double>& batches, double batch, Law law) {
  const auto missed = [&](auto it) { return it->second - law(it->first); };
  const auto away = [&](auto it) { return std::abs(std::log2(batch / it->first)); };
  const auto above = batches.lower_bound(static_cast<int>(std::ceil(batch)));
  if (above == batches.begin() || above == batches.end()) {
    const auto end = above == batches.end() ? std::prev(above) : above;
    return {missed(end), away(end)};
  }
  const auto below = std::prev(above);
  const double share = away(below) / (away(below) + away(above));
  return {(1 - share) * missed(below) + share * missed(above), std::min(away(below), away(above))};
}

/// ln of the epochs at a batch, from those of the same target at others.
Missed log_epochs_at(const EpochLaw& law, const std::map<int, double>& batches, int smallest,
                     double batch) {
  const double ideal = ideal_of(law, batches, smallest);
  const auto law_at = [&](double at) {
    return ideal + epochs_over_ideal(law, std::exp(ideal), at / smallest);
  };
  const Missed missed = missed_at(batches, batch, law_at);
  return {std::max(0.0, law_at(batch) + missed.value), missed.distance};
}

/// The mean square of what is off when each batch in turn is predicted from the others, and how
/// many batches that are.
std::pair<double, double> held_out_batches(const std::map<double, std::map<int, double>>& targets,
                                           const EpochLaw& law) {
  constexpr std::size_t kBatchesLeast = 3;
  const int smallest = smallest_batch(targets);
  std::set<int> held_out;
  double sum = 0;
  int count = 0;
  for (const auto& [target, batches] : targets) {
    if (batches.size() < kBatchesLeast) continue;
    for (const auto& [batch, log_epochs] : batches) {
      if (log_epochs < std::log(kEpochsLeast)) continue;
      std::map<int, double> others = batches;
      others.erase(batch);
      sum += squared(log_epochs - log_epochs_at(law, others, smallest, batch).value);
      held_out.insert(batch);
      ++count;
    }
  }
  return {count > 0 ? sum / count : 0, static_cast<double>(held_out.size())};
}

}  // namespace

double epochs_over_ideal(const EpochLaw& law, double ideal, double ratio) {
  const double slow = law.noise * ideal / (ideal + kHalfNoise);
  return std::log(1 + slow / ratio + ratio / law.steps);
}

EpochModel::Workloads EpochModel::cells_of(std::span<const EpochTargetRow> rows) {
  std::map<std::tuple<std::string, double, int>, std::pair<double, int>> sums;
  for (const EpochTargetRow& row : rows) {
    if (!row.epochs) continue;
    auto& [sum, count] = sums[{row.workload, row.target, row.batch}];
    sum += *row.epochs;
    ++count;
  }
  Workloads cells;
  for (const auto& [key, sum] : sums) {
    const auto& [workload, target, batch] = key;
    cells[workload][target][batch] = std::log(sum.first / sum.second);
  }
  return cells;
}

Result<EpochLaw> EpochModel::fitted(const std::vector<const Targets*>& workloads,
                                    const EpochLaw& prior, double deviation) {
  const auto residuals_at = [&](const EpochLaw& law) {
    std::vector<double> residuals;
    for (const Targets* it : workloads) append_residuals(*it, law, residuals);
    return residuals;
  };
  LeastSquares problem{.rows = residuals_at(prior).size()};
  if (problem.rows == 0) return prior;
  constexpr double kReach = 4;
  for (const double value : {std::log(prior.noise), std::log(prior.steps)}) {
    problem.unknowns.push_back({.prior_mean = value,
                                .prior_deviation = deviation,
                                .start = value,
                                .min = value - kReach * deviation,
                                .max = value + kReach * deviation});
  }
  problem.residuals = [&](std::span<const double> x, std::span<double> out) {
    const std::vector<double> found =
        residuals_at({.noise = std::exp(x[0]), .steps = std::exp(x[1])});
    std::copy(found.begin(), found.end(), out.begin());
  };
  const auto found = stint::fit(problem);
  if (!found.ok()) return found.error();
  return EpochLaw{.noise = std::exp(found->values[0]), .steps = std::exp(found->values[1])};
}

Result<EpochLaw> EpochModel::shared_law(const Workloads& cells, const std::string& without) {
  std::vector<const Targets*> others;
  for (const auto& [name, targets] : cells) {
    if (name != without) others.push_back(&targets);
  }
  return fitted(others, {}, kPriorDeviation);
}

Result<std::map<std::string, EpochLaw>> EpochModel::laws_of(const Workloads& cells) {
  std::map<std::string, EpochLaw> laws;
  for (const auto& [name, targets] : cells) {
    const auto shared = shared_law(cells, name);
    if (!shared.ok()) return shared.error();
    const auto own = fitted({&targets}, *shared, kOwnDeviation);
    if (!own.ok()) return own.error();
    laws[name] = *own;
  }
  return laws;
}

Result<EpochModel> EpochModel::fit(std::span<const EpochTargetRow> rows) {
  EpochModel model;
  model.cells_ = cells_of(rows);
  auto laws = laws_of(model.cells_);
  if (!laws.ok()) return laws.error();
  model.laws_ = std::move(*laws);
  double squares = kPriorWorkloads * squared(kPriorSpread);
  double weight = kPriorWorkloads;
  double batch_squares = kPriorBatches * squared(kPriorBatchSpread);
  double batch_weight = kPriorBatches;
  for (const auto& [name, targets] : model.cells_) {
    const auto [square, batches] = held_out_batches(targets, model.laws_.at(name));
    batch_squares += batches * square;
    batch_weight += batches;
    const auto shared = shared_law(model.cells_, name);
    if (!shared.ok()) return shared.error();
    if (const auto whole = held_out_square(targets, *shared)) {
      squares += *whole;
      weight += 1;
    }
  }
  model.spread_ = std::sqrt(squares / weight);
  for (const auto& [name, targets] : model.cells_) {
    const auto [square, batches] = held_out_batches(targets, model.laws_.at(name));
    const double all = batch_squares / batch_weight;
    model.batch_spreads_[name] =
        std::sqrt((kPriorBatches * all + batches * square) / (kPriorBatches + batches));
  }
  return model;
}

std::optional<StepsEstimate> EpochModel::estimate(const std::string& workload, double target,
                                                  double batch) const {
  const auto found = cells_.find(workload);
  if (found == cells_.end()) return std::nullopt;
  const auto cell = found->second.find(target);
  if (cell == found->second.end()) return std::nullopt;
  const Missed it =
      log_epochs_at(laws_.at(workload), cell->second, smallest_batch(found->second), batch);
  const double near = std::min(1.0, it.distance / kFullDistance);
  const double apart = cell->second.size() == 1 ? near * spread_ : batch_spreads_.at(workload);
  const double deviation =
      std::hypot(kSeedNoise, kRounding / std::exp(it.value), it.distance > 0 ? apart : 0.0);
  const double epochs = std::exp(it.value);
  return StepsEstimate{.steps = epochs,
                       .p10 = epochs * std::exp(-kEightInTen * deviation),
                       .p90 = epochs * std::exp(kEightInTen * deviation)};
}

std::optional<double> baseline_epochs(StepsBaseline baseline, std::span<const EpochTargetRow> rows,
                                      const EpochTargetRow& asked) {
  const bool steps = baseline == StepsBaseline::kConstantSteps;
  if (!steps && baseline != StepsBaseline::kConstantSamples) return std::nullopt;
  double distance = std::numeric_limits<double>::infinity();
  double sum = 0;
  int count = 0;
  for (const EpochTargetRow& row : rows) {
    if (!row.epochs || row.workload != asked.workload || row.target != asked.target) continue;
    const double ratio = static_cast<double>(asked.batch) / row.batch;
    const double away = std::abs(std::log(ratio));
    if (away > distance) continue;
    if (away < distance) sum = count = 0;
    distance = away;
    sum += *row.epochs * (steps ? ratio : 1);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

}  // namespace stint
