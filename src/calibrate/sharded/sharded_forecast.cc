#include "calibrate/sharded/sharded_forecast.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/check.h"
#include "calibrate/held_out_width.h"
#include "calibrate/score.h"

namespace stint {
namespace {

constexpr std::size_t kFoldsMost = 5;

/// The training rows of one held-out fold.
struct InnerFold {
  CasePointers train;
  CasePointers test;
};

template <class IsTest>
InnerFold inner_fold(const CasePointers& rows, IsTest is_test) {
  InnerFold fold;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    (is_test(i, rows[i]->row) ? fold.test : fold.train).push_back(rows[i]);
  }
  return fold;
}

std::string group_key(Novelty novelty, const ShardedRow& row) {
  switch (novelty) {
    case Novelty::kGpu:
      return row.gpu;
    case Novelty::kHidden:
      return std::to_string(row.shape.hidden);
    case Novelty::kJob:
      return row.job;
    case Novelty::kSoftware:
      return row.software;
    case Novelty::kWorkers:
    case Novelty::kSequence:
    case Novelty::kNone:
      return "";
  }
  CHECK(false);
}

double size_key(Novelty novelty, const ShardedRow& row) {
  return novelty == Novelty::kWorkers ? row.gpus : row.sequence;
}

/// Folds that hold out what `novelty` says: groups, the largest sizes, or rows.
std::vector<InnerFold> inner_folds(Novelty novelty, const CasePointers& rows) {
  std::vector<InnerFold> folds;
  if (novelty == Novelty::kNone) {
    for (std::size_t k = 0; k < kFoldsMost; ++k) {
      folds.push_back(inner_fold(
          rows, [&](std::size_t i, const ShardedRow& /*row*/) { return i % kFoldsMost == k; }));
    }
  } else if (novelty == Novelty::kWorkers || novelty == Novelty::kSequence) {
    std::set<double> sizes;
    for (const ShardedCase* it : rows) sizes.insert(size_key(novelty, it->row));
    std::vector<double> cuts(sizes.begin(), sizes.end());
    if (cuts.size() > kFoldsMost) cuts.erase(cuts.begin(), cuts.end() - kFoldsMost);
    for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
      folds.push_back(inner_fold(rows, [&](std::size_t /*i*/, const ShardedRow& row) {
        return size_key(novelty, row) > cuts[k];
      }));
    }
  } else {
    std::set<std::string> keys;
    for (const ShardedCase* it : rows) keys.insert(group_key(novelty, it->row));
    std::size_t number = 0;
    std::map<std::string, std::size_t> fold_of;  // Of many groups several are held out at once.
    for (const std::string& key : keys) fold_of[key] = number++ % kFoldsMost;
    for (std::size_t k = 0; keys.size() > 1 && k < std::min(kFoldsMost, keys.size()); ++k) {
      folds.push_back(inner_fold(rows, [&](std::size_t /*i*/, const ShardedRow& row) {
        return fold_of[group_key(novelty, row)] == k;
      }));
    }
  }
  std::erase_if(folds, [](const InnerFold& it) { return it.train.empty() || it.test.empty(); });
  return folds;
}

Result<LogSpread> learned_factors(Novelty novelty, const CasePointers& rows,
                                  const ShardedPriors& priors, const ShardedStepModel& near) {
  if (rows.empty()) return LogSpread{.below = 1, .above = 1};
  const bool by_group = !group_key(novelty, rows.front()->row).empty();
  std::set<std::string> groups;
  for (const ShardedCase* it : rows) groups.insert(group_key(novelty, it->row));
  HeldOutErrors errors;
  std::size_t count = 0;
  for (const InnerFold& fold : inner_folds(novelty, rows)) {
    const auto model = ShardedStepModel::fit(fold.train, priors, &near);
    if (!model.ok()) return model.error();
    for (const ShardedCase* it : fold.test) {
      const ShardedStepModel::Estimate estimate = model->estimate(*it);
      const LogSpread spread{.below = estimate.deviation, .above = estimate.deviation};
      errors.add(std::log(it->row.time->in(kSecond)) - estimate.log_time, spread, 1);
      ++count;
    }
  }
  if (count == 0) return LogSpread{.below = 1, .above = 1};
  // Groups have several rows each, that tell more than one row of each would.
  return errors.factors(by_group ? 2 * groups.size() : count);
}

}  // namespace

Novelty novelty_of(const ShardedRow& row, const CasePointers& train) {
  bool gpu = true;
  bool hidden = true;
  bool job = true;
  bool software = true;
  bool workers = true;
  bool sequence = true;
  for (const ShardedCase* it : train) {
    const ShardedRow& other = it->row;
    if (other.table != row.table) continue;
    gpu = gpu && other.gpu != row.gpu;
    hidden = hidden && other.shape.hidden != row.shape.hidden;
    job = job && other.job != row.job;
    software = software && other.software != row.software;
    workers = workers && other.gpus < row.gpus;
    sequence = sequence && other.sequence < row.sequence;
  }
  if (gpu) return Novelty::kGpu;
  if (job) return hidden ? Novelty::kHidden : Novelty::kJob;
  if (software) return Novelty::kSoftware;
  if (workers) return Novelty::kWorkers;
  return sequence ? Novelty::kSequence : Novelty::kNone;
}

Result<ShardedForecaster> ShardedForecaster::fit(const CasePointers& train,
                                                 const CasePointers& test,
                                                 const ShardedPriors& priors) {
  ShardedForecaster result;
  for (const ShardedCase* it : train) {
    if (is_measured(*it)) result.train_.push_back(it);
  }
  auto model = ShardedStepModel::fit(result.train_, priors);
  if (!model.ok()) return model.error();
  result.model_ = std::move(*model);
  for (const ShardedCase* it : test) {
    if (!it->row.unusable.empty()) continue;
    const Novelty novelty = novelty_of(it->row, result.train_);
    if (result.factors_.contains(novelty)) continue;
    auto factors = learned_factors(novelty, result.train_, priors, result.model_);
    if (!factors.ok()) return factors.error();
    result.factors_[novelty] = *factors;
  }
  return result;
}

Forecast ShardedForecaster::forecast(const ShardedCase& it) const {
  if (!it.row.unusable.empty()) return {.note = it.row.unusable};
  const ShardedStepModel::Estimate estimate = model_.estimate(it);
  const LogSpread& factors = factors_.at(novelty_of(it.row, train_));
  const double reach = kEightInTen * estimate.deviation;
  return {.time = std::exp(estimate.log_time) * kSecond,
          .p10 = std::exp(estimate.log_time - reach * factors.below) * kSecond,
          .p90 = std::exp(estimate.log_time + reach * factors.above) * kSecond};
}

}  // namespace stint
