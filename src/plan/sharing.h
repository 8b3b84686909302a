#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "plan/plan.h"
#include "plan/sharing_mode.h"

namespace stint {

inline constexpr const char* kSharingSchema = "stint.interleave/1";

/// A saving with its 80 % interval; it may be a loss.
struct SavedRange {
  Dollars mean;
  Dollars p10;
  Dollars p90;
  Json::Object unknown = {};
};

/// A job alone on the cluster.
struct SharingJob {
  std::string name;
  std::int64_t global_batch = 1;
  double iterations = 1;
  Seconds iteration;  // Alone, with normal overlap.
  TimeRange time;     // Alone.
  std::optional<Dollars> cost;
  std::optional<Seconds> deadline;
  std::optional<double> p_deadline;  // Alone.
  Json::Object unknown = {};
};

/// The prediction for one of two jobs that share.
struct SharingMember {
  std::string job;
  double slowdown = 1;           // Slowdown of the whole training.
  double slowdown_together = 1;  // Slowdown while the other job trains.
  Seconds iteration;             // Time of an iteration while the other job trains.
  TimeRange time;
  std::optional<double> p_deadline;
  Json::Object unknown = {};
};

/// One way for two jobs to share.
struct SharingChoice {
  SharingMode mode = SharingMode::kBucket;
  std::vector<int> turns;              // Turns of each job in a round, where they take turns.
  std::optional<Seconds> period;       // Time of such a round.
  double speedup = 1;                  // Over sequential runs with normal overlap,
  double speedup_without_overlap = 1;  // and over sequential runs without overlap.
  Seconds time;                        // Makespan of both jobs.
  std::optional<Dollars> cost;
  std::vector<SharingMember> members;  // Two.
  Json::Object unknown = {};
};

/// Jobs that share the cluster.
struct SharingPair {
  SharingChoice choice;
  std::optional<SavedRange> saved;
  Json::Object unknown = {};
};

/// The assessment of two jobs.
struct SharingVerdict {
  std::vector<std::string> jobs;
  SharingMode recommended = SharingMode::kSeparately;
  std::optional<std::string> reason;   // Reason against sharing, as a sentence.
  std::vector<SharingChoice> options;  // The best of each mode, and separate clusters; best first.
  Json::Object unknown = {};
};

/// Which jobs should share machines, the prediction for each, and the saving.
struct SharingAnswer {
  Cluster cluster;
  std::vector<SharingJob> jobs;
  std::vector<SharingPair> pairs;
  std::vector<std::string> alone;          // Names of the jobs that do not share.
  std::vector<SharingVerdict> considered;  // All pairs of jobs.
  double speedup = 1;                      // Speedup of all jobs over sequential runs.
  std::optional<Dollars> separate;         // Cost of all jobs alone.
  std::optional<Dollars> cost;             // Cost of all jobs as paired.
  std::optional<PriceUsed> price;
  std::vector<std::string> notes;        // Remarks for the reader, as sentences.
  std::vector<std::string> assumptions;  // Sentences.
  Json::Object unknown = {};
};

Result<Loaded<SharingAnswer>> read_sharing(std::string_view text, const std::string& source);
std::string write_sharing(const SharingAnswer& answer);
Status validate(const SharingAnswer& answer);
Json sharing_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, SavedRange>& it) {
  walk.number("mean", it.mean, kDollar, "Expected amount, in dollars.", Range::kAny);
  walk.number("p10", it.p10, kDollar, "10th percentile, in dollars.", Range::kAny);
  walk.number("p90", it.p90, kDollar, "90th percentile, in dollars.", Range::kAny);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SharingJob>& it) {
  walk.field("name", it.name, "Name of the job; jobs of the same name are numbered.",
             {.range = Range::kAtLeastOne});
  walk.field("global_batch", it.global_batch, "Samples per iteration.",
             {.range = Range::kAtLeastOne});
  walk.field("iterations", it.iterations, "Number of iterations to train.",
             {.range = Range::kNotNegative});
  walk.number("iteration_s", it.iteration, kSecond,
              "Time of an iteration alone, with normal overlap.", Range::kPositive);
  walk.field("time_s", it.time, "Completion time alone.");
  walk.number("cost_usd", it.cost, kDollar, "Cost alone; absent: a price is not known.",
              Range::kNotNegative);
  walk.number("deadline_s", it.deadline, kSecond, "Deadline, from the start.", Range::kPositive);
  walk.field("p_deadline", it.p_deadline, "Probability of meeting the deadline alone.",
             {.range = Range::kFraction});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SharingMember>& it) {
  walk.field("job", it.job, "Name of the job.", {.range = Range::kAtLeastOne});
  walk.field("slowdown", it.slowdown, "Slowdown of the whole training relative to training alone.",
             {.range = Range::kPositive});
  walk.field("slowdown_together", it.slowdown_together,
             "Slowdown of an iteration while the other job trains.", {.range = Range::kPositive});
  walk.number("iteration_s", it.iteration, kSecond,
              "Mean time of an iteration while the other job trains.", Range::kPositive);
  walk.field("time_s", it.time, "Completion time.");
  walk.field("p_deadline", it.p_deadline, "Probability of meeting the deadline.",
             {.range = Range::kFraction});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SharingChoice>& it) {
  walk.field("mode", it.mode, "Sharing mode.");
  walk.field("turns", it.turns, "Turns of each job in a round, where the jobs take turns.",
             {.range = Range::kAtLeastOne});
  walk.number("period_s", it.period, kSecond, "Time of a round, where the jobs take turns.",
              Range::kPositive);
  walk.field("speedup", it.speedup, "Speedup over sequential runs with normal overlap.",
             {.range = Range::kPositive});
  walk.field("speedup_without_overlap", it.speedup_without_overlap,
             "Speedup over sequential runs that send gradients only after the whole backward pass.",
             {.range = Range::kPositive});
  walk.number("time_s", it.time, kSecond, "Makespan of both jobs.", Range::kNotNegative);
  walk.number("cost_usd", it.cost, kDollar, "Cost of both jobs.", Range::kNotNegative);
  walk.field("members", it.members, "Prediction for each of the two jobs.", {.always = true});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SharingPair>& it) {
  walk.field("choice", it.choice, "Sharing mode and its prediction.");
  walk.field("saved_usd", it.saved, "Cost saved relative to separate clusters.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SharingVerdict>& it) {
  walk.field("jobs", it.jobs, "Names of the two jobs.", {.always = true});
  walk.field("recommended", it.recommended, "Recommended way to share.");
  walk.field("reason", it.reason, "Reason against sharing, where separate clusters are better.");
  walk.field("options", it.options, "Best option of each mode and separate clusters, best first.",
             {.always = true});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SharingAnswer>& it) {
  walk.text("cluster", it.cluster, parse_cluster, "VMs, as text.");
  walk.field("jobs", it.jobs, "Jobs, each alone on the cluster.", {.always = true});
  walk.field("pairs", it.pairs, "Jobs that share the cluster.", {.always = true});
  walk.field("alone", it.alone, "Jobs that do not share.", {.always = true});
  walk.field("considered", it.considered, "All pairs of jobs that were considered.");
  walk.field("speedup", it.speedup, "Speedup of all jobs over sequential runs.",
             {.range = Range::kPositive});
  walk.number("separate_usd", it.separate, kDollar, "Cost of all jobs alone.", Range::kNotNegative);
  walk.number("cost_usd", it.cost, kDollar, "Cost of all jobs as paired.", Range::kNotNegative);
  walk.field("price", it.price, "Price of the cluster; absent: a price is not known.");
  walk.field("notes", it.notes, "Remarks for the reader, as sentences.");
  walk.field("assumptions", it.assumptions, "Assumptions, as sentences.");
  walk.rest(it.unknown);
}

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
  Dollars cost;      // Including start-up.
  Dollars separate;  // Cost of the best separate plans.
  std::vector<int> global_batches;
  Json::Object unknown = {};
};

