#include "app/risk/run_summary.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/normal.h"

namespace stint {
namespace {

template <class Quantity>
RunSpread<Quantity> spread_of(std::vector<Quantity> values, Quantity unit) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  Quantity sum;
  for (const Quantity value : values) sum += value;
  const Quantity mean = sum / n;
  double square = 0;
  for (const Quantity value : values) square += std::pow((value - mean).in(unit), 2);
  return {.mean = mean,
          .p10 = sorted_quantile(values, 0.1),
          .p50 = sorted_quantile(values, 0.5),
          .p90 = sorted_quantile(values, 0.9),
          .standard_error = std::sqrt(square) / n * unit};
}

void add_share(Bill& sum, const Bill& bill, double share) {
  sum.compute += share * bill.compute;
  sum.exposed_communication += share * bill.exposed_communication;
  sum.work_redone += share * bill.work_redone;
  sum.saving += share * bill.saving;
  sum.set_up += share * bill.set_up;
  sum.idle += share * bill.idle;
  sum.anchors += share * bill.anchors;
  sum.storage += share * bill.storage;
  sum.egress += share * bill.egress;
}

}  // namespace

RunSummary summary_of(const std::vector<RunOutcome>& outcomes, std::optional<Seconds> deadline,
                      std::optional<Dollars> budget) {
  CHECK(!outcomes.empty());
  const double share = 1 / static_cast<double>(outcomes.size());
  RunSummary summary{.runs = static_cast<int>(outcomes.size())};
  std::vector<Seconds> times;
  std::vector<Dollars> costs;
  int in_time = 0;
  int in_budget = 0;
  int finished = 0;
  for (const RunOutcome& outcome : outcomes) {
    times.push_back(outcome.time);
    costs.push_back(total(outcome.bill));
    add_share(summary.bill, outcome.bill, share);
    summary.losses += share * outcome.losses;
    summary.machines_lost += share * outcome.machines_lost;
    if (!outcome.finished) continue;
    ++finished;
    in_time += deadline && outcome.time <= *deadline ? 1 : 0;
    in_budget += budget && costs.back() <= *budget ? 1 : 0;
  }
  summary.time = spread_of(std::move(times), kSecond);
  summary.cost = spread_of(std::move(costs), kDollar);
  summary.finished = share * finished;
  if (deadline) summary.p_deadline = share * in_time;
  if (budget) summary.p_budget = share * in_budget;
  return summary;
}

}  // namespace stint
