#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"
#include "cli/verb.h"

// What the verbs offer to the verb table (cli/verbs.cc) and to each other.

namespace stint {

struct DeadlineValidation;
struct InterleaveValidation;
struct PlanRequest;
struct PlanValidation;
struct RunRequest;
struct SearchValidation;
struct TogetherAnswer;

}  // namespace stint

namespace stint::cli {

/// `plan`, `explain` and `demo`.
std::vector<Verb> plan_verbs();

/// One bill for several jobs, for a person: what each would rent alone, which of them share what,
/// and what that saves.
std::string together_sheet(const TogetherAnswer& answer, const Terminal& terminal);

/// `stint plan` with several jobs: `request` has the options that apply to all of them.
ExitCode plan_several(const Invocation& invocation, const PlanRequest& request);

/// The text of a project file: every common key with the help of its flag as a comment. The options
/// and arguments of `given` are its values; the other keys are commented out.
std::string project_text(const Invocation& given);

/// `stint init`.
Verb init_verb();

/// `predict` and `whatif`.
std::vector<Verb> predict_verbs();

/// `stint layouts`.
Verb layouts_verb();

/// models list, models show and job new.
std::vector<Verb> model_verbs();

/// risk simulate.
Verb risk_simulate_verb();

/// risk replay.
Verb risk_replay_verb();

/// risk fit and risk survive.
std::vector<Verb> risk_verbs();

/// The options for the source of a hazard: a region, lifetimes, or an advisor table.
std::vector<OptionSpec> hazard_options();

/// `stint risk saves`.
Verb risk_saves_verb();

/// `stint interleave`.
Verb interleave_verb();

/// `stint profile`.
Verb profile_verb();

/// import trace and import nccl.
std::vector<Verb> import_verbs();

/// "stint probe network".
Verb probe_network_verb();

std::vector<Verb> calibrate_verbs();

/// `stint demo --run`.
ExitCode demo_run(const Invocation& invocation);

Verb run_verb();

/// `stint run --interleave`: two runs on the same machines. `common` has the options of both.
ExitCode run_interleaved(const Invocation& invocation, const RunRequest& common);

/// `stint run --resume` of a run that shares its machines.
ExitCode resume_interleaved(const Invocation& invocation, const std::string& name);

/// `stint receive`.
Verb receive_verb();

/// `stint agent`.
Verb agent_verb();

/// status, watch, report, stop.
std::vector<Verb> run_watch_verbs();

/// `stint logs`.
Verb logs_verb();

/// stint search
Verb search_verb();

/// The verbs of the emulated cloud: up, list, exec, preempt, down, clean.
std::vector<Verb> local_verbs();

/// catalog list, show, import and diff.
std::vector<Verb> catalog_verbs();

std::vector<Verb> validate_verbs();

/// validate survival.
Verb validate_survival_verb();

/// `stint validate prices`.
Verb validate_prices_verb();

/// `stint validate runs`.
Verb validate_runs_verb();

/// `stint validate schedules`.
Verb validate_schedules_verb();

/// `stint validate cases`.
Verb validate_cases_verb();

/// validate layout.
Verb validate_layout_verb();

/// validate memory.
Verb validate_memory_verb();

/// validate collective.
Verb validate_collective_verb();

/// validate convergence.
Verb validate_convergence_verb();

/// validate device.
Verb validate_device_verb();

/// validate revocations.
Verb validate_revocations_verb();

/// A line for each world and policy, from the dearest to the best that was possible.
std::string pairing_score_table(const InterleaveValidation& validation, const Terminal& terminal);

/// validate interleave.
Verb validate_interleave_verb();

/// A line for each job and policy, and for all jobs; ours comes first.
std::string plan_score_table(const PlanValidation& validation, const Terminal& terminal);

/// P(deadline) against the share of deadlines kept: a line for each range of probabilities, first
/// of our plans, then of all candidates under all deadlines.
std::string reliability_table(const PlanValidation& validation, const Terminal& terminal);

/// validate plan.
Verb validate_plan_verb();

/// A line for each policy, the best first; those that missed a deadline come last.
std::string deadline_score_table(const DeadlineValidation& validation, const Terminal& terminal);

/// A line for each policy, with what became of its deadlines when on-demand starts were refused.
std::string refusal_table(const DeadlineValidation& validation, const Terminal& terminal);

/// A line for each kind of pool and slack, and for all windows.
std::string deadline_cell_table(const DeadlineValidation& validation, const Terminal& terminal);

/// validate deadline.
Verb validate_deadline_verb();

/// validate pairs.
Verb validate_pairs_verb();

/// A line for each job and policy, and for all jobs; ours comes first.
std::string search_score_table(const SearchValidation& validation, const Terminal& terminal);

/// validate search.
Verb validate_search_verb();

}  // namespace stint::cli
