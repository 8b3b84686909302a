#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/layout.h"
#include "plan/prediction.h"

namespace stint {

inline constexpr const char* kPlanSchema = "stint.plan/1";

/// An expected value with the interval that holds it eight times in ten.
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

/// What the money is for; the parts add up to the expected cost.
struct Bill {
  Dollars compute;
  Dollars exposed_communication;
  Dollars work_redone;
  Dollars saving;  // Of checkpoints.
  Dollars set_up;
  Dollars idle;
  Dollars anchors;
  Dollars storage;
  Dollars egress;
  Json::Object unknown = {};
};

Dollars total(const Bill& bill);

/// The markets that the VMs of a plan come from.
enum class PlanMarket { kOnDemand, kSpot, kMixed };

std::span<const EnumName<PlanMarket>> names_of(PlanMarket type);

/// One way to do the job.
struct Plan {
  Cluster cluster;
  PlanMarket market = PlanMarket::kOnDemand;
  TimeRange time;
  CostRange cost;
  std::optional<double> p_deadline;
  std::optional<double> p_budget;
  std::optional<double> p_best;
  std::optional<int> global_batch;
  std::optional<std::int64_t> iterations;
  std::optional<Layout> layout;
  std::optional<Prediction> prediction;
  std::optional<Bill> bill;
  std::optional<CheckpointSchedule> checkpoint;
  std::optional<double> losses;  // Expected, of spot machines.
  std::optional<std::string> note;
  Json::Object unknown = {};
};

/// What one pass of the optimiser did. Configurations that were implied and not evaluated were
/// pruned: a bound showed that none of them could be the answer.
struct PassReport {
  std::string name;
  std::int64_t kept = 0;
  Seconds time;
  std::optional<std::int64_t> implied;    // Configurations it had to decide on.
  std::optional<std::int64_t> evaluated;  // Of these, predicted one by one.
  Json::Object unknown = {};
};

/// What was asked for.
struct PlanGoal {
  std::string objective;
  std::optional<Seconds> deadline;
  std::optional<Dollars> budget;
  std::optional<DollarsPerSecond> rate_max;
  double confidence = 0.95;           // That the deadline, and the budget, are kept with.
  std::optional<std::string> policy;  // Absent: Stint's own.
  Json::Object unknown = {};
};

/// The plan that comes nearest where none keeps the constraints.
struct NearestPlan {
  std::string binding;            // The constraint that cannot be kept, as a whole sentence.
  std::optional<Seconds> late;    // By how much the deadline is missed, at the confidence.
  std::optional<Dollars> dearer;  // By how much the budget is exceeded, at the confidence.
  Plan plan;
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
  std::optional<std::string> job;             // Its name.
  std::optional<std::string> profile;         // The file it was read from, if it is not shipped.
  std::optional<JobOverrides> job_overrides;  // What the profile was planned with instead.
  std::optional<std::string> made_on = {};    // Name of the computer it was saved on,
  std::optional<std::int64_t> made_by = {};   // and the user.
  std::vector<std::string> command;           // That trains, word by word.
  std::optional<PlanGoal> goal;               // What was asked for.
  std::vector<Plan> plans;                    // Best first.
  std::vector<Plan> front;                    // The cost-time trade-off, fastest first.
  std::optional<Dollars> bound;               // No plan of the model costs less.
  std::optional<Seconds> time_bound;          // Where time is the objective: none is faster.
  std::optional<double> gap;                  // (value − bound) / value; 0 is proven optimal.
  // Nor does a cluster of any number of types cost less than this, by the linear relaxation.
  std::optional<Dollars> relaxed_bound;
  std::optional<NearestPlan> nearest;            // Where there is no plan.
  std::optional<Dollars> value_of_measuring;     // What measuring more first would be worth.
  std::map<std::string, std::int64_t> excluded;  // Reason → how many.
  std::vector<PassReport> passes;
  std::vector<std::string> assumptions;  // Whole sentences that hold for every plan.
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
