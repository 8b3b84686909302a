#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "base/units.h"
#include "plan/validation.h"

namespace stint {

/// The score of a search policy, averaged over starting points.
struct SearchScore {
  // Time relative to the clairvoyant optimum from the same starting point,
  double time_over_oracle = 1;
  double cost_over_oracle = 1;  // and cost relative to it.
  double probes = 0;            // Number of setups that it timed.
  double moves = 0;
  Json::Object unknown = {};
};

/// The number of setups of one job, and the scores of the search policies.
struct SearchedJob {
  int setups = 0;  // Clusters times batches.
  Seconds oracle_time;
  Dollars oracle_cost;
  std::map<std::string, SearchScore> policies;
  Json::Object unknown = {};
};

/// The result of `stint validate search`: a validation (the same schema) whose `what` is "search".
struct SearchValidation {
  std::string what = "search";
  std::string objective;
  int seeds = 0;
  std::map<std::string, SearchScore> policies;  // Means over jobs.
  std::map<std::string, SearchedJob> jobs;
  std::vector<std::string> notes;
  Json::Object unknown = {};
};

Result<Loaded<SearchValidation>> read_search_validation(std::string_view text,
                                                        const std::string& source);
std::string write_search_validation(const SearchValidation& validation);
Status validate(const SearchValidation& validation);
Json search_validation_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, SearchScore>& it) {
  walk.field("time_over_oracle", it.time_over_oracle,
             "Mean ratio of the time to the clairvoyant optimum from the same starting point.",
             {.range = Range::kPositive});
  walk.field("cost_over_oracle", it.cost_over_oracle,
             "Mean ratio of the cost to the clairvoyant optimum from the same starting point.",
             {.range = Range::kPositive});
  walk.field("probes", it.probes, "Mean number of setups that were timed.",
             {.range = Range::kNotNegative});
  walk.field("moves", it.moves, "Mean number of moves from one setup to another.",
             {.range = Range::kNotNegative});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SearchedJob>& it) {
  walk.field("setups", it.setups, "Number of setups (clusters times batches) to choose from.",
             {.range = Range::kNotNegative});
  walk.number("oracle_time_s", it.oracle_time, kSecond, "Mean time of the clairvoyant optimum.",
              Range::kNotNegative);
  walk.number("oracle_cost_usd", it.oracle_cost, kDollar, "Mean cost of the clairvoyant optimum.",
              Range::kNotNegative);
  walk.field("policies", it.policies, "Scores of Stint and of other search policies.",
             {.always = true});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SearchValidation>& it) {
  walk.field("what", it.what, "Kind of validation: search.");
  walk.field("objective", it.objective, "Quantity to minimise: time or cost.");
  walk.field("seeds", it.seeds, "Number of starting points drawn for each job.",
             {.range = Range::kNotNegative});
  walk.field("policies", it.policies,
             "Scores of Stint and of other search policies, means over jobs.", {.always = true});
  walk.field("jobs", it.jobs, "The same scores by job.", {.always = true});
  walk.field("notes", it.notes, "Remarks for the reader, as sentences.");
  walk.rest(it.unknown);
}

/// The score of plans under deadlines; see calibrate/plan_choice.h for the definition of regret.
/// With n = 0 nothing was scored, and the figures are zero.
struct PlanScore {
  int n = 0;
  double mean_regret = 0;  // Below zero where missing a deadline was cheaper than keeping it.
  double p90_regret = 0;
  double deadlines_met = 0;  // Share.
  Json::Object unknown = {};
};

/// The scores of one planning policy.
struct PolicyScores {
  PlanScore overall;
  std::map<std::string, PlanScore> jobs;
  Json::Object unknown = {};
};

/// Promises of about the same probability, and how many of them were kept.
struct ReliabilityBin {
  double from = 0;  // The bin's probabilities: from here, below `to`.
  double to = 1;
  int n = 0;
  double promised = 0;  // Mean probability.
  double kept = 0;      // Share.
  Json::Object unknown = {};
};

