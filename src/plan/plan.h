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
  std::optional<std::string> note;
  Json::Object unknown = {};
};

/// What one pass of the optimiser did.
struct PassReport {
  std::string name;
  std::int64_t kept = 0;
  Seconds time;
  Json::Object unknown = {};
};

/// The optimiser's answer. A saved single plan is an answer with one element.
struct PlanAnswer {
  std::vector<Plan> plans;                       // Best first.
  std::vector<Plan> front;                       // The cost-time trade-off.
  std::optional<Dollars> bound;                  // No plan of the model costs less.
  std::optional<double> gap;                     // (cost − bound) / cost; 0 is proven optimal.
  std::optional<Dollars> value_of_measuring;     // What measuring more first would be worth.
  std::map<std::string, std::int64_t> excluded;  // Reason → how many.
  std::vector<PassReport> passes;
  Json::Object unknown = {};
};

Result<Loaded<PlanAnswer>> read_plan(std::string_view text, const std::string& source);
std::string write_plan(const PlanAnswer& answer);
Status validate(const PlanAnswer& answer);
Json plan_schema();

}  // namespace stint
