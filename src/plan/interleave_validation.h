#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "plan/validation.h"

namespace stint {

/// What one way to pair jobs came to, over all mixes of jobs.
struct PairingScore {
  Dollars cost;      // Of all jobs.
  double saved = 0;  // Share of the cost of separate clusters; below zero: it cost more.
  int pairs = 0;     // That shared.
  Json::Object unknown = {};
};

/// How the pairs that Stint chose did against what it had said.
struct PairsChosen {
  int n = 0;
  int lost = 0;                // That cost more together than separately,
  int lost_beyond = 0;         // and more than the interval of what they would save allows.
  double coverage80 = 0;       // Share of them whose saving lies in its 80 % interval.
  double above_p10 = 0;        // Share of them that saved no less than the lower end.
  double saved_predicted = 0;  // Mean share of the pair's bill that was to be saved, and
  double saved_measured = 0;   // that was.
  Json::Object unknown = {};
};

/// What is assumed of the network while jobs compute, and what followed.
struct PairingWorld {
  std::string assumption;                        // A whole sentence.
  std::map<std::string, PairingScore> policies;  // Ours ("stint") among them.
  PairsChosen chosen;
  Json::Object unknown = {};
};

/// What `stint validate interleave` found: a validation (the same schema) whose `what` is
/// "interleave".
struct InterleaveValidation {
  std::string what = "interleave";
  int mixes = 0;
  int jobs_per_mix = 0;
  std::map<std::string, PairingWorld> worlds;
  std::optional<std::string> split;  // How rows were divided into training and test.
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
  walk.number("cost_usd", it.cost, kDollar, "Of all jobs of all mixes.", Range::kNotNegative);
  walk.field("saved", it.saved, "Share of what separate clusters cost.");
  walk.field("pairs", it.pairs, "That shared a cluster; a mean over draws where pairs are drawn.",
             {.range = Range::kNotNegative});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PairsChosen>& it) {
  walk.field("n", it.n, "Pairs that Stint chose.", {.range = Range::kNotNegative});
  walk.field("lost", it.lost, "That cost more together than separately.",
             {.range = Range::kNotNegative});
  walk.field("lost_beyond", it.lost_beyond,
             "And more than the 80 % interval of what they would save allows.",
             {.range = Range::kNotNegative});
  walk.field("coverage80", it.coverage80, "Share whose saving lies in its 80 % interval.",
             {.range = Range::kFraction});
  walk.field("above_p10", it.above_p10, "Share that saved no less than the lower end of it.",
             {.range = Range::kFraction});
  walk.field("saved_predicted", it.saved_predicted, "Mean share of a pair's bill, predicted.");
  walk.field("saved_measured", it.saved_measured, "Mean share of a pair's bill, measured.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PairingWorld>& it) {
  walk.field("assumption", it.assumption, "What measured rows leave open.");
  walk.field("policies", it.policies, "Stint and other ways to pair.", {.always = true});
  walk.field("chosen", it.chosen, "The pairs that Stint chose.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, InterleaveValidation>& it) {
  walk.field("what", it.what, "What was validated: interleave.");
  walk.field("mixes", it.mixes, "Of jobs, drawn from the table.", {.range = Range::kNotNegative});
  walk.field("jobs_per_mix", it.jobs_per_mix, "In each.", {.range = Range::kNotNegative});
  walk.field("worlds", it.worlds, "By what is assumed of the network.", {.always = true});
  walk.field("split", it.split, "How rows were divided into training and test.");
  walk.field("notes", it.notes, "What else a reader should know.");
  walk.rest(it.unknown);
}

}  // namespace stint
