#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "load/environment.h"
#include "load/predict_inputs.h"
#include "optimise/optimise.h"
#include "optimise/policies.h"
#include "plan/plan.h"

namespace stint {

/// Marks the knee: its note begins with "knee".
void mark_knee(Plan& plan);
bool is_knee(const Plan& plan);

/// The same VMs with the same batch, predicted to take as long.
bool same_plan(const Plan& a, const Plan& b);

/// At most `rows` points of `front` in its order, spread evenly over it; its knee always stays, and
/// the ends when there is room for them. Requires that the knee is marked, and rows >= 1.
std::vector<Plan> front_rows(const std::vector<Plan>& front, int rows);

struct PlanRequest {
  std::string job;               // A file, or the name of a shipped job.
  std::string calibration = {};  // A file, or the name of a shipped one; empty: the default.
  Constraints constraints = {};
  // Absent: cost under a deadline, time under a budget alone, the front without either.
  std::optional<Objective> objective = {};
  std::optional<std::string> policy = {};  // Another's choice instead of ours.
  std::optional<std::string> vm = {};      // The one VM type that the policy `scavenger` is given.
  int rows = 10;
  std::vector<std::string> disabled_passes = {};
  std::string save = {};                  // A file to write the answer to as well; empty: none.
  std::vector<std::string> command = {};  // That trains; empty: the job's own.
  JobOverrides overrides = {};            // Of the job's profile.
  std::vector<std::string> compare = {};  // Clusters to compare with the first plan.
};

struct PlanOutcome {
  PlanAnswer answer;
  std::optional<Plan> ours = {};           // With a policy: the best plan of Stint itself.
  std::vector<std::string> warnings = {};  // Of what was read, and when the answer is not kept.
  bool kept = false;                       // For `--plan N`.
};

/// What the optimiser is asked, without a look at job, calibration and policy of the request. The
/// inputs must outlive it; whose machines they mean decides how long VMs take to start. Bad input:
/// a job without measured times or without a goal.
Result<PlanQuestion> plan_question(const PredictInputs& inputs, const PlanRequest& request);

/// `optimise`, or what a test puts in its place.
using Optimiser = std::function<Result<PlanAnswer>(const PlanQuestion&, const Clock&)>;

/// Plans a job, and keeps the answer in the state folder for `--plan N` and `explain`. That no plan
/// keeps the constraints is an answer (with `nearest`), not an error. Where the front is the
/// objective its points are the plans, fastest first; with the knee, it comes before them. Bad
/// input: a job without measured times or without a goal. Requires a clock.
Result<PlanOutcome> plan_job(const Environment& environment, const PlanRequest& request,
                             const Optimiser& optimiser = optimise);

}  // namespace stint
