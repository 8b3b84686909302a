#include "optimise/optimise.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/check.h"
#include "optimise/answer.h"
#include "optimise/implied.h"
#include "optimise/nearest.h"
#include "optimise/plan_posterior.h"
#include "optimise/solve.h"

namespace stint {
namespace {

Status check_passes(const PlanQuestion& question) {
  for (const std::string& name : question.disabled_passes) {
    const auto passes = switchable_passes();
    const bool known = std::any_of(passes.begin(), passes.end(),
                                   [&](const PassName& pass) { return pass.name == name; });
    if (known) continue;
    std::vector<std::string> names;
    for (const PassName& pass : passes) names.emplace_back(pass.name);
    return bad_usage(fmt::format("there is no optional pass '{}'; the optional passes are {}", name,
                                 fmt::join(names, ", ")));
  }
  return {};
}

/// What is proven of the best plan, in what is minimised.
void add_bounds(const Solve& solve, PlanAnswer& answer) {
  // With one or two VMs there are no more than two kinds of them.
  const bool mixes = solve.evaluator().question().constraints.vms_max > 2;
  if (mixes || !solve.complete()) answer.relaxed_bound = solve.relaxed_bound();
  if (answer.plans.empty()) return;
  const Plan& best = answer.plans.front();
  switch (solve.evaluator().question().objective) {
    case Objective::kCost:
      if (solve.complete()) answer.bound = best.cost.mean;
      if (!solve.complete() && answer.relaxed_bound) {
        answer.bound = std::min(best.cost.mean, *answer.relaxed_bound);
      }
      if (answer.bound) answer.gap = 1 - *answer.bound / best.cost.mean;
      if (answer.relaxed_bound) {
        answer.relaxed_bound = std::min(*answer.relaxed_bound, best.cost.mean);
      }
      return;
    case Objective::kTime:
      if (!solve.complete()) return;
      answer.time_bound = fastest_as_good(best.time.mean);
      answer.gap = 1 - *answer.time_bound / best.time.mean;
      return;
    case Objective::kKnee:
    case Objective::kFront:
      if (!solve.complete()) return;
      answer.bound = answer.front.back().cost.mean;
      answer.time_bound = answer.front.front().time.mean;
      answer.gap = 0;
      return;
  }
}

/// Leaves only what a point beside the plans is looked at for.
void shorten(Plan& plan) {
  plan.prediction.reset();
  plan.bill.reset();
  plan.layout.reset();
}

/// How sure it is that the first plan is best, and what knowing would be worth.
void add_posterior(const Solve& solve, PassReport& report, PlanAnswer& answer) {
  const std::vector<Found> leaders = solve.leaders();
  const std::vector<Found> others = solve.others();
  report.kept = static_cast<std::int64_t>(leaders.size() + others.size());
  if (leaders.empty()) return;
  const Posterior doubt = posterior(solve.evaluator(), leaders, others);
  for (std::size_t i = 0; i < answer.plans.size(); ++i) answer.plans[i].p_best = doubt.p_best[i];
  if (solve.evaluator().question().objective == Objective::kCost) {
    answer.value_of_measuring = doubt.regret;
  }
}

/// The cheapest plan that keeps the deadline with the confidence, where the risk of missing it was
/// weighed and the first plan is less sure; nothing where no plan is.
Result<std::optional<Plan>> safer_plan(const PlanQuestion& question, const PlanAnswer& answer,
                                       const Clock& clock) {
  const bool wanted = answer.goal->miss_charge && !answer.plans.empty() &&
                      answer.plans.front().p_deadline < question.constraints.confidence;
  if (!wanted) return std::optional<Plan>();
  PlanQuestion sure = question;
  sure.constraints.miss.reset();
  sure.rows = 1;
  auto space = plan_space(sure, Sharding::kAllowed);
  if (!space.ok()) return space.error();
  Solve solve(sure, std::move(*space));
  sure.disabled_passes.emplace_back(kFrontPass);
  Passes passes(clock, sure.disabled_passes);
  solve.run(passes);
  const std::vector<Found> rows = solve.rows();
  if (rows.empty()) return std::optional<Plan>();
  return std::optional(plan_of(solve.evaluator(), rows.front()));
}

}  // namespace

std::span<const PassName> switchable_passes() {
  static constexpr PassName kNames[] = {
      {kDominancePass, "leaves out dearer regions and slower collectives"},
      {kBoundsPass, "skips what a bound shows to be no better"},
      {kRelaxationPass, "bounds clusters of any number of types"},
      {kMixedPass, "looks at clusters of two types"},
      {kFrontPass, "collects the trade-off of cost and time"},
      {kPosteriorPass, "says how sure the choice is"},
  };
  return kNames;
}

Result<PlanAnswer> optimise(const PlanQuestion& question, const Clock& clock) {
  CHECK(question.constraints.vms_max <= kPlannedVmsMax);
  CHECK(question.constraints.confidence >= 0.5);
  CHECK(question.constraints.confidence < 1);
  const Status known = check_passes(question);
  if (!known.ok()) return known.error();
  Passes passes(clock, question.disabled_passes);
  Result<Space> space = Space{};
  passes.run("feasibility", [&](PassReport& report) {
    space = plan_space(question, Sharding::kAllowed);
    if (space.ok()) report.kept = static_cast<std::int64_t>(space->rentals.size());
  });
  if (!space.ok()) return space.error();
  PlanAnswer answer{.job = question.context.job.name, .goal = goal_of(question)};
  answer.excluded = space->excluded;
  Solve solve(question, std::move(*space));
  const bool everything = !passes.enabled(kBoundsPass) && passes.enabled(kMixedPass);
  constexpr std::int64_t kTooMany = 100'000'000;
  const std::int64_t mixed = passes.enabled(kMixedPass) ? implied_mixed(solve.evaluator()) : 0;
  if (everything && mixed > kTooMany) {
    return bad_usage(
        fmt::format("without the pass bounds, each of {} mixed configurations would be predicted; "
                    "leave out the "
                    "pass mixed as well, or allow fewer VMs",
                    mixed));
  }
  solve.run(passes);
  for (const Found& found : solve.rows()) {
    answer.plans.push_back(plan_of(solve.evaluator(), found));
  }
  const bool ranked =
      question.objective == Objective::kCost || question.objective == Objective::kTime;
  for (const Found& found : solve.front().points()) {
    answer.front.push_back(plan_of(solve.evaluator(), found));
    if (ranked) shorten(answer.front.back());
  }
  if (ranked && passes.enabled(kPosteriorPass)) {
    passes.run(kPosteriorPass, [&](PassReport& report) { add_posterior(solve, report, answer); });
  }
  add_bounds(solve, answer);
  auto safer = safer_plan(question, answer, clock);
  if (!safer.ok()) return safer.error();
  answer.safer = std::move(*safer);
  if (answer.plans.empty()) {
    auto nearest = nearest_plan(question, clock);
    if (!nearest.ok()) return nearest.error();
    answer.nearest = std::move(*nearest);
  }
  answer.passes = passes.reports();
  for (PassReport& report : answer.passes) {
    if (report.name == "homogeneous") report.implied = implied_homogeneous(solve.evaluator());
    if (report.name == kLayoutsPass) report.implied = implied_layouts(solve.evaluator());
    if (report.name == kMixedPass) report.implied = mixed;
  }
  std::vector<Plan> shown = answer.plans;
  if (answer.safer) shown.push_back(*answer.safer);
  if (answer.nearest) shown.push_back(answer.nearest->plan);
  answer.assumptions = assumptions_of(solve.evaluator(), shown);
  return answer;
}

}  // namespace stint
