#include "app/plan/explain_case.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/normal.h"
#include "plan/miss_charge.h"
#include "predict/law.h"

namespace stint {
namespace {

constexpr std::pair<const char*, Dollars Bill::*> kBillParts[] = {
    {"compute", &Bill::compute},
    {"communication", &Bill::exposed_communication},
    {"work redone", &Bill::work_redone},
    {"checkpoints", &Bill::saving},
    {"set-up", &Bill::set_up},
    {"idle", &Bill::idle},
    {"anchors", &Bill::anchors},
    {"storage", &Bill::storage},
    {"egress", &Bill::egress}};

template <class Q>
std::vector<PartOf<Q>> with_shares(std::vector<PartOf<Q>> parts, Q whole) {
  for (PartOf<Q>& part : parts) part.share = whole == Q{} ? 0 : part.amount / whole;
  return parts;
}

std::vector<PartOf<Dollars>> bill_parts(const Plan& plan) {
  std::vector<PartOf<Dollars>> parts;
  if (!plan.bill) return parts;
  for (const auto& [name, field] : kBillParts) parts.push_back({name, (*plan.bill).*field});
  return with_shares(std::move(parts), total(*plan.bill));
}

std::vector<PartOf<Seconds>> time_parts(const Plan& plan) {
  std::vector<PartOf<Seconds>> parts;
  if (!plan.prediction) return parts;
  const IterationTime& iteration = plan.prediction->iteration;
  for (const auto& [name, field] : iteration_parts()) {
    parts.push_back({name, iteration.parts.*field});
  }
  return with_shares(std::move(parts), iteration.mean);
}

/// The parts of all iterations, where their number is known.
std::vector<PartOf<Seconds>> training_parts(const Plan& plan) {
  if (!plan.iterations) return {};
  std::vector<PartOf<Seconds>> parts = time_parts(plan);
  for (auto& part : parts) part.amount = static_cast<double>(*plan.iterations) * part.amount;
  return parts;
}

/// The part that makes most of the difference of `theirs` from `ours`; both list the same parts.
template <class Q>
std::optional<PartOf<Q>> main_difference(const std::vector<PartOf<Q>>& ours,
                                         const std::vector<PartOf<Q>>& theirs, Q difference) {
  if (ours.empty() || theirs.empty() || difference == Q{}) return std::nullopt;
  CHECK(ours.size() == theirs.size());
  std::optional<PartOf<Q>> most;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const Q amount = theirs[i].amount - ours[i].amount;
    const double share = amount / difference;
    if (!most || share > most->share) most = PartOf<Q>{ours[i].name, amount, share};
  }
  return most->share > 0 ? most : std::nullopt;
}

/// What does not follow the price of VMs.
Dollars beside_vms(const Plan& plan) {
  return plan.bill ? plan.bill->storage + plan.bill->egress : Dollars{};
}

/// What does not follow the time of iterations either.
Dollars beside_iterations(const Plan& plan) {
  return beside_vms(plan) + (plan.bill ? plan.bill->set_up : Dollars{});
}

std::optional<double> fraction(Dollars part, Dollars whole) {
  if (whole <= Dollars{}) return std::nullopt;
  return part / whole;
}

/// The factor that the risk of missing the deadline puts on the cost of a plan.
double risk_of(const PlanGoal& goal, const Plan& plan) {
  if (!goal.miss_charge) return 1;
  return risk_factor({.bills = *goal.miss_charge}, plan.p_deadline.value_or(1));
}

/// Cost is what decides unless time was asked for; points of a front have no order.
std::optional<OrderFlip> flip_of(const PlanAnswer& answer, const Plan& plan, const RunnerUp& next) {
  if (!answer.goal || answer.goal->policy) return std::nullopt;
  const std::string& objective = answer.goal->objective;
  OrderFlip flip;
  const double risk = risk_of(*answer.goal, next.plan) / risk_of(*answer.goal, plan);
  const Dollars rise = risk * next.plan.cost.mean - plan.cost.mean;
  if (objective == "cost" && rise >= Dollars{}) {
    flip.price_up = fraction(rise, plan.cost.mean - beside_vms(plan));
    flip.price_down = fraction(rise / risk, next.plan.cost.mean - beside_vms(next.plan));
    flip.time_up = fraction(rise, plan.cost.mean - beside_iterations(plan));
  } else if (objective == "time" && next.longer >= Seconds{}) {
    flip.time_up = next.longer / plan.time.mean;
  } else {
    return std::nullopt;
  }
  flip.time_interval = (plan.time.p90 - plan.time.p10) / (2 * plan.time.mean);
  if (flip.time_up)
    flip.chance = 1 - chance_within(plan.time, (1 + *flip.time_up) * plan.time.mean);
  return flip;
}

std::optional<RunnerUp> runner_up_of(const PlanAnswer& answer, std::size_t row) {
  if (row + 1 >= answer.plans.size()) return std::nullopt;
  const Plan& plan = answer.plans[row];
  const Plan& other = answer.plans[row + 1];
  RunnerUp next{.row = row + 1,
                .plan = other,
                .dearer = other.cost.mean - plan.cost.mean,
                .longer = other.time.mean - plan.time.mean};
  next.dearer_by = main_difference(bill_parts(plan), bill_parts(other), next.dearer);
  next.longer_by = main_difference(training_parts(plan), training_parts(other), next.longer);
  next.flip = flip_of(answer, plan, next);
  return next;
}

std::optional<LaterPlan> later_of(const PlanAnswer& answer, const Plan& plan) {
  if (!answer.goal || !answer.goal->deadline) return std::nullopt;
  std::optional<LaterPlan> found;
  for (const Plan& other : answer.front) {
    const Seconds kept = limit_kept(other.time, answer.goal->confidence);
    const bool helps = other.cost.mean < plan.cost.mean && kept > *answer.goal->deadline;
    if (!helps || (found && found->deadline <= kept)) continue;
    found = {.plan = other, .deadline = kept, .saved = plan.cost.mean - other.cost.mean};
  }
  return found;
}

}  // namespace

