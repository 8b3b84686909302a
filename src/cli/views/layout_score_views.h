#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/views/view.h"
#include "plan/validation.h"
#include "validate/sharded/validate_layout.h"

namespace stint {

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, LayoutScore>& it) {
  walk.field("n", it.n, "Number of choices: a model, a cluster and a batch each.",
             {.range = Range::kNotNegative});
  walk.field("mean_regret", it.mean_regret,
             "Mean of the time of the chosen layout over that of the fastest, minus one.",
             {.range = Range::kNotNegative});
  walk.field("worst_regret", it.worst_regret, "Largest of the same.",
             {.range = Range::kNotNegative});
  walk.field("top1", it.top1, "Share of choices that are the fastest layout.",
             {.range = Range::kFraction});
}

}  // namespace stint

namespace stint::cli {

/// The scores of a policy that Stint is compared with.
struct LayoutPolicyView {
  LayoutScore overall;
  std::map<std::string, LayoutScore> jobs;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, LayoutPolicyView>& it) {
  walk.field("overall", it.overall, "Score over all choices.");
  walk.field("jobs", it.jobs, "Score by model.", {.always = true});
}

/// `stint validate layout`.
struct LayoutScoresView {
  static constexpr const char* kSchema = kValidationSchema;
  static constexpr const char* kTitle = "Layouts that are predicted fastest, among measured ones";
  std::string what = "layout";
  LayoutScore overall;
  std::map<std::string, LayoutScore> jobs;
  std::map<std::string, LayoutPolicyView> baselines;
  std::optional<std::string> split;
  std::vector<std::string> notes;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, LayoutScoresView>& it) {
  walk.field("what", it.what, "Kind of validation: layout.");
  walk.field("overall", it.overall, "Score over all choices.");
  walk.field("jobs", it.jobs, "Score by model.", {.always = true});
  walk.field("baselines", it.baselines, "Scores of other policies on the same choices.",
             {.always = true});
  walk.field("split", it.split, "Split into training and test rows.");
  walk.field("notes", it.notes, "Remarks for the reader, as sentences.");
}

}  // namespace stint::cli