/// The result of `stint validate plan`: a validation (the same schema) whose `what` is "plan".
struct PlanValidation {
  std::string what = "plan";
  double confidence = 0;
  PlanScore overall;
  std::map<std::string, PlanScore> jobs;
  std::map<std::string, PolicyScores> policies;  // Ours ("stint") among them.
  // P(deadline) against what happened: of the chosen candidates, and of all of them.
  std::vector<ReliabilityBin> reliability;
  std::vector<ReliabilityBin> reliability_candidates;
  std::optional<std::string> split;  // Split into training and test rows.
  std::vector<std::string> notes;
  Json::Object unknown = {};
};

Result<Loaded<PlanValidation>> read_plan_validation(std::string_view text,
                                                    const std::string& source);
std::string write_plan_validation(const PlanValidation& validation);
Status validate(const PlanValidation& validation);
Json plan_validation_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, PlanScore>& it) {
  walk.field("n", it.n, "Number of decisions that were scored.", {.range = Range::kNotNegative});
  walk.field("mean_regret", it.mean_regret,
             "Mean regret: cost relative to the best choice, minus one.");
  walk.field("p90_regret", it.p90_regret, "90th percentile of the regret.");
  walk.field("deadlines_met", it.deadlines_met, "Share of deadlines that were met.",
             {.range = Range::kFraction});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PolicyScores>& it) {
  walk.field("overall", it.overall, "Score over all decisions.");
  walk.field("jobs", it.jobs, "Score by job.", {.always = true});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ReliabilityBin>& it) {
  walk.field("from", it.from, "Least probability of the bin.", {.range = Range::kFraction});
  walk.field("to", it.to, "End of the bin, which only the last one includes.",
             {.range = Range::kFraction});
  walk.field("n", it.n, "Number of promises.", {.range = Range::kNotNegative});
  walk.field("promised", it.promised, "Mean probability of keeping the deadline.",
             {.range = Range::kFraction});
  walk.field("kept", it.kept, "Share of deadlines that were kept.", {.range = Range::kFraction});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PlanValidation>& it) {
  walk.field("what", it.what, "Kind of validation: plan.");
  walk.field("confidence", it.confidence, "Probability with which a deadline is to be met.",
             {.range = Range::kFraction});
  walk.field("overall", it.overall, "Score of Stint's plans over all decisions.");
  walk.field("jobs", it.jobs, "The same scores by job.", {.always = true});
  walk.field("policies", it.policies,
             "Scores of Stint and of other policies on the same decisions.", {.always = true});
  walk.field("reliability", it.reliability,
             "P(deadline) of Stint's plans against the share of deadlines kept, by probability.");
  walk.field("reliability_candidates", it.reliability_candidates,
             "The same over all candidates under all deadlines, chosen or not.");
  walk.field("split", it.split, "Split into training and test rows.");
  walk.field("notes", it.notes, "Remarks for the reader, as sentences.");
  walk.rest(it.unknown);
}

/// The score of one pairing policy, over all mixes of jobs.
struct PairingScore {
  Dollars cost;      // Cost of all jobs.
  double saved = 0;  // Share of the cost of separate clusters; below zero: it cost more.
  int pairs = 0;     // Number of pairs that shared.
  Json::Object unknown = {};
};

/// The score of Stint's pairs relative to its predictions.
struct PairsChosen {
  int n = 0;
  int lost = 0;                // Pairs that cost more together than separately,
  int lost_beyond = 0;         // and those of them outside the interval of the saving.
  double coverage80 = 0;       // Share of pairs whose saving lies in its 80 % interval.
  double above_p10 = 0;        // Share of pairs that saved at least the lower end.
  double saved_predicted = 0;  // Mean saving as a share of the pair's cost, predicted
  double saved_measured = 0;   // and measured.
  Json::Object unknown = {};
};

