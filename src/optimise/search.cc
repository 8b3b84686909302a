#include "optimise/search.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/normal.h"

namespace stint {
namespace {

/// Equal times have the same number of steps; it never falls when the time rises.
double time_step(Seconds time) { return std::floor(std::log(time.in(kSecond)) / kTimesEqual); }

}  // namespace

Seconds fastest_as_good(Seconds time) {
  return std::min(time, std::exp(kTimesEqual * time_step(time)) * kSecond);
}

Judge::Judge(const Evaluator& evaluator)
    : evaluator_(evaluator), by_time_(evaluator.question().objective == Objective::kTime) {
  const Constraints& constraints = evaluator.question().constraints;
  const bool weighs = constraints.deadline && evaluator.question().objective == Objective::kCost;
  if (weighs) miss_ = constraints.miss;
  deadline_confidence_ = miss_ ? miss_->least : constraints.confidence;
  const auto width = [](double confidence, double deviation) {
    return std::exp(std::max(0.0, normal_quantile(confidence)) * deviation);
  };
  constexpr double kRounding = 1 + 1e-9;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < evaluator.question().work.choices.size(); ++i) {
    const double deviation = evaluator.deviation_min(static_cast<int>(i));
    time_max_.push_back(kRounding / width(deadline_confidence_, deviation) *
                        constraints.deadline.value_or(kNever * kSecond));
    cost_max_.push_back(kRounding / width(constraints.confidence, deviation) *
                        constraints.budget.value_or(kNever * kDollar));
  }
}

bool Judge::may_pass(int choice, Seconds time, Dollars cost) const {
  const auto index = static_cast<std::size_t>(choice);
  return time <= time_max_[index] && cost <= cost_max_[index];
}

bool Judge::may_last(std::span<const Part> parts, int choice, Seconds work) const {
  const Constraints& constraints = evaluator_.question().constraints;
  if (!constraints.deadline || parts.empty()) return true;
  Config config{.kinds = static_cast<int>(parts.size()), .choice = choice};
  std::copy(parts.begin(), parts.end(), config.parts.begin());
  if (!evaluator_.risk().has_spot(config)) return true;
  const double deviation = evaluator_.deviation_min(choice);
  for (const SaveChoice& save : evaluator_.risk().choices(config)) {
    config.save = save;
    if (evaluator_.p_within_at_most(config, work, *constraints.deadline, deviation) >=
        deadline_confidence_) {
      return true;
    }
  }
  return false;
}

bool Judge::affordable(const Outcome& outcome) const {
  const auto& most = evaluator_.question().constraints.rate_max;
  constexpr double kRounding = 1 + 1e-9;
  return !most || outcome.cost <= kRounding * (*most * outcome.paid);
}

bool Judge::passes(const Found& found) const { return value_below(found, kWorstValue).has_value(); }

std::optional<Value> Judge::value_below(const Found& found, const Value& limit) const {
  const Outcome& outcome = found.outcome;
  const Value least = value(outcome);
  if (!affordable(outcome) || least >= limit) return std::nullopt;
  const Constraints& constraints = evaluator_.question().constraints;
  if (!constraints.deadline && !constraints.budget) return least;
  // Losses only make a run longer and dearer: what fails without them fails.
  const Dollars cost = evaluator_.rate(found.config) * outcome.work;
  if (!may_pass(found.config.choice, outcome.work, cost)) return std::nullopt;
  const double prices = constraints.budget ? evaluator_.price_deviation(found) : 0;
  const auto may_be_kept = [&](double deviation) {
    if (constraints.deadline) {
      const double kept = probability_within(*constraints.deadline / outcome.work, deviation);
      if (kept < deadline_confidence_ || with_risk(least, kept) >= limit) return false;
    }
    return !constraints.budget ||
           probability_within(*constraints.budget / cost, std::hypot(deviation, prices)) >=
               constraints.confidence;
  };
  // Most that fail do so by the parts of their deviation that are quickly had.
  if (!may_be_kept(evaluator_.deviation_min(found.config, outcome)) ||
      !may_be_kept(evaluator_.deviation_part(found.config, outcome))) {
    return std::nullopt;
  }
  const double deviation = evaluator_.deviation(found.config, outcome);
  const auto kept = [&](auto limit_of, double confidence) -> std::optional<double> {
    if (!limit_of) return 1;
    const double probability = evaluator_.p_within(found, *limit_of, deviation);
    return probability >= confidence ? std::optional(probability) : std::nullopt;
  };
  const auto in_time = kept(constraints.deadline, deadline_confidence_);
  if (!in_time || !kept(constraints.budget, constraints.confidence)) return std::nullopt;
  const Value value = with_risk(least, *in_time);
  return value < limit ? std::optional(value) : std::nullopt;
}

Value Judge::with_risk(Value value, double probability) const {
  if (miss_) value.first *= risk_factor(*miss_, probability);
  return value;
}

Value Judge::value_at_best(int choice, const LeastRun& least) const {
  const Value best = value(least.time, least.cost);
  if (!miss_) return best;
  const Seconds deadline = *evaluator_.question().constraints.deadline;
  constexpr double kRounding = 1e-9;
  const double kept =
      probability_within(deadline / least.work, evaluator_.deviation_min(choice)) + kRounding;
  return with_risk(best, std::min(1.0, kept));
}

