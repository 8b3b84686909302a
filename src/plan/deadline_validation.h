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

/// What became of the deadlines when on-demand starts were refused at times.
struct RefusalScore {
  int missed = 0;     // Windows. Their work is finished on demand after the deadline.
  Seconds slip_mean;  // How much later the work is done than without refusals.
  Seconds slip_max;
  Seconds late_max;  // Past the deadline.
  Json::Object unknown = {};
};

/// How well a policy did over windows. The optimum knows each window beforehand.
struct DeadlineScore {
  double cost_ratio_to_optimum = 0;  // Means over windows of the ratio.
  double cost_ratio_to_on_demand = 0;
  int missed = 0;  // Windows. Their cost is what was paid until the deadline.
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

/// What `stint validate deadline` found: a validation (the same schema) whose `what` is "deadline".
struct DeadlineValidation {
  std::string what = "deadline";
  int windows = 0;
  std::map<std::string, DeadlineScore> policies;  // Ours ("stint") among them.
  std::map<std::string, DeadlineTraceScores> traces = {};
  std::vector<DeadlineCell> cells = {};
  std::optional<std::string> refusals = {};  // Which recorded failures were put on the windows.
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
  walk.field("missed", it.missed, "Windows whose deadline was missed.",
             {.range = Range::kNotNegative});
  walk.number("slip_mean_s", it.slip_mean, kSecond,
              "How much later the work is done than without refusals, mean over windows.",
              Range::kAny);
  walk.number("slip_max_s", it.slip_max, kSecond, "The most of it.", Range::kNotNegative);
  walk.number("late_max_s", it.late_max, kSecond,
              "The longest past a deadline until the work is done on demand.", Range::kNotNegative);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, DeadlineScore>& it) {
  walk.field("cost_ratio_to_optimum", it.cost_ratio_to_optimum,
             "Cost over that of the best choices in hindsight, mean over windows.",
             {.range = Range::kNotNegative});
  walk.field("cost_ratio_to_on_demand", it.cost_ratio_to_on_demand,
             "Cost over that of on-demand machines alone, mean over windows.",
             {.range = Range::kNotNegative});
  walk.field("missed", it.missed, "Windows whose deadline was missed.",
             {.range = Range::kNotNegative});
  walk.field("worst_ratio_to_optimum", it.worst_ratio_to_optimum, "The largest of the ratios.",
             {.range = Range::kNotNegative});
  walk.field("refused", it.refused, "The same windows when on-demand starts were refused.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, DeadlineTraceScores>& it) {
  walk.field("windows", it.windows, "Windows of the trace.", {.range = Range::kNotNegative});
  walk.field("policies", it.policies, "By name.", {.always = true});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, DeadlineCell>& it) {
  walk.field("kind", it.kind, "How the spells of the pools come about.");
  walk.field("slack", it.slack, "Deadline over work.", {.range = Range::kPositive});
  walk.field("windows", it.windows, "Windows of all pools.", {.range = Range::kNotNegative});
  walk.field("policies", it.policies, "By name.", {.always = true});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, DeadlineValidation>& it) {
  walk.field("what", it.what, "What was validated: deadline.");
  walk.field("windows", it.windows, "Windows that were played.", {.range = Range::kNotNegative});
  walk.field("policies", it.policies, "Stint and others, on the same windows.", {.always = true});
  walk.field("traces", it.traces, "The same by trace.");
  walk.field("cells", it.cells, "The same by kind of synthetic pool and by slack.");
  walk.field("refusals", it.refusals, "Which recorded failures were put on the windows.");
  walk.field("notes", it.notes, "What else a reader should know.");
  walk.rest(it.unknown);
}

}  // namespace stint
