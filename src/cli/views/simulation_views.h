#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/risk/simulate_plan.h"
#include "cli/views/risk_views.h"
#include "plan/validation.h"

namespace stint {

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, RunSpread<Seconds>>& it) {
  constexpr Range kRange = Range::kNotNegative;
  walk.number("mean_s", it.mean, kSecond, "Mean over runs.", kRange);
  walk.number("p10_s", it.p10, kSecond, "10th percentile over runs.", kRange);
  walk.number("p50_s", it.p50, kSecond, "Median over runs.", kRange);
  walk.number("p90_s", it.p90, kSecond, "90th percentile over runs.", kRange);
  walk.number("standard_error_s", it.standard_error, kSecond, "Standard error of the mean.",
              kRange);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, RunSpread<Dollars>>& it) {
  constexpr Range kRange = Range::kNotNegative;
  walk.number("mean_usd", it.mean, kDollar, "Mean over runs.", kRange);
  walk.number("p10_usd", it.p10, kDollar, "10th percentile over runs.", kRange);
  walk.number("p50_usd", it.p50, kDollar, "Median over runs.", kRange);
  walk.number("p90_usd", it.p90, kDollar, "90th percentile over runs.", kRange);
  walk.number("standard_error_usd", it.standard_error, kDollar, "Standard error of the mean.",
              kRange);
}

}  // namespace stint