double chance_within(const TimeRange& time, Seconds limit) {
  const double centre = 0.5 * (std::log(time.p10.in(kSecond)) + std::log(time.p90.in(kSecond)));
  const double deviation = std::log(time.p90 / time.p10) / (2 * kEightInTen);
  const double distance = std::log(limit.in(kSecond)) - centre;
  if (deviation <= 0) return distance >= 0 ? 1 : 0;
  return normal_distribution(distance / deviation);
}

Seconds limit_kept(const TimeRange& time, double confidence) {
  CHECK(confidence > 0);
  CHECK(confidence < 1);
  const Seconds centre = std::sqrt(time.p10 / time.p90) * time.p90;
  const double deviation = std::log(time.p90 / time.p10) / (2 * kEightInTen);
  return std::exp(normal_quantile(confidence) * deviation) * centre;
}

Explanation explain(const PlanAnswer& answer, std::size_t row) {
  CHECK(row < answer.plans.size());
  const Plan& plan = answer.plans[row];
  Explanation it{.job = answer.job,
                 .goal = answer.goal,
                 .row = row,
                 .plan = plan,
                 .bill = bill_parts(plan),
                 .iteration = time_parts(plan)};
  std::erase_if(it.bill, [](const PartOf<Dollars>& part) { return part.amount == Dollars{}; });
  std::stable_sort(it.bill.begin(), it.bill.end(),
                   [](const auto& a, const auto& b) { return a.amount > b.amount; });
  if (plan.prediction && plan.iterations) {
    it.training = static_cast<double>(*plan.iterations) * plan.prediction->iteration.mean;
  }
  it.runner_up = runner_up_of(answer, row);
  it.later = later_of(answer, plan);
  return it;
}

}  // namespace stint
