#include "validate/validate_revocations.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/plan/plan_cases.h"
#include "app/plan/plan_limits.h"
#include "base/check.h"
#include "load/predict_inputs.h"
#include "optimise/answer.h"

namespace stint {
namespace {

/// A planning policy.
struct Chooser {
  const char* name;
  std::optional<Policy> policy;  // Absent: Stint's own search.
  bool on_demand_only = false;
};

constexpr Chooser kChoosers[] = {{"stint", std::nullopt, false},
                                 {"stint-on-demand", std::nullopt, true},
                                 {"deepvm", Policy::kDeepVm, false},
                                 {"cheapest-first", Policy::kCheapestFirst, false}};

Result<PlanAnswer> answer_of(PlanQuestion question, const Chooser& chooser, const Clock& clock) {
  if (chooser.on_demand_only) question.constraints.markets = {Market::kOnDemand};
  if (chooser.policy) return plan_by_policy(question, {.policy = *chooser.policy}, clock);
  return optimise(question, clock);
}

/// `all` is the question without limits, and `space` its space.
Result<RevocationsRow> row_of(const Chooser& chooser, const PlanQuestion& question,
                              const PlanQuestion& all, const Space& space,
                              const SimulateOptions& options, const Clock& clock) {
  auto answer = answer_of(question, chooser, clock);
  if (!answer.ok()) return answer.error();
  RevocationsRow row{.policy = chooser.name, .plan = {}};
  if (!answer->plans.empty()) {
    row.plan = std::move(answer->plans.front());
  } else {
    CHECK(answer->nearest);
    row.plan = std::move(answer->nearest->plan);
    row.binding = std::move(answer->nearest->binding);
  }
  const auto run = planned_run(all, space, row.plan);
  if (!run.ok()) return run.error();
  row.region = run->region;
  row.runs = simulate_planned(*run, goal_of(question), options);
  return row;
}

const RunSpread<Dollars>& cost_of(const RevocationsReport& report, std::string_view policy) {
  const auto row = std::find_if(report.rows.begin(), report.rows.end(),
                                [&](const RevocationsRow& it) { return it.policy == policy; });
  CHECK(row != report.rows.end());
  return row->runs.cost;
}

}  // namespace

Result<RevocationsReport> validate_revocations(const Environment& environment,
                                               RevocationsRequest request) {
  CHECK(environment.clock != nullptr);
  Constraints& limits = request.constraints;
  if (!limits.rate_max) limits.rate_max = kRevocationsRate;
  if (!limits.deadline && !limits.budget) limits.deadline = kRevocationsDeadline;
  for (const Status& sane : {check_limits(limits), check(request.options)}) {
    if (!sane.ok()) return sane.error();
  }
  auto inputs =
      load_predict_inputs(environment, request.job, request.calibration, only_provider(limits));
  if (!inputs.ok()) return inputs.error();
  const auto question = plan_question(*inputs, {.job = request.job, .constraints = limits});
  if (!question.ok()) return question.error();
  // Simulated plans may violate the limits.
  PlanQuestion all = *question;
  all.constraints = {.machines = limits.machines};
  const auto space = plan_space(all);
  if (!space.ok()) return space.error();

  RevocationsReport report{.job = inputs->job.name,
                           .goal = goal_of(*question),
                           .vms_max = limits.vms_max,
                           .options = request.options,
                           .warnings = std::move(inputs->warnings)};
  for (const Chooser& chooser : kChoosers) {
    auto row = row_of(chooser, *question, all, *space, request.options, *environment.clock);
    if (!row.ok()) return row.error();
    report.rows.push_back(std::move(*row));
  }
  const RunSpread<Dollars>& deepvm = cost_of(report, "deepvm");
  const RunSpread<Dollars>& stint = cost_of(report, "stint");
  report.deepvm_over_stint = deepvm.mean / stint.mean;
  report.deepvm_over_stint_median = deepvm.p50 / stint.p50;
  return report;
}

}  // namespace stint