namespace stint::cli {

/// The parts of a bill inside one region, where there is no egress.
struct BillView {
  Bill bill;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, BillView>& view) {
  auto& it = view.bill;
  constexpr Range kRange = Range::kNotNegative;
  walk.number("compute_usd", it.compute, kDollar, "Cost of useful computing.", kRange);
  walk.number("exposed_communication_usd", it.exposed_communication, kDollar,
              "Cost of communication that computing does not hide.", kRange);
  walk.number("work_redone_usd", it.work_redone, kDollar, "Cost of work redone after losses.",
              kRange);
  walk.number("saving_usd", it.saving, kDollar, "Cost of checkpoint stalls.", kRange);
  walk.number("set_up_usd", it.set_up, kDollar, "Cost of machines that start.", kRange);
  walk.number("idle_usd", it.idle, kDollar, "Cost of machines that wait.", kRange);
  walk.number("anchors_usd", it.anchors, kDollar, "Cost of machines that keep checkpoints.",
              kRange);
  walk.number("storage_usd", it.storage, kDollar, "Cost of stored checkpoints.", kRange);
}

struct PlannedTimeView {
  TimeRange range;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, PlannedTimeView>& it) {
  constexpr Range kRange = Range::kNotNegative;
  walk.number("mean_s", it.range.mean, kSecond, "Expected time.", kRange);
  walk.number("p10_s", it.range.p10, kSecond, "10th percentile.", kRange);
  walk.number("p90_s", it.range.p90, kSecond, "90th percentile.", kRange);
}

struct PlannedCostView {
  CostRange range;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, PlannedCostView>& it) {
  constexpr Range kRange = Range::kNotNegative;
  walk.number("mean_usd", it.range.mean, kDollar, "Expected cost.", kRange);
  walk.number("p10_usd", it.range.p10, kDollar, "10th percentile.", kRange);
  walk.number("p90_usd", it.range.p90, kDollar, "90th percentile.", kRange);
}

struct PlannedView {
  PlannedTimeView time;
  PlannedCostView cost;
  std::optional<BillView> bill;
  std::optional<double> p_deadline;
  std::optional<double> p_budget;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, PlannedView>& it) {
  walk.field("time", it.time, "Completion time.");
  walk.field("cost", it.cost, "Total cost.");
  walk.field("bill", it.bill, "Parts of the cost.");
  walk.field("p_deadline", it.p_deadline, "Probability of meeting the deadline.", kShare);
  walk.field("p_budget", it.p_budget, "Probability of staying within the budget.", kShare);
}

struct SimulatedView {
  int runs = 1;
  RunSpread<Seconds> time;
  RunSpread<Dollars> cost;
  BillView bill;
  double losses = 0;
  double machines_lost = 0;
  double finished = 0;
  std::optional<double> p_deadline;
  std::optional<double> p_budget;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, SimulatedView>& it) {
  walk.field("runs", it.runs, "Number of simulated runs.", {.range = Range::kAtLeastOne});
  walk.field("time", it.time, "Completion time.");
  walk.field("cost", it.cost, "Total cost.");
  walk.field("bill", it.bill, "Parts of the cost, means over runs.");
  walk.field("losses", it.losses, "Mean number of losses that stopped training.", kCount);
  walk.field("machines_lost", it.machines_lost, "Mean number of machines lost.", kCount);
  walk.field("finished", it.finished, "Share of runs that finished.", kShare);
  walk.field("p_deadline", it.p_deadline, "Share of runs that met the deadline.", kShare);
  walk.field("p_budget", it.p_budget, "Share of runs that finished within the budget.", kShare);
}

struct LimitsView {
  std::optional<Seconds> deadline;
  std::optional<Dollars> budget;
  std::optional<DollarsPerSecond> rate_max;
  double confidence = 0;
  std::optional<int> vms_max;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, LimitsView>& it) {
  constexpr Range kRange = Range::kNotNegative;
  walk.number("deadline_s", it.deadline, kSecond, "Maximum completion time.", kRange);
  walk.number("budget_usd", it.budget, kDollar, "Maximum cost.", kRange);
  walk.number("rate_max_usd_per_h", it.rate_max, kDollar / kHour, "Maximum price of the cluster.",
              kRange);
  walk.field("confidence", it.confidence, "Probability with which limits must be kept.", kShare);
  walk.field("vms_max", it.vms_max, "Maximum number of VMs.", {.range = Range::kAtLeastOne});
}

/// `stint risk simulate`.
struct SimulationView {
  static constexpr const char* kSchema = kRiskSchema;
  static constexpr const char* kTitle = "Simulated runs of a plan";
  std::string what = "simulate";
  std::string job;
  std::string cluster;
  std::string region;
  std::optional<std::string> trace;
  LimitsView limits;
  PlannedView planned;
  SimulatedView simulated;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, SimulationView>& it) {
  walk.field("what", it.what, "Kind of result: simulate.");
  walk.field("job", it.job, "Name of the job.");
  walk.field("cluster", it.cluster, "VMs, as text.");
  walk.field("region", it.region, "Region of the VMs.");
  walk.field("trace", it.trace, "Availability trace; absent: lifetimes are sampled.");
  walk.field("limits", it.limits, "Limits of the plan.");
  walk.field("planned", it.planned, "Prediction of the plan.");
  walk.field("simulated", it.simulated, "Results of the simulated runs.");
}

struct RevocationsRowView {
  std::string policy;
  std::string cluster;
  std::string region;
  bool keeps_limits = true;
  std::optional<std::string> binding;
  PlannedView planned;
  SimulatedView simulated;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, RevocationsRowView>& it) {
  walk.field("policy", it.policy, "Policy that chose the plan.");
  walk.field("cluster", it.cluster, "VMs, as text.");
  walk.field("region", it.region, "Region of the VMs.");
  walk.field("keeps_limits", it.keeps_limits, "Whether the plan keeps all limits.");
  walk.field("binding", it.binding, "Binding constraint, where the plan violates one.");
  walk.field("planned", it.planned, "Prediction of the plan.");
  walk.field("simulated", it.simulated, "Results of the simulated runs.");
}

/// `stint validate revocations`.
struct RevocationsView {
  static constexpr const char* kSchema = kValidationSchema;
  static constexpr const char* kTitle = "Policies under simulated spot interruptions";
  std::string what = "revocations";
  std::string job;
  int seed = 1;
  bool prediction_error = true;
  LimitsView limits;
  std::vector<RevocationsRowView> policies;
  double deepvm_over_stint = 0;
  double deepvm_over_stint_median = 0;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, RevocationsView>& it) {
  walk.field("what", it.what, "Kind of validation: revocations.");
  walk.field("job", it.job, "Name of the job.");
  walk.field("seed", it.seed, "Seed of the simulation.");
  walk.field("prediction_error", it.prediction_error,
             "Whether runs draw their length from the plan's interval.");
  walk.field("limits", it.limits, "Limits of every plan.");
  walk.field("policies", it.policies, "Stint and other policies.", kList);
  walk.field("deepvm_over_stint", it.deepvm_over_stint, "Ratio of mean costs.", kCount);
  walk.field("deepvm_over_stint_median", it.deepvm_over_stint_median, "Ratio of median costs.",
             kCount);
}

struct TickView {
  std::optional<int> zone;
  int available = 0;
  int spot = 0;
  int on_demand = 0;
  int spot_working = 0;
  int on_demand_working = 0;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, TickView>& it) {
  walk.field("zone", it.zone, "Zone of the spot machines, from 0.", kCount);
  walk.field("available", it.available, "Spot machines available.", kCount);
  walk.field("spot", it.spot, "Spot machines held.", kCount);
  walk.field("on_demand", it.on_demand, "On-demand machines held.", kCount);
  walk.field("spot_working", it.spot_working, "Spot machines that train.", kCount);
  walk.field("on_demand_working", it.on_demand_working, "On-demand machines that train.", kCount);
}

/// `stint risk replay`.
struct ReplayView {
  static constexpr const char* kSchema = "stint.replay/1";
  static constexpr const char* kTitle = "A deadline policy in one window of a trace";
  std::string policy;
  Seconds gap;
  int start_tick = 0;
  int deadline_ticks = 0;
  std::optional<int> finished_tick;
  int overdue_ticks = 0;
  double cost = 0;
  double cost_ratio_to_optimum = 0;
  double cost_ratio_to_on_demand = 0;
  std::optional<int> moves;
  std::vector<TickView> ticks;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, ReplayView>& it) {
  walk.field("policy", it.policy, "Name of the policy.");
  walk.number("gap_s", it.gap, kSecond, "Time from one tick to the next.", Range::kPositive);
  walk.field("start_tick", it.start_tick, "First tick of the window.", kCount);
  walk.field("deadline_ticks", it.deadline_ticks, "Deadline, in ticks from the start.", kCount);
  walk.field("finished_tick", it.finished_tick,
             "Tick at which the work was done; absent: the deadline was missed.", kCount);
  walk.field("overdue_ticks", it.overdue_ticks,
             "Ticks from the deadline until on-demand machines finish the work.", kCount);
  walk.field("cost", it.cost, "Cost, in ticks of one spot machine.", kCount);
  walk.field("cost_ratio_to_optimum", it.cost_ratio_to_optimum,
             "Cost relative to the clairvoyant optimum.", kCount);
  walk.field("cost_ratio_to_on_demand", it.cost_ratio_to_on_demand,
             "Cost relative to on-demand machines alone.", kCount);
  walk.field("moves", it.moves, "Number of moves between zones; absent: there is one zone.",
             kCount);
  walk.field("ticks", it.ticks, "Events of each tick.", kList);
}

}  // namespace stint::cli
