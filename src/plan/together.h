#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "plan/plan.h"
#include "plan/sharing.h"

namespace stint {

inline constexpr const char* kTogetherSchema = "stint.plans/1";

/// A job and the best plan for it alone.
struct PlannedJob {
  std::string name;
  Cluster cluster;
  PlanMarket market = PlanMarket::kOnDemand;
  TimeRange time;
  CostRange cost;
  std::optional<int> global_batch;
  std::optional<Seconds> deadline;
  std::optional<double> p_deadline;
  Json::Object unknown = {};
};

/// Two jobs on one cluster.
struct PlannedPair {
  Cluster cluster;
  SharingPair sharing;
  Dollars cost;      // With start-up.
  Dollars separate;  // Of the best plan for each of them.
  std::vector<int> global_batches;
  Json::Object unknown = {};
};

/// What to rent for several jobs: one bill for all.
struct TogetherAnswer {
  std::vector<PlannedJob> jobs;
  std::vector<PlannedPair> pairs;
  std::vector<std::string> alone;  // Jobs that keep their own plan.
  Dollars separate;                // The bill of all jobs by their own plans.
  Dollars cost;                    // The bill as they are paired.
  std::vector<std::string> notes;
  std::vector<std::string> assumptions;
  Json::Object unknown = {};
};

Result<Loaded<TogetherAnswer>> read_together(std::string_view text, const std::string& source);
std::string write_together(const TogetherAnswer& answer);
Status validate(const TogetherAnswer& answer);
Json together_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, PlannedJob>& it) {
  walk.field("name", it.name, "Of the job; jobs of the same name are numbered.",
             {.range = Range::kAtLeastOne});
  walk.text("cluster", it.cluster, parse_cluster, "The best for it alone, as text.");
  walk.field("market", it.market, "That its VMs come from.");
  walk.field("time_s", it.time, "Of the whole training.");
  walk.field("cost_usd", it.cost, "Of the whole training.");
  walk.field("global_batch", it.global_batch, "Samples of one iteration.",
             {.range = Range::kAtLeastOne});
  walk.number("deadline_s", it.deadline, kSecond, "From the start.", Range::kPositive);
  walk.field("p_deadline", it.p_deadline, "Probability that it is kept.",
             {.range = Range::kFraction});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PlannedPair>& it) {
  walk.text("cluster", it.cluster, parse_cluster, "The VMs that they share, as text.");
  walk.field("sharing", it.sharing, "How they share, and what each gets.");
  walk.number("cost_usd", it.cost, kDollar, "Of both, with start-up.", Range::kNotNegative);
  walk.number("separate_usd", it.separate, kDollar, "Of the best plan for each.",
              Range::kNotNegative);
  walk.field("global_batches", it.global_batches, "Of each of the two.",
             {.range = Range::kAtLeastOne});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, TogetherAnswer>& it) {
  walk.field("jobs", it.jobs, "Each with the best plan for it alone.", {.always = true});
  walk.field("pairs", it.pairs, "Jobs that share a cluster instead.", {.always = true});
  walk.field("alone", it.alone, "Jobs that keep their own plan.", {.always = true});
  walk.number("separate_usd", it.separate, kDollar, "The bill by their own plans.",
              Range::kNotNegative);
  walk.number("cost_usd", it.cost, kDollar, "The bill as they are paired.", Range::kNotNegative);
  walk.field("notes", it.notes, "What a person should think of.");
  walk.field("assumptions", it.assumptions, "What was taken for granted.");
  walk.rest(it.unknown);
}

}  // namespace stint
