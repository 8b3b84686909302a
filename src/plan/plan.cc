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
  walk.number("compute_usd", it.compute, kDollar, "Cost of useful computing.", kCost);
  walk.number("exposed_communication_usd", it.exposed_communication, kDollar,
              "Cost of communication that computing does not hide.", kCost);
  walk.number("work_redone_usd", it.work_redone, kDollar, "Cost of work redone after losses.",
              kCost);
  walk.number("saving_usd", it.saving, kDollar, "Cost of checkpoint stalls.", kCost);
  walk.number("set_up_usd", it.set_up, kDollar, "Cost of machines that start.", kCost);
  walk.number("idle_usd", it.idle, kDollar, "Cost of machines that wait.", kCost);
  walk.number("anchors_usd", it.anchors, kDollar, "Cost of machines that keep checkpoints.", kCost);
  walk.number("storage_usd", it.storage, kDollar, "Cost of stored checkpoints.", kCost);
  walk.number("egress_usd", it.egress, kDollar, "Cost of data egress.", kCost);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PriceDoubt>& it) {
  walk.field("share", it.share, "Share of the variance of ln cost that prices make.", kProbability);
  walk.field("deviation", it.deviation, "Standard deviation of ln cost by prices alone.",
             {.range = Range::kNotNegative});
  walk.field("oldest_days", it.oldest_days, "Age of the oldest price, in days.",
             {.range = Range::kNotNegative});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Plan>& it) {
  walk.text("cluster", it.cluster, parse_cluster, "VMs, as text.");
  walk.field("market", it.market, "Market of the VMs.");
  walk.field("time_s", it.time, "Completion time.");
  walk.field("cost_usd", it.cost, "Total cost; the interval includes the uncertainty of prices.");
  walk.field("price_uncertainty", it.prices,
             "Part of the interval of the cost that is the age of prices.");
  walk.field("p_deadline", it.p_deadline, "Probability of meeting the deadline.", kProbability);
  walk.field("p_budget", it.p_budget, "Probability of staying within the budget.", kProbability);
  walk.field("p_best", it.p_best,
             "Probability that this plan is the best of the 25 best plans, or of more if more are "
             "requested, each on other VMs.",
             kProbability);
  walk.field("global_batch", it.global_batch, "Samples per iteration.",
             {.range = Range::kAtLeastOne});
  walk.field("iterations", it.iterations, "Number of iterations to the goal.",
             {.range = Range::kAtLeastOne});
  walk.field("layout", it.layout, "Split of the job over the cluster.");
  walk.field("parallel_layout", it.parallel_layout,
             "Split of the model over the workers, as text; absent: each has a replica.");
  walk.field("sharding", it.sharding, "The parallel layout taken apart.");
  walk.field("runner_up", it.runner_up, "Best layout of other degrees on the same cluster.");
  walk.field("prediction", it.prediction, "Prediction of one iteration.");
  walk.field("bill", it.bill, "Parts of the cost; they add up to the mean cost.");
  walk.field("checkpoint", it.checkpoint, "Checkpoint schedule.");
  walk.field("losses", it.losses, "Expected number of losses of spot machines that stop training.",
             {.range = Range::kNotNegative});
  walk.field("note", it.note, "Remark for the reader.");
  walk.rest(it.unknown);
}

