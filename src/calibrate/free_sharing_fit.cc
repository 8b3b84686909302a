#include "calibrate/free_sharing_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/normal.h"
#include "base/parallel.h"
#include "calibrate/score.h"
#include "calibrate/space_sharing.h"

namespace stint {
namespace {

using TwoJobs = std::pair<std::string, std::string>;

TwoJobs jobs_of(const PackedPair& pair) {
  return std::minmax(pair.first.job.job, pair.second.job.job);
}

/// Logarithms of predicted over measured rates, by device.
using LogErrors = std::map<std::string, std::vector<double>>;

Seconds step(const PackedSide& side) { return 1 / *side.alone; }

/// The pairs of `left_out`, predicted from those that hold neither of them; none without such.
LogErrors errors_without(const std::vector<PackedPair>& pairs, const TwoJobs& left_out) {
  const auto holds = [](const PackedPair& pair, const std::string& job) {
    return pair.first.job.job == job || pair.second.job.job == job;
  };
  std::vector<PackedPair> rest;
  for (const PackedPair& it : pairs) {
    if (!holds(it, left_out.first) && !holds(it, left_out.second)) rest.push_back(it);
  }
  const auto model = SpaceSharing::fit(rest);
  if (!model.ok()) return {};
  const FreeSharingLaw law = model->law_of_strangers();
  LogErrors errors;
  for (const PackedPair& it : pairs) {
    if (jobs_of(it) != left_out) continue;
    const FreeShares shares = free_shares(law, it.device, {step(it.first), step(it.second)});
    const auto add = [&](const PackedSide& side, double share) {
      errors[it.device].push_back(std::log(share * *side.alone / *side.packed));
    };
    add(it.first, shares.share[0]);
    add(it.second, shares.share[1]);
  }
  return errors;
}

/// The deviation of a normal distribution whose middle eight tenths span this.
double spread_of(std::vector<double> log_errors) {
  for (double& it : log_errors) it = std::abs(it);
  std::sort(log_errors.begin(), log_errors.end());
  return quantile(log_errors, 0.8) / normal_quantile(0.9);
}

AccuracyRecord record_of(const LogErrors& all) {
  std::vector<double> errors;
  for (const auto& [device, log_errors] : all) {
    for (const double it : log_errors) errors.push_back(std::abs(std::exp(it) - 1));
  }
  std::sort(errors.begin(), errors.end());
  double sum = 0;
  for (const double it : errors) sum += it;
  return {.name = "pairs of jobs never seen",
          .split = "leave-both-jobs-out",
          .n = static_cast<int>(errors.size()),
          .mape = sum / static_cast<double>(errors.size()),
          .median_ape = quantile(errors, 0.5),
          .p90_ape = quantile(errors, 0.9)};
}

/// With every two jobs held out in turn.
LogErrors errors_of_strangers(const std::vector<PackedPair>& pairs) {
  std::set<TwoJobs> both;
  for (const PackedPair& it : pairs) both.insert(jobs_of(it));
  const std::vector<TwoJobs> turns(both.begin(), both.end());
  std::vector<LogErrors> parts(turns.size());
  for_each_parallel(turns.size(),
                    [&](std::size_t i) { parts[i] = errors_without(pairs, turns[i]); });
  LogErrors errors;
  for (const LogErrors& part : parts) {
    for (const auto& [device, more] : part) {
      errors[device].insert(errors[device].end(), more.begin(), more.end());
    }
  }
  return errors;
}

}  // namespace

Result<FreeSharingFit> fit_free_sharing(std::span<const PackedPair> pairs) {
  std::vector<PackedPair> taught;
  std::set<std::string> jobs;
  for (const PackedPair& it : pairs) {
    if (!it.in_steps || !can_teach_sharing(it)) continue;
    taught.push_back(it);
    jobs.insert({it.first.job.job, it.second.job.job});
  }
  const auto model = SpaceSharing::fit(taught);
  if (!model.ok()) return model.error();
  const LogErrors errors = errors_of_strangers(taught);
  if (errors.empty()) {
    return bad_input(
        "the error on unseen jobs cannot be estimated: no two pairs have four different jobs; give "
        "more pairs");
  }
  FreeSharingFit fit{.law = model->law_of_strangers(),
                     .pairs = static_cast<int>(taught.size()),
                     .jobs = {jobs.begin(), jobs.end()},
                     .error = record_of(errors)};
  for (const auto& [device, log_errors] : errors) {
    const double spread = spread_of(log_errors);
    fit.law.devices.at(device).spread = spread;
    fit.law.elsewhere.spread = std::max(fit.law.elsewhere.spread, spread);
  }
  for (auto& [name, device] : fit.law.devices) {
    if (!errors.contains(name)) device.spread = fit.law.elsewhere.spread;
  }
  return fit;
}

}  // namespace stint