/// An assumption about the network while jobs compute, and the scores under it.
struct PairingWorld {
  std::string assumption;                        // A sentence.
  std::map<std::string, PairingScore> policies;  // Ours ("stint") among them.
  PairsChosen chosen;
  Json::Object unknown = {};
};

/// The result of `stint validate interleave`: a validation (the same schema) whose `what` is
/// "interleave".
struct InterleaveValidation {
  std::string what = "interleave";
  int mixes = 0;
  int jobs_per_mix = 0;
  std::map<std::string, PairingWorld> worlds;
  std::optional<std::string> split;  // Split into training and test rows.
  std::vector<std::string> notes;
  Json::Object unknown = {};
};

Result<Loaded<InterleaveValidation>> read_interleave_validation(std::string_view text,
                                                                const std::string& source);
std::string write_interleave_validation(const InterleaveValidation& validation);
Status validate(const InterleaveValidation& validation);
Json interleave_validation_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, PairingScore>& it) {
  walk.number("cost_usd", it.cost, kDollar, "Cost of all jobs of all mixes.", Range::kNotNegative);
  walk.field("saved", it.saved, "Saving relative to the cost of separate clusters.");
  walk.field("pairs", it.pairs,
             "Number of pairs that shared a cluster; the mean over draws where pairs are drawn.",
             {.range = Range::kNotNegative});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PairsChosen>& it) {
  walk.field("n", it.n, "Number of pairs that Stint chose.", {.range = Range::kNotNegative});
  walk.field("lost", it.lost, "Number of pairs that cost more together than separately.",
             {.range = Range::kNotNegative});
  walk.field("lost_beyond", it.lost_beyond,
             "Number of those whose loss lies outside the 80 % interval of the saving.",
             {.range = Range::kNotNegative});
  walk.field("coverage80", it.coverage80, "Share of pairs whose saving lies in its 80 % interval.",
             {.range = Range::kFraction});
  walk.field("above_p10", it.above_p10,
             "Share of pairs that saved at least the lower end of that interval.",
             {.range = Range::kFraction});
  walk.field("saved_predicted", it.saved_predicted,
             "Mean predicted saving, as a share of a pair's cost.");
  walk.field("saved_measured", it.saved_measured,
             "Mean measured saving, as a share of a pair's cost.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PairingWorld>& it) {
  walk.field("assumption", it.assumption, "Assumption about what the measured rows do not show.");
  walk.field("policies", it.policies, "Scores of Stint and of other pairing policies.",
             {.always = true});
  walk.field("chosen", it.chosen, "Score of the pairs that Stint chose.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, InterleaveValidation>& it) {
  walk.field("what", it.what, "Kind of validation: interleave.");
  walk.field("mixes", it.mixes, "Number of job mixes drawn from the table.",
             {.range = Range::kNotNegative});
  walk.field("jobs_per_mix", it.jobs_per_mix, "Number of jobs in each mix.",
             {.range = Range::kNotNegative});
  walk.field("worlds", it.worlds, "Scores by assumption about the network.", {.always = true});
  walk.field("split", it.split, "Split into training and test rows.");
  walk.field("notes", it.notes, "Remarks for the reader, as sentences.");
  walk.rest(it.unknown);
}

/// The score under refusals of on-demand starts.
struct RefusalScore {
  int missed = 0;     // Windows. Their work is finished on demand after the deadline.
  Seconds slip_mean;  // Delay of completion relative to the same windows without refusals.
  Seconds slip_max;
  Seconds late_max;  // Time past the deadline.
  Json::Object unknown = {};
};

/// The score of a policy over windows, relative to the clairvoyant optimum.
struct DeadlineScore {
  double cost_ratio_to_optimum = 0;  // Means of the ratio over windows.
  double cost_ratio_to_on_demand = 0;
  int missed = 0;  // Windows. Their cost is the cost until the deadline.
  double worst_ratio_to_optimum = 0;
  std::optional<RefusalScore> refused = {};
  Json::Object unknown = {};
};

/// The windows of one trace.
struct DeadlineTraceScores {
  int windows = 0;
  std::map<std::string, DeadlineScore> policies;
  Json::Object unknown = {};
};

/// The windows of synthetic pools of one kind under deadlines of one length.
struct DeadlineCell {
  std::string kind;
  double slack = 1;  // Deadline over work.
  int windows = 0;
  std::map<std::string, DeadlineScore> policies;
  Json::Object unknown = {};
};

/// The result of `stint validate deadline`: a validation (the same schema) whose `what` is
/// "deadline".
struct DeadlineValidation {
  std::string what = "deadline";
  int windows = 0;
  std::map<std::string, DeadlineScore> policies;  // Ours ("stint") among them.
  std::map<std::string, DeadlineTraceScores> traces = {};
  std::vector<DeadlineCell> cells = {};
  // Recorded launch failures that were applied to the windows.
  std::optional<std::string> refusals = {};
  std::vector<std::string> notes = {};
  Json::Object unknown = {};
};

Result<Loaded<DeadlineValidation>> read_deadline_validation(std::string_view text,
                                                            const std::string& source);
std::string write_deadline_validation(const DeadlineValidation& validation);
Status validate(const DeadlineValidation& validation);
Json deadline_validation_schema();

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, RefusalScore>& it) {
  walk.field("missed", it.missed, "Number of windows whose deadline was missed.",
             {.range = Range::kNotNegative});
  walk.number("slip_mean_s", it.slip_mean, kSecond,
              "Mean delay of completion relative to the same windows without refusals.",
              Range::kAny);
  walk.number("slip_max_s", it.slip_max, kSecond, "Largest delay of completion.",
              Range::kNotNegative);
  walk.number("late_max_s", it.late_max, kSecond,
              "Longest time from a missed deadline until on-demand machines finish the work.",
              Range::kNotNegative);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, DeadlineScore>& it) {
  walk.field("cost_ratio_to_optimum", it.cost_ratio_to_optimum,
             "Mean ratio of the cost to the clairvoyant optimum, over windows.",
             {.range = Range::kNotNegative});
  walk.field("cost_ratio_to_on_demand", it.cost_ratio_to_on_demand,
             "Mean ratio of the cost to that of on-demand machines alone, over windows.",
             {.range = Range::kNotNegative});
  walk.field("missed", it.missed, "Number of windows whose deadline was missed.",
             {.range = Range::kNotNegative});
  walk.field("worst_ratio_to_optimum", it.worst_ratio_to_optimum,
             "Largest ratio of the cost to the clairvoyant optimum.",
             {.range = Range::kNotNegative});
  walk.field("refused", it.refused, "Score on the same windows with refused on-demand starts.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, DeadlineTraceScores>& it) {
  walk.field("windows", it.windows, "Number of windows of the trace.",
             {.range = Range::kNotNegative});
  walk.field("policies", it.policies, "Scores by policy.", {.always = true});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, DeadlineCell>& it) {
  walk.field("kind", it.kind, "Kind of process that generates the spells of the pools.");
  walk.field("slack", it.slack, "Ratio of the deadline to the work.", {.range = Range::kPositive});
  walk.field("windows", it.windows, "Number of windows of all pools.",
             {.range = Range::kNotNegative});
  walk.field("policies", it.policies, "Scores by policy.", {.always = true});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, DeadlineValidation>& it) {
  walk.field("what", it.what, "Kind of validation: deadline.");
  walk.field("windows", it.windows, "Number of windows that were simulated.",
             {.range = Range::kNotNegative});
  walk.field("policies", it.policies, "Scores of Stint and of other policies on the same windows.",
             {.always = true});
  walk.field("traces", it.traces, "The same scores by trace.");
  walk.field("cells", it.cells, "The same scores by kind of synthetic pool and by slack.");
  walk.field("refusals", it.refusals, "Recorded launch failures that were applied to the windows.");
  walk.field("notes", it.notes, "Remarks for the reader, as sentences.");
  walk.rest(it.unknown);
}

}  // namespace stint