std::string problem(const Plan& it) {
  if (it.parallel_layout) {
    const auto layout = parse_parallel_layout(*it.parallel_layout);
    if (!layout.ok()) return layout.error().message;
  }
  constexpr Dollars kRounding = 0.005 * kDollar;
  if (!it.bill) return "";
  const Dollars missing = total(*it.bill) - it.cost.mean;
  const bool adds_up = missing < kRounding && -missing < kRounding;
  return adds_up ? "" : "the parts of the bill must add up to the mean cost";
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PassReport>& it) {
  walk.field("name", it.name, "Name of the pass.", {.range = Range::kAtLeastOne});
  walk.field("kept", it.kept, "Number of candidates after the pass.",
             {.range = Range::kNotNegative});
  walk.number("seconds", it.time, kSecond, "Duration of the pass.", Range::kNotNegative);
  walk.field("implied", it.implied, "Number of configurations that the pass decided on.",
             {.range = Range::kNotNegative});
  walk.field("evaluated", it.evaluated,
             "Number of those configurations that were predicted one by one.",
             {.range = Range::kNotNegative});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PlanGoal>& it) {
  walk.field("objective", it.objective, "Quantity to minimise: cost, time, knee or front.",
             {.range = Range::kAtLeastOne});
  walk.number("deadline_s", it.deadline, kSecond, "Deadline, from the start.", Range::kPositive);
  walk.number("budget_usd", it.budget, kDollar, "Budget for the whole training.", Range::kPositive);
  walk.number("usd_per_h_max", it.rate_max, kDollar / kHour, "Maximum expected cost per hour.",
              Range::kPositive);
  walk.field("confidence", it.confidence,
             "Probability with which deadline and budget must be kept.", kProbability);
  walk.field("miss_charge", it.miss_charge,
             "Charge for missing the deadline, in bills of the plan: plans minimise "
             "cost * (1 + miss_charge * (1 - p_deadline)) among those that rather meet it than "
             "not. Absent: the deadline must be met with the confidence.",
             {.range = Range::kNotNegative});
  walk.field("policy", it.policy, "Policy that chose the plan; absent: Stint's own.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, NearestPlan>& it) {
  walk.field("binding", it.binding, "Binding constraint, as a sentence.",
             {.range = Range::kAtLeastOne});
  walk.number("late_s", it.late, kSecond, "Time by which the plan misses the deadline.", kCost);
  walk.number("dearer_usd", it.dearer, kDollar, "Cost by which the plan exceeds the budget.",
              kCost);
  walk.field("plan", it.plan, "The nearest plan.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ComparedPlan>& it) {
  walk.field("cluster", it.cluster, "VMs, as they were given.", {.range = Range::kAtLeastOne});
  walk.field("plan", it.plan, "Best plan on these VMs; absent: there is none.");
  walk.field("problem", it.problem, "Why there is no plan, as a sentence.");
  walk.number("dearer_usd", it.dearer, kDollar, "Cost beyond that of plan 1; may be negative.");
  walk.number("longer_s", it.longer, kSecond, "Time beyond that of plan 1; may be negative.");
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
  walk.field("job", it.job, "Name of the job.");
  walk.field("profile", it.profile, "File of the job profile, if it is not shipped.");
  walk.field("job_overrides", it.job_overrides, "Settings of the job beside its profile.");
  walk.field("made_on", it.made_on, "Name of the computer that saved the plan.");
  walk.field("made_by", it.made_by, "Number of the user who saved the plan.");
  walk.field("command", it.command, "Training command, word by word.");
  walk.field("goal", it.goal, "Requested objective and limits.");
  walk.field("plans", it.plans, "Plans, best first.", {.always = true});
  walk.field(
      "safer", it.safer,
      "Cheapest plan that meets the deadline with the confidence, where the first does not.");
  walk.field("front", it.front, "Trade-off of cost and time, fastest plan first.");
  walk.number("bound_usd", it.bound, kDollar,
              "Lower bound of the cost of any plan that is as likely to meet the deadline.", kCost);
  walk.number("time_bound_s", it.time_bound, kSecond,
              "Lower bound of the time of any plan, where time is the objective.", kCost);
  walk.field("gap", it.gap, "(value - bound) / value; 0 is proven optimal.", kProbability);
  walk.number("relaxed_bound_usd", it.relaxed_bound, kDollar,
              "Lower bound of the cost of a cluster of any number of types.", kCost);
  walk.field("nearest", it.nearest, "Nearest plan, where no plan keeps the constraints.");
  walk.field("compared", it.compared, "Clusters that were asked for, compared with plan 1.");
  walk.number("value_of_measuring_usd", it.value_of_measuring, kDollar,
              "Value of measuring more before training.", kCost);
  walk.field("excluded", it.excluded, "Number of excluded candidates, by reason.",
             {.range = Range::kNotNegative});
  walk.field("passes", it.passes, "Passes of the optimiser.");
  walk.field("assumptions", it.assumptions, "Assumptions of every plan, as sentences.");
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
