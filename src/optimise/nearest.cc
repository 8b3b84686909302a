#include "optimise/nearest.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/normal.h"
#include "base/text.h"
#include "optimise/answer.h"
#include "optimise/solve.h"
#include "predict/law.h"
#include "predict/work_time.h"

namespace stint {
namespace {

/// A way to ask for less, and what to say when that helps.
struct Concession {
  std::function<void(PlanQuestion&)> make;
  std::function<std::string(const PlanQuestion&)> binding;
};

std::string duration(Seconds time) {
  if (time >= kHour) return fmt::format("{:.4g} h", time.in(kHour));
  if (time >= kMinute) return fmt::format("{:.4g} min", time.in(kMinute));
  return fmt::format("{:.4g} s", time.in(kSecond));
}

std::string percent(double share) { return fmt::format("{:.4g} %", 100 * share); }

void drop_deadline(PlanQuestion& question) {
  question.constraints.deadline.reset();
  question.objective = Objective::kTime;
}

void drop_budget(PlanQuestion& question) {
  question.constraints.budget.reset();
  question.objective = Objective::kCost;
}

void drop_rate(PlanQuestion& question) { question.constraints.rate_max.reset(); }

void drop_quotas(PlanQuestion& question) { question.constraints.quotas.clear(); }

std::vector<Concession> concessions(const Constraints& constraints) {
  std::vector<Concession> all;
  if (constraints.budget) {
    all.push_back({drop_budget, [](const PlanQuestion& question) {
                     return fmt::format(
                         "The budget of {:.2f} USD cannot be met with {} probability.",
                         question.constraints.budget->in(kDollar),
                         percent(question.constraints.confidence));
                   }});
  }
  if (constraints.rate_max) {
    all.push_back(
        {drop_rate, [](const PlanQuestion& question) {
           return fmt::format(
               "No cluster that meets the other constraints is expected to cost at most {:.4g} "
               "USD/h.",
               question.constraints.rate_max->in(kDollar / kHour));
         }});
  }
  if (constraints.deadline) {
    all.push_back({drop_deadline, [](const PlanQuestion& question) {
                     const Constraints& limits = question.constraints;
                     const bool weighed = limits.miss && question.objective == Objective::kCost;
                     return fmt::format("The deadline of {} cannot be met with {} probability.",
                                        duration(*limits.deadline),
                                        percent(weighed ? limits.miss->least : limits.confidence));
                   }});
  }
  if (!constraints.quotas.empty()) {
    all.push_back({drop_quotas, [](const PlanQuestion& question) {
                     std::vector<std::string> texts;
                     for (const Quota& quota : question.constraints.quotas) {
                       texts.push_back(to_text(quota));
                     }
                     return fmt::format("The quotas {} leave too few VMs.", fmt::join(texts, ", "));
                   }});
  }
  all.push_back({[](PlanQuestion& question) {
                   drop_budget(question);
                   drop_rate(question);
                   drop_quotas(question);
                   drop_deadline(question);
                 },
                 [](const PlanQuestion&) -> std::string {
                   return "Deadline, budget and quotas cannot be met together, and dropping any "
                          "one of them does not help.";
                 }});
  return all;
}

/// The value of what a plan takes and costs at most, at the confidence.
Value value_at(const Evaluator& evaluator, const Judge& judge, const Found& found,
               double confidence) {
  const double deviation = evaluator.deviation(found.config, found.outcome);
  return judge.value(evaluator.time_at(found, confidence, deviation),
                     evaluator.cost_at(found, confidence, deviation));
}

/// Of the best plans of the question as it is now, the one whose time or cost is least at the
/// confidence.
Result<std::optional<NearestPlan>> best_plan(const PlanQuestion& question,
                                             const PlanQuestion& asked, const Clock& clock) {
  auto space = plan_space(question, Sharding::kAllowed);
  if (!space.ok()) return space.error();
  if (space->rentals.empty()) return std::optional<NearestPlan>{};
  Solve solve(question, std::move(*space));
  const std::vector<std::string> disabled = {kRelaxationPass};
  Passes passes(clock, disabled);
  solve.run(passes);
  const Evaluator& evaluator = solve.evaluator();
  const Judge judge(evaluator);
  const double confidence = asked.constraints.confidence;
  std::vector<Found> candidates = solve.leaders();
  for (const Found& found : solve.front().points()) {
    if (judge.passes(found)) candidates.push_back(found);
  }
  const Found* best = nullptr;
  Value least = kWorstValue;
  for (const Found& found : candidates) {
    const Value value = value_at(evaluator, judge, found, confidence);
    if (value >= least) continue;
    least = value;
    best = &found;
  }
  if (best == nullptr) return std::optional<NearestPlan>{};
  NearestPlan nearest{.plan = plan_of(evaluator, *best)};
  state_misses(asked.constraints, nearest);
  return std::optional<NearestPlan>{std::move(nearest)};
}

}  // namespace

void state_misses(const Constraints& limits, NearestPlan& nearest) {
  Plan& plan = nearest.plan;
  const double sure = normal_quantile(limits.confidence);
  if (limits.deadline) {
    const double deviation = std::log(plan.time.p90 / plan.time.mean) / kEightInTen;
    plan.p_deadline = probability_within(*limits.deadline / plan.time.mean, deviation);
    const Seconds late = std::exp(sure * deviation) * plan.time.mean - *limits.deadline;
    if (late > Seconds{}) nearest.late = late;
  }
  if (limits.budget) {
    const double deviation = std::log(plan.cost.p90 / plan.cost.mean) / kEightInTen;
    plan.p_budget = probability_within(*limits.budget / plan.cost.mean, deviation);
    const Dollars dearer = std::exp(sure * deviation) * plan.cost.mean - *limits.budget;
    if (dearer > Dollars{}) nearest.dearer = dearer;
  }
}

namespace {

/// What to do about a model whose states no accelerator holds; empty for other jobs.
std::string sharding_hint(const PredictContext& context) {
  if (!context.job.work) return "";
  Bytes largest;
  for (const Gpu& gpu : context.catalog.gpus) {
    largest = std::max(largest, gpu.memory.value_or(Bytes{}));
  }
  const Bytes need = work_memory(context.job, 1);
  if (need <= largest) return "";
  return fmt::format(
      ". One sample needs {:.0f} GB, more than the {:.0f} GB of any GPU, and no layout that splits "
      "the model fits; allow more VMs, or try --method lora, a shorter --seq or a smaller model",
      need.in(kGB), largest.in(kGB));
}

}  // namespace

Result<NearestPlan> nearest_plan(const PlanQuestion& question, const Clock& clock) {
  for (const Concession& concession : concessions(question.constraints)) {
    PlanQuestion eased = question;
    concession.make(eased);
    auto nearest = best_plan(eased, question, clock);
    if (!nearest.ok()) return nearest.error();
    if (!*nearest) continue;
    (*nearest)->binding = concession.binding(question);
    return std::move(**nearest);
  }
  const auto space = plan_space(question, Sharding::kAllowed);
  if (!space.ok()) return space.error();
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : space->excluded) {
    reasons.push_back(fmt::format("{} {}", count, reason));
  }
  // What is left can hold a sample, though not its share of any batch; or it is lost too often.
  if (!space->machines.empty()) {
    const bool spot = std::all_of(space->rentals.begin(), space->rentals.end(),
                                  [](const Rental& rental) { return rental.spot.has_value(); });
    reasons.push_back(fmt::format(
        "{} batch does not fit into memory{}", space->machines.size(),
        spot ? ", or a checkpoint rarely completes before the next spot interruption" : ""));
  }
  return Error{
      ErrorKind::kInfeasible,
      fmt::format("no VM type of the catalogue can run the job {}: {}{}", question.context.job.name,
                  fmt::join(reasons, ", "), sharding_hint(question.context))};
}

}  // namespace stint