Value Judge::value(Seconds time, Dollars cost) const {
  if (by_time_) return {time_step(time), cost.in(kDollar)};
  return {cost.in(kDollar), time.in(kSecond)};
}

Leaders::Leaders(std::size_t families, int rows)
    : leaders_(families),
      limits_(families, kWorstValue),
      rows_(static_cast<std::size_t>(std::max(1, rows))) {}

void Leaders::add(std::size_t family, const Found& found, const Value& value) {
  if (value >= limits_[family]) return;
  leaders_[family] = {value, found};
  std::vector<Value> values;
  for (const Leader& leader : leaders_) values.push_back(leader.value);
  const auto last =
      values.begin() + static_cast<std::ptrdiff_t>(std::min(rows_, values.size()) - 1);
  std::nth_element(values.begin(), last, values.end());
  const Value worst = *last;
  const Value best = *std::min_element(values.begin(), last + 1);
  for (std::size_t i = 0; i < leaders_.size(); ++i) {
    limits_[i] = i == mixed() ? best : std::min(worst, leaders_[i].value);
  }
}

Value Leaders::best() const {
  Value best = kWorstValue;
  for (const Leader& leader : leaders_) best = std::min(best, leader.value);
  return best;
}

std::vector<Found> Leaders::rows() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < leaders_.size(); ++i) {
    if (leaders_[i].found) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return leaders_[a].value < leaders_[b].value;
  });
  std::vector<Found> rows;
  for (const std::size_t i : order) {
    // A mixed cluster that was overtaken since is no longer of interest.
    if (i == mixed() && !rows.empty()) continue;
    if (rows.size() < rows_) rows.push_back(*leaders_[i].found);
  }
  return rows;
}

bool Search::counts(std::size_t family, Seconds time, Dollars cost) const {
  return judge.value(time, cost) < leaders.limit(family) ||
         (front != nullptr && front->wants(time, cost));
}

bool Search::leads_at_best(std::size_t family, int choice, const LeastRun& least) const {
  const Value& limit = leaders.limit(family);
  if (judge.value(least.time, least.cost) >= limit) return false;
  return !judge.weighs_risk() || judge.value_at_best(choice, least) < limit;
}

bool Search::wants(std::size_t family, int choice, const LeastRun& least,
                   std::span<const Part> parts) const {
  if (!prunes) return true;
  const bool leads = leads_at_best(family, choice, least);
  const bool on_front = front != nullptr && front->wants(least.time, least.cost);
  if (!leads && !on_front) return false;
  if (on_front && !front_passes) return true;
  // Limits hold at a confidence, which losses may leave as it is; see Judge::passes.
  return judge.may_pass(choice, least.work, least.work_cost) &&
         judge.may_last(parts, choice, least.work);
}

bool Search::wants(std::size_t family, const Box& box, const BoxWork& work) const {
  if (!prunes) return true;
  const auto least = boxes.least(box, work);
  if (!least) return false;
  const bool may_pass = judge.may_pass(work.choice, least->work, least->work_cost);
  if (may_pass && leads_at_best(family, work.choice, *least)) return true;
  if (front == nullptr || (front_passes && !may_pass)) return false;
  return front->wants(least->time, least->cost);
}

bool Search::offer(std::size_t family, Config config, Seconds iteration) {
  // Most that are evaluated are of use on one market, or in one region, only.
  const Seconds work = evaluator.choice_of(config).iterations * iteration;
  const LeastRun least = evaluator.risk().least(config.used(), evaluator.rate(config), work);
  if (prunes && !counts(family, least.time, least.cost)) return false;
  bool refused = false;
  for (const SaveChoice& save : evaluator.risk().choices(config)) {
    config.save = save;
    const auto outcome = evaluator.outcome(config, iteration);
    if (outcome && offer(family, {config, *outcome})) refused = true;
  }
  return refused;
}

bool Search::offer(std::size_t family, const Found& found) {
  const Value& limit = leaders.limit(family);
  const Value least = judge.value(found.outcome);
  const bool leads = least < limit;
  const bool on_front = front != nullptr && front->wants(found.outcome.time, found.outcome.cost);
  if (!leads && !on_front) return false;
  if (!judge.affordable(found.outcome)) return true;
  const auto value = leads ? judge.value_below(found, limit) : std::nullopt;
  // What is surer may be better than what is worth less for its risk.
  const bool refused = leads && (!value || least < *value);
  if (value) leaders.add(family, found, *value);
  if (!on_front) return refused;
  const bool passes = leads ? value.has_value() : front_passes && judge.passes(found);
  if (passes || !front_passes) front->add(found);
  return refused || (front_passes && !passes);
}

Families families_of(const Space& space) {
  Families families;
  std::map<std::pair<const VmType*, Market>, std::size_t> known;
  for (const Rental& rental : space.rentals) {
    const VmType* type = space.machines[static_cast<std::size_t>(rental.machine)].type;
    const auto at = known.emplace(std::make_pair(type, rental.market), known.size());
    families.of.push_back(at.first->second);
  }
  families.count = known.size() + 1;
  return families;
}

}  // namespace stint
