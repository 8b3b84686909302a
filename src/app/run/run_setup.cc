#include "app/run/run_setup.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>

#include "app/run/run_forecast.h"
#include "app/run/run_layout.h"
#include "app/run/run_market.h"
#include "app/run/run_plans.h"
#include "app/sound_answer.h"
#include "base/check.h"
#include "base/process.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "load/job_overrides.h"
#include "load/plan_files.h"
#include "load/python_world.h"
#include "load/startup_times.h"
#include "predict/predictor.h"
#include "risk/save_cost.h"
#include "run/run_folder.h"
#include "run/worker_environment.h"

namespace stint {
namespace {

constexpr BytesPerSecond kMemory = 2000 * kMB / kSecond;  // A guess: copying, beside training.
constexpr int kReceiversMax = 64;  // One computer does not emulate more usefully.

/// Machines that keep checkpoints for the others.
Status add_receivers(const PredictInputs& inputs, const CheckpointSchedule& saves, RunPlan& plan) {
  if (saves.place == CheckpointPlace::kObjectStore) return {};
  if (saves.place == CheckpointPlace::kAnchor) {
    for (RunMachines& machines : plan.machines) {
      if (machines.market != Market::kOnDemand || machines.count != 1) continue;
      machines.receives = true;
      return {};
    }
  }
  const std::string name = saves.receiver.value_or("local.cpu");
  const auto type = find_type(inputs.catalog, {.name = name});
  if (!type.ok()) return type.error();
  const int count = saves.place == CheckpointPlace::kTier ? saves.receivers.value_or(1) : 1;
  if (count > kReceiversMax) {
    return bad_usage(fmt::format("--receivers must be from 1 to {}", kReceiversMax));
  }
  RunMachines machines{.type = (*type)->name,
                       .count = count,
                       .network = network_rate(**type).value_or(kGbit / kSecond),
                       .trains = false,
                       .receives = true,
                       .batch_per_vm = 0};
  for (const Offer& offer : (*type)->offers) {
    if (offer.on_demand) machines.on_demand = offer.on_demand->rate;
    machines.spot = machines.on_demand;
  }
  plan.machines.push_back(std::move(machines));
  return {};
}

Bytes checkpoint_bytes(const JobProfile& job) {
  if (job.checkpoint) return job.checkpoint->bytes;
  const Bytes parameters = job.parameter_bytes.value_or(job.gradient_bytes);
  return parameters + job.optimizer_bytes.value_or(parameters);
}

/// From the order until a checkpoint is safe, when a step takes so long.
Seconds save_time(const PredictInputs& inputs, const RunRecord& record, Seconds step) {
  const Bytes bytes = checkpoint_bytes(inputs.job);
  const Seconds ordered = static_cast<double>(save_ahead(step)) * step;
  if (record.checkpoint.place == CheckpointPlace::kObjectStore) {
    return ordered + bytes / startup_times().disk;
  }
  SaveSetup save{
      .bytes = bytes, .senders = 0, .place = record.checkpoint.place, .copy = bytes / kMemory};
  for (const RunMachines& machines : record.plan.machines) {
    if (machines.trains) {
      save.senders += machines.count;
      save.sender_nic = machines.network;
    }
    if (machines.receives) save.receiver_nic = machines.network;
  }
  // Each worker sends one shard, so that more receivers than workers are of no use.
  save.receivers = std::min(record.checkpoint.receivers.value_or(1), save.senders);
  return ordered + save_cost(save).until_safe();
}

/// What is chosen of a plan, or of a cluster that a person names.
struct Chosen {
  Cluster cluster;
  std::optional<PlanAnswer> answer = {};
  std::optional<Plan> plan = {};
  std::vector<std::string> warnings = {};
};

Result<Chosen> choose(const Environment& environment, const RunRequest& request) {
  Chosen chosen;
  if (!request.cluster.empty()) {
    auto cluster = parse_cluster(request.cluster);
    if (!cluster.ok()) return cluster.error();
    chosen.cluster = std::move(*cluster);
    return chosen;
  }
  auto picked = load_plan(environment, request.plan);
  if (!picked.ok()) return picked.error();
  chosen.plan = picked->answer.plans[picked->row];
  chosen.cluster = chosen.plan->cluster;
  chosen.warnings = std::move(picked->warnings);
  chosen.answer = std::move(picked->answer);
  return chosen;
}

/// The job that is asked for, else that of the plan; with what else is asked of it.
Result<Loaded<JobProfile>> job_of(const RunRequest& request, const Chosen& chosen) {
  if (request.job.empty() && !chosen.answer) {
    return bad_usage("--job is required: the profile of the job to run");
  }
  auto job = request.job.empty() ? load_planned_job(*chosen.answer) : load_job(request.job);
  if (!job.ok()) return job.error();
  const Status set = apply_overrides(request.overrides, job->noun);
  if (!set.ok()) return set.error();
  return job;
}

/// The steps to the goal: to the one that is asked for, else those of the plan, else the job's.
std::optional<std::int64_t> steps_to_goal(const RunRequest& request, const Chosen& chosen,
                                          const JobProfile& job, int global_batch) {
  const bool asked = request.overrides.goal || request.overrides.samples_per_epoch;
  if (chosen.plan && !asked) return chosen.plan->iterations;
  const auto samples = goal_samples(job);
  if (!samples) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil(*samples / global_batch));
}

Status set_work(const RunRequest& request, const Chosen& chosen, const JobProfile& job,
                RunRecord& record) {
  std::optional<int> batch = request.global_batch;
  if (!batch && chosen.plan) batch = chosen.plan->global_batch;
  if (!batch && job.batch) batch = job.batch->reference;
  if (!batch) return bad_usage("--batch is required: the samples per step");
  const std::optional<std::int64_t> steps =
      request.steps ? request.steps : steps_to_goal(request, chosen, job, *batch);
  if (!steps) return bad_usage("--steps or --goal is required: how far to train");
  record.global_batch = *batch;
  record.steps = *steps;
  record.deadline = request.deadline;
  record.budget = request.budget;
  if (!chosen.answer || !chosen.answer->goal) return {};
  if (!record.deadline) record.deadline = chosen.answer->goal->deadline;
  if (!record.budget) record.budget = chosen.answer->goal->budget;
  return {};
}

/// The samples that a worker takes at once: those of the plan. Without a plan it is the largest
/// measured batch, which is known to run, because nothing says that a larger one fits into memory.
int micro_batch_of(const Chosen& chosen, const JobProfile& job, int global_batch) {
  int most = 0;
  if (chosen.plan && chosen.plan->layout) {
    for (const GroupSetup& setup : chosen.plan->layout->setups) {
      most = std::max(most, setup.batch_per_worker);
    }
  }
  if (most > 0) return most;
  for (const ComputeSample& sample : job.compute) most = std::max(most, sample.batch_per_worker);
  return most > 0 ? most : global_batch;
}

Status set_command(const RunRequest& request, const Chosen& chosen, const JobProfile& job,
                   RunRecord& record) {
  record.command = request.command;
  if (record.command.empty() && chosen.answer) record.command = chosen.answer->command;
  if (record.command.empty()) record.command = job.command;
  if (record.command.empty()) record.command = request.command_default;
  if (record.command.empty()) {
    return bad_usage(
        "a training command is required: after -- of 'stint run' or 'stint plan', or as "
        "\"command\" in the job's profile, where 'stint profile --keep-command' puts it");
  }
  std::error_code error;
  record.folder = std::filesystem::current_path(error).string();
  if (error) return failed("the current folder no longer exists");
  if (!seems_to_use_job(record.command, record.folder)) record.plain = true;
  record.hang = request.hang;
  return {};
}

/// Sets the variables that workers get beside the usual ones.
Status set_environment(const RunRequest& request, PreparedRun& run) {
  auto added = parse_worker_variables(request.environment);
  if (!added.ok()) return added.error();
  const std::vector<std::string> names = variable_names();
  if (const auto missing = missing_variable(*added, names)) {
    return bad_usage(fmt::format(
        "--env names {0}, which is not set; set it, or give --env {0}=VALUE", *missing));
  }
  run.withheld = withheld_variables(*added, names);
  run.record.environment = std::move(*added);
  return {};
}

void set_saves(const RunRequest& request, const Chosen& chosen, RunRecord& record) {
  // A script that saves by itself needs no machines that keep checkpoints.
  const bool plain = record.plain.value_or(false);
  if (chosen.plan && chosen.plan->checkpoint && !plain) {
    record.checkpoint = *chosen.plan->checkpoint;
  }
  if (request.place) record.checkpoint.place = *request.place;
  if (request.receivers) record.checkpoint.receivers = request.receivers;
  if (request.save_every) record.checkpoint.interval = request.save_every;
}

/// Decisions of a run at most, because hundreds of rehearsals make them all. With a deadline each
/// is looked up in tables that have an entry for each decision, amount of work and number of
/// machines, and another for each number that may follow.
double decisions_max(const RunRecord& record, std::size_t machines) {
  if (!record.deadline) return 4'000;
  const double count = static_cast<double>(std::max(machines, std::size_t{1}));
  const double usual = std::clamp(5760.0 / count, 60.0, 720.0);
  return std::max(12.0, std::min(usual, 500'000 / (count * count)));
}

/// Times that the emulated cloud takes, and how often to decide. A usage error: far too often.
Status set_times(const RunRequest& request, const PredictInputs& inputs, RunRecord& record) {
  const int workers = workers_of(record.plan);
  const StartupTimes& times = startup_times();
  record.start_up = times.terms_worker_start * std::max(1.0, workers / 2.0) + times.terms_regroup;
  record.regroup = times.terms_regroup;
  record.notice = request.notice;
  const std::vector<int> all = training_slots(terms_of(record, record.plan));
  const Seconds step = step_time_of(record.plan, all).mean;
  record.save_time = save_time(inputs, record, step);
  record.state = checkpoint_bytes(inputs.job);
  const Seconds work = static_cast<double>(record.steps) * step;
  // Some sixty decisions until the deadline, which is what weighing them all takes a second for.
  const Seconds usual =
      std::clamp(record.deadline.value_or(2 * work) / 60, 1 * kSecond, 10 * kMinute);
  const double decisions = decisions_max(record, all.size());
  const Seconds least = std::max(work, record.deadline.value_or(work)) / decisions;
  record.tick = request.tick.value_or(std::max(usual, least));
  if (!record.checkpoint.interval) {
    record.checkpoint.interval = std::max(2 * record.save_time, work / 20);
  }
  constexpr double kRounding = 1 - 1e-9;
  if (record.tick >= kRounding * least) {
    const std::string why = problem(record);
    return why.empty() ? Status() : bad_usage(why);
  }
  return bad_usage(
      fmt::format("--tick {} is too short for a run of {:.3g} s: the minimum is {:.3g} s",
                  to_text(record.tick), (decisions * least).in(kSecond), least.in(kSecond)));
}

/// A name that is free: that of the job, or with a number.
std::string free_name(const Environment& environment, const std::string& job) {
  const std::vector<std::string> taken = run_names(*environment.state_folder + "/runs");
  std::string base;
  for (const char c : job) base += check_run_name(std::string(1, c)).ok() ? c : '-';
  if (base.empty() || base[0] == '-') base = "run" + base;
  for (int number = 1;; ++number) {
    std::string name = fmt::format("{}-{}", base.substr(0, 24), number);
    if (std::find(taken.begin(), taken.end(), name) == taken.end()) return name;
  }
}

/// The plan of the record, with its checkpoints and times.
Status set_plan(const RunRequest& request, const Chosen& chosen, PreparedRun& run) {
  RunRecord& record = run.record;
  const BatchShares shares{
      .global_batch = record.global_batch,
      .micro_batch = micro_batch_of(chosen, run.inputs.job, record.global_batch),
      .equal = request.equal_shares};
  run.accumulation = accumulation_on(run.cluster, shares);
  auto plan = run_plan_of(run.inputs, run.cluster, shares);
  if (!plan.ok()) return plan.error();
  record.plan = std::move(*plan);
  set_saves(request, chosen, record);
  const Status receivers = add_receivers(run.inputs, record.checkpoint, record.plan);
  if (!receivers.ok()) return receivers;
  return set_times(request, run.inputs, record);
}

Result<PreparedRun> prepared(const Environment& environment, const RunRequest& request,
                             Chosen chosen, PredictInputs inputs) {
  PreparedRun run{.record = {},
                  .inputs = std::move(inputs),
                  .answer = chosen.answer,
                  .cluster = chosen.cluster};
  const JobProfile& job = run.inputs.job;
  RunRecord& record = run.record;
  record.name = request.name.empty() ? free_name(environment, job.name) : request.name;
  record.job = job.name;
  record.compute =
      request.compute.value_or(job.compute.empty() ? RunCompute::kReal : RunCompute::kPacedReal);
  Status done = check_run_name(record.name);
  if (done.ok()) done = set_work(request, chosen, job, record);
  if (done.ok()) done = set_command(request, chosen, job, record);
  if (done.ok()) done = set_environment(request, run);
  std::string layout = request.layout;
  if (layout.empty() && chosen.plan) layout = chosen.plan->parallel_layout.value_or("");
  if (done.ok()) done = set_layout(layout, request.compute, run);
  if (done.ok()) done = set_plan(request, chosen, run);
  if (done.ok()) done = set_market(request, run);
  if (done.ok()) done = check_run_limits(record);
  if (!done.ok()) return done.error();
  done = check_answer(check_fields(record.plan, "run"));
  if (!done.ok()) return done.error();
  record.forecast = forecast_of(record);
  done = check_answer(check_fields(*record.forecast, "forecast"));
  if (!done.ok()) return done.error();
  run.warnings.insert(run.warnings.begin(), chosen.warnings.begin(), chosen.warnings.end());
  run.warnings.insert(run.warnings.end(), run.inputs.warnings.begin(), run.inputs.warnings.end());
  return run;
}

Status check_place(const Environment& environment) {
  if (environment.state_folder) return {};
  return failed("there is no folder for runs: set HOME or XDG_STATE_HOME");
}

}  // namespace

Status check_run_limits(const RunRecord& record) {
  const auto steps = static_cast<double>(record.steps);
  std::optional<Seconds> least_time;
  std::optional<Dollars> least_cost;
  for (const RunStepTime& step : record.plan.steps) {
    DollarsPerSecond rate;
    auto count = step.machines.begin();  // Of the kinds that train.
    for (const RunMachines& machines : record.plan.machines) {
      if (machines.trains) rate += *count++ * std::min(machines.spot, machines.on_demand);
    }
    const Seconds time = steps * step.p10;
    least_time = std::min(least_time.value_or(time), time);
    least_cost = std::min(least_cost.value_or(rate * time), rate * time);
  }
  const auto infeasible = [&](const std::string& limit, const std::string& needed) {
    return Error{ErrorKind::kInfeasible,
                 fmt::format("{} cannot be kept: {} steps on these machines {}, even without "
                             "interruptions",
                             limit, record.steps, needed)};
  };
  if (record.deadline && least_time && *least_time > *record.deadline) {
    return infeasible(fmt::format("the deadline of {}", to_text(*record.deadline)),
                      fmt::format("take at least {:.3g} s", least_time->in(kSecond)));
  }
  if (record.budget && least_cost && *least_cost > *record.budget) {
    return infeasible(fmt::format("the budget of {}", to_text(*record.budget)),
                      fmt::format("cost at least {:.3g} USD", least_cost->in(kDollar)));
  }
  return {};
}

Result<PreparedRun> prepare_run(const Environment& environment, const RunRequest& request) {
  const Status place = check_place(environment);
  if (!place.ok()) return place.error();
  auto chosen = choose(environment, request);
  if (!chosen.ok()) return chosen.error();
  auto job = job_of(request, *chosen);
  if (!job.ok()) return job.error();
  auto inputs =
      load_predict_inputs(environment, std::move(*job), request.calibration, chosen->cluster);
  if (!inputs.ok()) return inputs.error();
  return prepared(environment, request, std::move(*chosen), std::move(*inputs));
}

Result<PreparedRun> prepare_run(const Environment& environment, const RunRequest& request,
                                PredictInputs inputs) {
  CHECK(!request.cluster.empty());
  const Status place = check_place(environment);
  if (!place.ok()) return place.error();
  auto chosen = choose(environment, request);
  if (!chosen.ok()) return chosen.error();
  return prepared(environment, request, std::move(*chosen), std::move(inputs));
}

}  // namespace stint
