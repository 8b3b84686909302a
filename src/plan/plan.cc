#include "plan/plan.h"

#include <cmath>
#include <fmt/format.h>

namespace stint {
namespace {

constexpr Range kCost = Range::kNotNegative;
constexpr FieldRules kProbability{.range = Range::kFraction};

template <class T>
std::string interval_problem(const T& it) {
  return it.p10 > it.p90 ? "p10 must not be more than p90" : "";
}

}  // namespace

std::string problem(const TimeRange& it) { return interval_problem(it); }

std::string problem(const CostRange& it) { return interval_problem(it); }

template <class Walk>
void describe(Walk& walk, Like<Walk, Bill>& it) {
  walk.number("compute_usd", it.compute, kDollar, "Useful computing.", kCost);
  walk.number("exposed_communication_usd", it.exposed_communication, kDollar,
              "Communication that computing does not hide.", kCost);
  walk.number("work_redone_usd", it.work_redone, kDollar, "After losses.", kCost);
  walk.number("saving_usd", it.saving, kDollar, "Waiting for checkpoints.", kCost);
  walk.number("set_up_usd", it.set_up, kDollar, "Machines that start.", kCost);
  walk.number("idle_usd", it.idle, kDollar, "Machines that wait.", kCost);
  walk.number("anchors_usd", it.anchors, kDollar, "Machines that keep checkpoints.", kCost);
  walk.number("storage_usd", it.storage, kDollar, "Checkpoints at rest.", kCost);
  walk.number("egress_usd", it.egress, kDollar, "Data that leaves.", kCost);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Plan>& it) {
  walk.text("cluster", it.cluster, parse_cluster, "The VMs, as text.");
  walk.field("market", it.market, "Which the VMs come from.");
  walk.field("time_s", it.time, "Until the goal is reached.");
  walk.field("cost_usd", it.cost, "The whole bill.");
  walk.field("p_deadline", it.p_deadline, "Probability of being done in time.", kProbability);
  walk.field("p_budget", it.p_budget, "Probability of staying in budget.", kProbability);
  walk.field("p_best", it.p_best,
             "Probability that it is the best of the 25 best plans, or more if more are asked for, "
             "each of other VMs.",
             kProbability);
  walk.field("global_batch", it.global_batch, "Samples per iteration.",
             {.range = Range::kAtLeastOne});
  walk.field("iterations", it.iterations, "To the goal.", {.range = Range::kAtLeastOne});
  walk.field("layout", it.layout, "How the job is split over the cluster.");
  walk.field("prediction", it.prediction, "One iteration.");
  walk.field("bill", it.bill, "What the money is for; adds up to the mean cost.");
  walk.field("checkpoint", it.checkpoint, "Where and how often the state is saved.");
  walk.field("losses", it.losses, "Times that losing spot machines is expected to stop training.",
             {.range = Range::kNotNegative});
  walk.field("note", it.note, "For people.");
  walk.rest(it.unknown);
}

std::string problem(const Plan& it) {
  constexpr Dollars kRounding = 0.005 * kDollar;
  if (!it.bill) return "";
  const Dollars missing = total(*it.bill) - it.cost.mean;
  const bool adds_up = missing < kRounding && -missing < kRounding;
  return adds_up ? "" : "the parts of the bill must add up to the mean cost";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PassReport>& it) {
  walk.field("name", it.name, "Of the pass.", {.range = Range::kAtLeastOne});
  walk.field("kept", it.kept, "Candidates after it.", {.range = Range::kNotNegative});
  walk.number("seconds", it.time, kSecond, "It took.", Range::kNotNegative);
  walk.field("implied", it.implied, "Configurations it decided on.",
             {.range = Range::kNotNegative});
  walk.field("evaluated", it.evaluated, "Of these, predicted one by one.",
             {.range = Range::kNotNegative});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PlanGoal>& it) {
  walk.field("objective", it.objective, "What is smallest: cost, time, knee or front.",
             {.range = Range::kAtLeastOne});
  walk.number("deadline_s", it.deadline, kSecond, "From the start.", Range::kPositive);
  walk.number("budget_usd", it.budget, kDollar, "For the whole training.", Range::kPositive);
  walk.number("usd_per_h_max", it.rate_max, kDollar / kHour, "For the cluster.", Range::kPositive);
  walk.field("confidence", it.confidence, "That deadline and budget are kept with.", kProbability);
  walk.field("policy", it.policy, "Whose choice this is; absent: Stint's own.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, NearestPlan>& it) {
  walk.field("binding", it.binding, "The constraint that cannot be kept.",
             {.range = Range::kAtLeastOne});
  walk.number("late_s", it.late, kSecond, "By how much it misses the deadline.", kCost);
  walk.number("dearer_usd", it.dearer, kDollar, "By how much it exceeds the budget.", kCost);
  walk.field("plan", it.plan, "It itself.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, JobOverrides>& it) {
  walk.field("name", it.name, "Of the job.");
  walk.field("goal", it.goal, "When the training is done: epochs=90, samples=1e6.");
  walk.field("samples_per_epoch", it.samples_per_epoch, "Size of the data set.",
             {.range = Range::kAtLeastOne});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PlanAnswer>& it) {
  walk.field("job", it.job, "What is to be trained.");
  walk.field("profile", it.profile, "The file that its profile was read from.");
  walk.field("job_overrides", it.job_overrides, "What it was planned with beside its profile.");
  walk.field("made_on", it.made_on, "Name of the computer that it was saved on.");
  walk.field("made_by", it.made_by, "Number of the user who saved it.");
  walk.field("command", it.command, "That trains, word by word.");
  walk.field("goal", it.goal, "What was asked for.");
  walk.field("plans", it.plans, "Best first.", {.always = true});
  walk.field("front", it.front, "The trade-off of cost and time, fastest first.");
  walk.number("bound_usd", it.bound, kDollar, "No plan of the model costs less.", kCost);
  walk.number("time_bound_s", it.time_bound, kSecond, "Where time decides: no plan is faster.",
              kCost);
  walk.field("gap", it.gap, "(value - bound) / value; 0 is proven optimal.", kProbability);
  walk.number("relaxed_bound_usd", it.relaxed_bound, kDollar,
              "Nor does a cluster of any number of types cost less.", kCost);
  walk.field("nearest", it.nearest, "Where no plan keeps the constraints.");
  walk.number("value_of_measuring_usd", it.value_of_measuring, kDollar,
              "What measuring more first would be worth.", kCost);
  walk.field("excluded", it.excluded, "How many were left out, by reason.",
             {.range = Range::kNotNegative});
  walk.field("passes", it.passes, "What the optimiser did.");
  walk.field("assumptions", it.assumptions, "What was taken for granted in every plan.");
  walk.rest(it.unknown);
}

std::span<const EnumName<PlanMarket>> names_of(PlanMarket /*type*/) {
  static constexpr EnumName<PlanMarket> kNames[] = {{PlanMarket::kOnDemand, "on-demand"},
                                                    {PlanMarket::kSpot, "spot"},
                                                    {PlanMarket::kMixed, "mixed"}};
  return kNames;
}

Dollars total(const Bill& bill) {
  return bill.compute + bill.exposed_communication + bill.work_redone + bill.saving + bill.set_up +
         bill.idle + bill.anchors + bill.storage + bill.egress;
}

Result<Loaded<PlanAnswer>> read_plan(std::string_view text, const std::string& source) {
  return read_document<PlanAnswer>(text, kPlanSchema, source);
}

std::string write_plan(const PlanAnswer& answer) { return write_document(answer, kPlanSchema); }

Status validate(const PlanAnswer& answer) { return check_fields(answer, "plan"); }

Json plan_schema() {
  return schema_document(kPlanSchema, "The optimiser's answer, or one saved plan",
                         SchemaWalk::schema_of<PlanAnswer>());
}

}  // namespace stint