/// The machines to rent for several jobs, with one bill for all.
struct TogetherAnswer {
  std::vector<PlannedJob> jobs;
  std::vector<PlannedPair> pairs;
  std::vector<std::string> alone;  // Jobs that keep their own plan.
  Dollars separate;                // Cost of all jobs by separate plans.
  Dollars cost;                    // Cost of all jobs as paired.
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
  walk.field("name", it.name, "Name of the job; jobs of the same name are numbered.",
             {.range = Range::kAtLeastOne});
  walk.text("cluster", it.cluster, parse_cluster, "Best cluster for the job alone, as text.");
  walk.field("market", it.market, "Market of the VMs.");
  walk.field("time_s", it.time, "Completion time.");
  walk.field("cost_usd", it.cost, "Cost of the whole training.");
  walk.field("global_batch", it.global_batch, "Samples per iteration.",
             {.range = Range::kAtLeastOne});
  walk.number("deadline_s", it.deadline, kSecond, "Deadline, from the start.", Range::kPositive);
  walk.field("p_deadline", it.p_deadline, "Probability of meeting the deadline.",
             {.range = Range::kFraction});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PlannedPair>& it) {
  walk.text("cluster", it.cluster, parse_cluster, "Shared VMs, as text.");
  walk.field("sharing", it.sharing, "Sharing mode and the prediction for each job.");
  walk.number("cost_usd", it.cost, kDollar, "Cost of both jobs, with start-up.",
              Range::kNotNegative);
  walk.number("separate_usd", it.separate, kDollar, "Cost of the best separate plans.",
              Range::kNotNegative);
  walk.field("global_batches", it.global_batches, "Global batch of each job.",
             {.range = Range::kAtLeastOne});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, TogetherAnswer>& it) {
  walk.field("jobs", it.jobs, "Jobs, each with the best plan for it alone.", {.always = true});
  walk.field("pairs", it.pairs, "Jobs that share a cluster instead.", {.always = true});
  walk.field("alone", it.alone, "Jobs that keep their own plan.", {.always = true});
  walk.number("separate_usd", it.separate, kDollar, "Cost of all jobs by separate plans.",
              Range::kNotNegative);
  walk.number("cost_usd", it.cost, kDollar, "Cost of all jobs as paired.", Range::kNotNegative);
  walk.field("notes", it.notes, "Remarks for the reader, as sentences.");
  walk.field("assumptions", it.assumptions, "Assumptions, as sentences.");
  walk.rest(it.unknown);
}

}  // namespace stint
