#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/layout.h"
#include "plan/layout_estimate.h"
#include "plan/prediction.h"

namespace stint {

inline constexpr const char* kPlanSchema = "stint.plan/1";

/// An expected value with its 80 % interval.
struct TimeRange {
  Seconds mean;
  Seconds p10;
  Seconds p90;
  Json::Object unknown = {};
};

struct CostRange {
  Dollars mean;
  Dollars p10;
  Dollars p90;
  Json::Object unknown = {};
};

/// The parts of the cost, which add up to the expected cost.
struct Bill {
  Dollars compute;
  Dollars exposed_communication;
  Dollars work_redone;
  Dollars saving;  // Checkpoint stalls.
  Dollars set_up;
  Dollars idle;
  Dollars anchors;
  Dollars storage;
  Dollars egress;
  Json::Object unknown = {};
};

Dollars total(const Bill& bill);

/// The markets of the VMs of a plan.
enum class PlanMarket { kOnDemand, kSpot, kMixed };

std::span<const EnumName<PlanMarket>> names_of(PlanMarket type);

/// What the age of prices means for the cost of a plan.
struct PriceDoubt {
  double share = 0;      // Of the variance of the logarithm of the cost.
  double deviation = 0;  // Of that logarithm, by prices alone.
  int oldest_days = 0;   // Age of the oldest price.
  Json::Object unknown = {};
};

/// One plan for the job.
struct Plan {
  Cluster cluster;
  PlanMarket market = PlanMarket::kOnDemand;
  TimeRange time;
  CostRange cost;
  std::optional<PriceDoubt> prices = {};  // Absent: the prices are those of today.
  std::optional<double> p_deadline;
  std::optional<double> p_budget;
  std::optional<double> p_best;
  std::optional<int> global_batch;
  std::optional<std::int64_t> iterations;
  std::optional<Layout> layout;
  std::optional<std::string> parallel_layout = {};  // Where the model is split: "dp8 zero3 mb2".
  std::optional<LayoutEstimate> sharding = {};      // That layout taken apart,
  std::optional<LayoutEstimate> runner_up = {};     // and the best one of other degrees.
  std::optional<Prediction> prediction;
  std::optional<Bill> bill;
  std::optional<CheckpointSchedule> checkpoint;
  std::optional<double> losses;  // Expected losses of spot machines that stop training.
  std::optional<std::string> note;
  Json::Object unknown = {};
};

/// The report of one pass of the optimiser. Configurations that were implied and not evaluated were
/// pruned: a bound showed that none of them could be the answer.
struct PassReport {
  std::string name;
  std::int64_t kept = 0;
  Seconds time;
  std::optional<std::int64_t> implied;    // Configurations that the pass had to decide on.
  std::optional<std::int64_t> evaluated;  // Configurations of these that were predicted one by one.
  Json::Object unknown = {};
};

/// The requested objective and limits.
struct PlanGoal {
  std::string objective;
  std::optional<Seconds> deadline;
  std::optional<Dollars> budget;
  std::optional<DollarsPerSecond> rate_max;
  double confidence = 0.95;  // Probability with which deadline and budget must be kept.
  std::optional<double> miss_charge = {};  // Instead for the deadline: bills that a miss costs.
  std::optional<std::string> policy;       // Absent: Stint's own.
  Json::Object unknown = {};
};

/// The nearest plan where none keeps the constraints.
struct NearestPlan {
  std::string binding;            // The constraint that cannot be kept, as a sentence.
  std::optional<Seconds> late;    // Time by which the plan misses the deadline, at the confidence.
  std::optional<Dollars> dearer;  // Cost by which the plan exceeds the budget, at the confidence.
  Plan plan;
  Json::Object unknown = {};
};

/// A cluster that somebody had in mind, beside plan 1: its plan, or why it has none.
struct ComparedPlan {
  std::string cluster;  // As it was given.
  std::optional<Plan> plan = {};
  std::optional<std::string> problem = {};  // A sentence without its full stop.
  std::optional<Dollars> dearer = {};       // Than plan 1; negative: it costs less.
  std::optional<Seconds> longer = {};       // Than plan 1; negative: it takes less time.
  Json::Object unknown = {};
};

/// What the flags said of a job beside its profile.
struct JobOverrides {
  std::optional<std::string> name = {};
  std::optional<std::string> goal = {};  // "epochs=90", "samples=1e6", "accuracy>=0.93".
  std::optional<std::int64_t> samples_per_epoch = {};
  Json::Object unknown = {};
};

/// The optimiser's answer. A saved single plan is an answer with one element.
struct PlanAnswer {
  std::optional<std::string> job;             // Name of the job.
  std::optional<std::string> profile;         // File of the job's profile, if it is not shipped.
  std::optional<JobOverrides> job_overrides;  // Settings beside the profile.
  std::optional<std::string> made_on = {};    // Name of the computer that saved the plan,
  std::optional<std::int64_t> made_by = {};   // and the user.
  std::vector<std::string> command;           // Training command, word by word.
  std::optional<PlanGoal> goal;               // Requested objective and limits.
  std::vector<Plan> plans;                    // Best first.
  // The cheapest plan that keeps the deadline with the confidence, where plan 1 does not.
  std::optional<Plan> safer = {};
  std::vector<Plan> front;            // The cost-time trade-off, fastest first.
  std::optional<Dollars> bound;       // Lower bound of the cost of any plan.
  std::optional<Seconds> time_bound;  // Lower bound of the time, where it is the objective.
  std::optional<double> gap;          // (value − bound) / value; 0 is proven optimal.
  // Lower bound of the cost of a cluster of any number of types, by the linear relaxation.
  std::optional<Dollars> relaxed_bound;
  std::optional<NearestPlan> nearest;            // Where no plan keeps the constraints.
  std::vector<ComparedPlan> compared = {};       // Clusters to compare with plan 1.
  std::optional<Dollars> value_of_measuring;     // Value of measuring more before training.
  std::map<std::string, std::int64_t> excluded;  // Reason → number of candidates.
  std::vector<PassReport> passes;
  std::vector<std::string> assumptions;  // Sentences that hold for every plan.
  Json::Object unknown = {};
};

Result<Loaded<PlanAnswer>> read_plan(std::string_view text, const std::string& source);
std::string write_plan(const PlanAnswer& answer);
Status validate(const PlanAnswer& answer);
Json plan_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, TimeRange>& it) {
  walk.number("mean", it.mean, kSecond, "Expected time, in seconds.", Range::kNotNegative);
  walk.number("p10", it.p10, kSecond, "10th percentile, in seconds.", Range::kNotNegative);
  walk.number("p90", it.p90, kSecond, "90th percentile, in seconds.", Range::kNotNegative);
  walk.rest(it.unknown);
}

std::string problem(const TimeRange& it);

template <class Walk>
void describe(Walk& walk, Like<Walk, CostRange>& it) {
  walk.number("mean", it.mean, kDollar, "Expected cost, in dollars.", Range::kNotNegative);
  walk.number("p10", it.p10, kDollar, "10th percentile, in dollars.", Range::kNotNegative);
  walk.number("p90", it.p90, kDollar, "90th percentile, in dollars.", Range::kNotNegative);
  walk.rest(it.unknown);
}

std::string problem(const CostRange& it);

}  // namespace stint
