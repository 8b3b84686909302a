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

/// Neighbours as they are believed to tell about each other, and where layouts of a job hardly
/// differ.
constexpr NeighbourScales kScales[] = {{.layout = 1, .slope = 0},
                                       {.layout = 1, .slope = 0, .robust = true},
                                       {.layout = 4, .slope = 0, .robust = true},
                                       {.layout = 4, .slope = 0.5, .robust = true}};

/// What is wrong with held-out rows on each of the scales: logarithms and their deviations.
struct HeldOutRow {
  double error = 0;
  double deviation = 0;
};

using HeldOutRows = std::vector<std::vector<HeldOutRow>>;

Result<HeldOutRows> held_out_rows(Novelty novelty, const CasePointers& rows,
                                  const ShardedPriors& priors, const ShardedStepModel& near) {
  HeldOutRows found(std::size(kScales));
  for (const InnerFold& fold : inner_folds(novelty, rows)) {
    const auto model = ShardedStepModel::fit(fold.train, priors, &near);
    if (!model.ok()) return model.error();
    for (std::size_t k = 0; k < found.size(); ++k) {
      const ShardedStepModel scaled = k == 0 ? *model : model->on(kScales[k]);
      for (const ShardedCase* it : fold.test) {
        const ShardedStepModel::Estimate estimate = scaled.estimate(*it);
        found[k].push_back(
            {std::log(it->row.time->in(kSecond)) - estimate.log_time, estimate.deviation});
      }
    }
  }
  return found;
}

double sum_of_errors(const std::vector<HeldOutRow>& rows) {
  double sum = 0;
  for (const HeldOutRow& it : rows) sum += std::abs(it.error);
  return sum;
}

/// The scales with the least errors; others than the usual ones have to be better by more than
/// chance is, 1 / √n of n rows.
std::size_t best_scales(const HeldOutRows& rows) {
  std::size_t best = 0;
  const double chance = 1 / std::sqrt(std::max<double>(1, static_cast<double>(rows[0].size())));
  for (std::size_t k = 1; k < rows.size(); ++k) {
    const double least = sum_of_errors(rows[best]) * (best == 0 ? 1 - chance : 1);
    if (sum_of_errors(rows[k]) < least) best = k;
  }
  return best;
}

/// Factors of the sides of an interval, from those of one side and of both,
///
///   f_side^w f_both^(1 − w),  w = groups / (groups + 4)
///
/// The signs of a few groups are a matter of chance.
LogSpread factors_of(const std::vector<HeldOutRow>& rows, std::size_t groups) {
  constexpr double kBelief = 4;  // Groups.
  HeldOutErrors sides;
  HeldOutErrors both;
  for (const HeldOutRow& it : rows) {
    const LogSpread spread{.below = it.deviation, .above = it.deviation};
    sides.add(it.error, spread, 1);
    both.add(it.error, spread, 1);
    both.add(-it.error, spread, 1);
  }
  const auto count = static_cast<double>(groups);
  const double weight = count / (count + kBelief);
  const LogSpread side = sides.factors(groups);
  const double middle = both.factors(groups).above;
  const auto factor = [&](double it) {
    return std::pow(it, weight) * std::pow(middle, 1 - weight);
  };
  return {.below = factor(side.below), .above = factor(side.above)};
}

std::size_t groups_of(Novelty novelty, const CasePointers& rows) {
  std::set<std::string> groups;
  for (const ShardedCase* it : rows) groups.insert(group_key(novelty, it->row));
  return groups.size();
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
  const auto model = ShardedStepModel::fit(result.train_, priors);
  if (!model.ok()) return model.error();
  for (const ShardedCase* it : test) {
    if (!it->row.unusable.empty()) continue;
    const Novelty novelty = novelty_of(it->row, result.train_);
    if (result.learned_.contains(novelty)) continue;
    const auto rows = held_out_rows(novelty, result.train_, priors, *model);
    if (!rows.ok()) return rows.error();
    const std::size_t best = best_scales(*rows);
    Learned& learned = result.learned_[novelty];
    learned.model = best == 0 ? *model : model->on(kScales[best]);
    learned.factors = {.below = 1, .above = 1};
    if (rows->front().empty()) continue;
    const std::size_t groups = groups_of(novelty, result.train_);
    learned.factors = factors_of((*rows)[best], groups > 1 ? groups : rows->front().size());
  }
  return result;
}

Forecast ShardedForecaster::forecast(const ShardedCase& it) const {
  if (!it.row.unusable.empty()) return {.note = it.row.unusable};
  const Learned& learned = learned_.at(novelty_of(it.row, train_));
  const ShardedStepModel::Estimate estimate = learned.model.estimate(it);
  const double reach = kEightInTen * estimate.deviation;
  return {.time = std::exp(estimate.log_time) * kSecond,
          .p10 = std::exp(estimate.log_time - reach * learned.factors.below) * kSecond,
          .p90 = std::exp(estimate.log_time + reach * learned.factors.above) * kSecond};
}

}  // namespace stint
