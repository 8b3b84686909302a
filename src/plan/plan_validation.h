#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "plan/validation.h"

namespace stint {

/// How well plans did under deadlines; see calibrate/plan_choice.h for what regret is. With n = 0
/// nothing was scored, and the figures are zero for want of a better number.
struct PlanScore {
  int n = 0;
  double mean_regret = 0;  // Below zero where a missed deadline came out cheaper than keeping it.
  double p90_regret = 0;
  double deadlines_met = 0;  // Share.
  Json::Object unknown = {};
};

/// The plans of one way to choose.
struct PolicyScores {
  PlanScore overall;
  std::map<std::string, PlanScore> jobs;
  Json::Object unknown = {};
};

/// What `stint validate plan` found: a validation (the same schema) whose `what` is "plan".
struct PlanValidation {
  std::string what = "plan";
  double confidence = 0;
  PlanScore overall;
  std::map<std::string, PlanScore> jobs;
  std::map<std::string, PolicyScores> policies;  // Ours ("stint") among them.
  std::optional<std::string> split;              // How rows were divided into training and test.
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
  walk.field("n", it.n, "Decisions that were scored.", {.range = Range::kNotNegative});
  walk.field("mean_regret", it.mean_regret,
             "Mean of real cost over that of the best choice, minus one.");
  walk.field("p90_regret", it.p90_regret, "Nine in ten are below.");
  walk.field("deadlines_met", it.deadlines_met, "Share of deadlines that were kept.",
             {.range = Range::kFraction});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PolicyScores>& it) {
  walk.field("overall", it.overall, "Over all decisions.");
  walk.field("jobs", it.jobs, "By job.", {.always = true});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PlanValidation>& it) {
  walk.field("what", it.what, "What was validated: plan.");
  walk.field("confidence", it.confidence, "At which a deadline had to be predicted to be met.",
             {.range = Range::kFraction});
  walk.field("overall", it.overall, "Stint's plans, over all decisions.");
  walk.field("jobs", it.jobs, "The same by job.", {.always = true});
  walk.field("policies", it.policies, "Stint and other ways to choose, on the same decisions.",
             {.always = true});
  walk.field("split", it.split, "How rows were divided into training and test.");
  walk.field("notes", it.notes, "What else a reader should know.");
  walk.rest(it.unknown);
}

}  // namespace stint
