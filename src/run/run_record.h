#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "catalog/market.h"
#include "cloud/cluster_spec.h"
#include "plan/plan.h"
#include "run/run_sharing.h"
#include "supervise/spot_belief.h"
#include "supervise/supervisor.h"

namespace stint {

inline constexpr const char* kRunSchema = "stint.run/1";
inline constexpr const char* kRunPlanSchema = "stint.run-plan/1";

/// Equal machines that a run rents.
struct RunMachines {
  std::string type;
  int count = 1;
  Market market = Market::kOnDemand;  // Market that the plan asks for.
  DollarsPerSecond spot;
  DollarsPerSecond on_demand;
  BytesPerSecond network;
  bool trains = true;
  bool receives = false;                   // Keeps checkpoints for the other machines.
  std::optional<int> workers = {};         // On each of them, if it trains; absent: one.
  int batch_per_vm = 1;                    // Samples of a step on each while all machines train.
  int micro_batch = 1;                     // Samples per micro-step that fit into its memory.
  std::optional<std::string> device = {};  // Device whose measured times pace the workers,
  double speed = 1;                        // and their speed relative to it.
  Json::Object unknown = {};
};

/// The time of a step on these numbers of machines of each kind.
struct RunStepTime {
  std::vector<int> machines;
  Seconds mean;
  Seconds p10;
  Seconds p90;
  Json::Object unknown = {};
};

/// Batch size, steps and learning rate of a training whose batch size is searched for.
struct RunBatch {
  int batch = 1;           // Samples per step.
  std::int64_t steps = 1;  // Total, including those already done.
  double gain = 1;         // Steps at the run's own batch that one step is worth.
  double rate = 1;         // Factor on the learning rate of the run's own batch.
  int noise_every = 0;     // Steps between measurements of the gradients; 0: never.
  Json::Object unknown = {};
};

/// The machines of a run, as planned or replanned, with all figures that decisions need, so that a
/// journal replays to the same state wherever it is read.
struct RunPlan {
  std::vector<RunMachines> machines;
  std::vector<RunStepTime> steps;
  // Machines of an earlier generation are not kept, even if they have the same type.
  int generation = 1;
  std::optional<RunBatch> training = {};  // Absent: as in the run's record.
  Json::Object unknown = {};
};

/// The kind of computation on machines without an accelerator.
enum class RunCompute { kReal, kPacedReal };

std::span<const EnumName<RunCompute>> names_of(RunCompute type);

/// The forecast of a run at its start.
struct RunForecast {
  TimeRange time;
  CostRange cost;
  std::optional<double> p_deadline = {};
  std::optional<double> p_budget = {};
  double losses = 0;  // Expected losses of machines.
  Json::Object unknown = {};
};

/// The place of a run's time on the clock of one boot of the computer; see boot_time().
struct RunClockZero {
  std::string boot;  // Name of the boot.
  Seconds zero;      // Boot time at which the run's time is 0.
  Json::Object unknown = {};
};

/// The request and the parameters of a run.
struct RunRecord {
  std::string name;
  Seconds began;                           // Wall time, since 1970-01-01T00:00:00Z.
  std::optional<RunClockZero> clock = {};  // Absent in records of earlier versions.
  std::string job;
  std::vector<std::string> command;
  std::string folder;  // Working folder of the command.
  // Variables that workers get beside the usual ones: "NAME", or "NAME=value".
  std::vector<std::string> environment = {};
  std::optional<bool> plain = {};  // The script seems to take no orders: it has no stint.Job.
  RunCompute compute = RunCompute::kReal;
  // How the script splits its model over all machines; see worker_layout.h. Absent: it does not.
  std::optional<std::string> layout = {};
  int global_batch = 1;
  std::int64_t steps = 1;
  RunPlan plan;
  CheckpointSchedule checkpoint;
  std::optional<Seconds> deadline = {};
  std::optional<Dollars> budget = {};
  Seconds save_time;
  // Size of the state that is saved and sent to workers that join.
  std::optional<Bytes> state = {};
  Seconds start_up;
  Seconds regroup;
  Seconds tick;
  Seconds notice;
  std::optional<Seconds> hang = {};         // Absent: the default.
  std::optional<SpotSpells> expected = {};  // Absent: no spot interruptions.
  std::optional<Seconds> life = {};   // Mean lifetime, drawn for each spot machine independently.
  std::int64_t seed = 1;              // Seed of the lifetimes.
  std::vector<PoolChange> pool = {};  // The emulated market, since the run began.
  std::string secret;
  std::optional<RunForecast> forecast = {};
  std::optional<RunSharing> sharing = {};  // Absent: the run has its machines to itself.
  Json::Object unknown = {};
};

Result<Loaded<RunRecord>> read_run(std::string_view text, const std::string& source);
std::string write_run(const RunRecord& record);
Json run_schema();

Result<Loaded<RunPlan>> read_run_plan(std::string_view text, const std::string& source);
std::string write_run_plan(const RunPlan& plan);
Json run_plan_schema();

/// The machines that train, in the notation of --cluster.
std::string cluster_text(const RunPlan& plan);

/// The kind of machine of each slot, in the order of the plan.
std::vector<int> slot_kinds(const RunPlan& plan);

/// The slot type of these machines, which differs between generations.
std::string slot_type(const RunPlan& plan, const RunMachines& machines);

/// The kind of a machine; null when it is of an earlier plan and the present one has no slot for
/// it.
const RunMachines* kind_of(const RunPlan& plan, const RunVm& vm);

/// The machine's VM type, in any plan.
std::string machine_type(const RunVm& vm);

/// Samples per step, and total number of steps, by a plan of the run.
int batch_of(const RunRecord& record, const RunPlan& plan);
std::int64_t steps_of(const RunRecord& record, const RunPlan& plan);

/// The terms for the supervisor. `plan` is the run's, or a later one.
RunTerms terms_of(const RunRecord& record, const RunPlan& plan);

/// The time of a step on the machines of these slots.
RunStepTime step_time_of(const RunPlan& plan, std::span<const int> slots);

/// The lead, in steps, of a checkpoint order, so that it reaches every worker before its step.
std::int64_t save_ahead(Seconds step);

/// The number of workers on each of these machines.
int workers_on(const RunMachines& machines);

/// The number of workers on all machines that train.
int workers_of(const RunPlan& plan);

/// The split of the global batch over the workers on the machines of these slots: in proportion to
/// each machine's share if all were up, evenly on a machine, in whole samples.
std::vector<int> shares_of(const RunPlan& plan, std::span<const int> slots, int global_batch);

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, RunMachines>& it) {
  walk.field("type", it.type, "VM type.");
  walk.field("count", it.count, "Number of machines.",
             {.range = Range::kAtLeastOne, .max = kVmsMax});
  walk.field("market", it.market, "Market that the plan asks for.");
  walk.number("spot_usd_per_h", it.spot, kDollar / kHour, "Spot price of one machine.",
              Range::kNotNegative);
  walk.number("on_demand_usd_per_h", it.on_demand, kDollar / kHour,
              "On-demand price of one machine.", Range::kNotNegative);
  walk.number("network_bytes_per_s", it.network, kByte / kSecond, "Rate of the NIC.",
              Range::kPositive);
  walk.field("trains", it.trains, "Whether workers run on these machines.");
  walk.field("receives", it.receives, "Whether these machines keep checkpoints for the others.");
  walk.field("workers", it.workers, "Number of workers on each machine that trains; absent: one.",
             {.range = Range::kAtLeastOne, .max = kWorkersPerVmMax});
  walk.field("batch_per_vm", it.batch_per_vm,
             "Samples per step of one machine while all machines train.",
             {.range = Range::kNotNegative});
  walk.field("micro_batch", it.micro_batch, "Samples per micro-step.",
             {.range = Range::kAtLeastOne});
  walk.field("device", it.device, "Device whose measured times pace the workers.");
  walk.field("speed", it.speed, "Speed relative to that device.", {.range = Range::kPositive});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, RunStepTime>& it) {
  walk.field("machines", it.machines,
             "Number of machines of each kind that trains, in their order.");
  walk.number("mean_s", it.mean, kSecond, "Expected time.", Range::kPositive);
  walk.number("p10_s", it.p10, kSecond, "10th percentile.", Range::kPositive);
  walk.number("p90_s", it.p90, kSecond, "90th percentile.", Range::kPositive);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, RunBatch>& it) {
  walk.field("batch", it.batch, "Samples per step.", {.range = Range::kAtLeastOne});
  walk.field("steps", it.steps, "Total number of steps, including those already done.",
             {.range = Range::kAtLeastOne, .max = kStepsMax});
  walk.field("gain", it.gain, "Number of steps at the run's own batch that one step is worth.",
             {.range = Range::kPositive});
  walk.field("rate", it.rate, "Factor on the learning rate of the run's own batch.",
             {.range = Range::kPositive});
  walk.field("noise_every", it.noise_every,
             "Steps from one measurement of the gradients to the next; 0: never.",
             {.range = Range::kNotNegative});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, RunPlan>& it) {
  walk.field("machines", it.machines, "Machines, by kind.");
  walk.field("steps", it.steps, "Step times, by numbers of machines.");
  walk.field("generation", it.generation, "Generation of the machines.",
             {.range = Range::kAtLeastOne});
  walk.field("training", it.training,
             "Batch size and steps that a search chose; absent: those of the run.");
  walk.rest(it.unknown);
}

std::string problem(const RunPlan& it);

template <class Walk>
void describe(Walk& walk, Like<Walk, PoolChange>& it) {
  walk.number("at_s", it.at, kSecond, "Time of the change, since the run began.",
              Range::kNotNegative);
  walk.field("spot", it.spot, "Number of spot VMs that can be had.",
             {.range = Range::kNotNegative});
  walk.field("price_factor", it.price_factor, "Factor on the spot prices.",
             {.range = Range::kPositive, .max = kPriceFactors.max});
  walk.field("unannounced", it.unannounced, "Whether spot interruptions have no notice.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, RunForecast>& it) {
  walk.field("time", it.time, "Completion time, including the last checkpoint.");
  walk.field("cost", it.cost, "Cost of all machines.");
  walk.field("p_deadline", it.p_deadline, "Probability of meeting the deadline.",
             {.range = Range::kFraction});
  walk.field("p_budget", it.p_budget, "Probability of staying within the budget.",
             {.range = Range::kFraction});
  walk.field("losses", it.losses, "Expected number of spot interruptions.",
             {.range = Range::kNotNegative});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, RunClockZero>& it) {
  walk.field("boot", it.boot, "Name of the boot, as the kernel gives it.");
  walk.number("zero_s", it.zero, kSecond,
              "Time since that boot, suspends included, at which the run's time is 0.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, RunRecord>& it) {
  walk.field("name", it.name, "Name of the run.");
  walk.number("began_s", it.began, kSecond, "Start of the run, since 1970-01-01T00:00:00Z.");
  walk.field("clock", it.clock,
             "Place of the run's time on the clock of a boot; absent: only wall time is known.");
  walk.field("job", it.job, "Name of the job.");
  walk.field("command", it.command, "Training command, word by word.");
  walk.field("folder", it.folder, "Working folder of the command.");
  walk.field("environment", it.environment,
             "Variables that workers get beside the usual ones: NAME, or NAME=value.");
  walk.field("plain", it.plain, "Whether the script seems to take no orders.");
  walk.number("hang_s", it.hang, kSecond,
              "Time without a step after which a plain script counts as hung.", Range::kPositive);
  walk.field("compute", it.compute, "Kind of computation on machines without an accelerator.");
  walk.field("layout", it.layout,
             "Split of the model over all machines, such as 'dp2 tp2 zero1'; absent: the script "
             "does not split it.");
  walk.field("global_batch", it.global_batch, "Samples per step.", {.range = Range::kAtLeastOne});
  walk.field("steps", it.steps, "Number of steps to train.",
             {.range = Range::kAtLeastOne, .max = kStepsMax});
  walk.field("plan", it.plan, "Planned machines.");
  walk.field("checkpoint", it.checkpoint, "Checkpoint schedule.");
  walk.number("deadline_s", it.deadline, kSecond, "Deadline, since the run began.",
              Range::kPositive);
  walk.number("budget_usd", it.budget, kDollar, "Budget for all machines.", Range::kPositive);
  walk.number("save_time_s", it.save_time, kSecond, "Time until a checkpoint is safe.",
              Range::kPositive);
  walk.number("state_bytes", it.state, kByte,
              "Size of the state that is saved and sent to workers that join.",
              Range::kNotNegative);
  walk.number("start_up_s", it.start_up, kSecond,
              "Time from the request of a machine until it trains.", Range::kPositive);
  walk.number("regroup_s", it.regroup, kSecond, "Pause of training for a change of machines.",
              Range::kPositive);
  walk.number("tick_s", it.tick, kSecond, "Time from one check of the markets to the next.",
              Range::kPositive);
  walk.number("notice_s", it.notice, kSecond, "Spot interruption notice.", Range::kNotNegative);
  walk.field("expected", it.expected,
             "Expected spells of spot machines; absent: no interruptions.");
  walk.number("life_s", it.life, kSecond, "Mean lifetime, drawn for each spot machine.",
              Range::kPositive);
  walk.field("seed", it.seed, "Seed of the lifetimes.", {.range = Range::kNotNegative});
  walk.field("pool", it.pool, "Capacity and prices of the emulated spot market over time.");
  walk.field("secret", it.secret, "Secret that receivers of checkpoints require.");
  walk.field("forecast", it.forecast, "Forecast at the start of the run.");
  walk.field("sharing", it.sharing, "Terms on which the run shares machines with another run.");
  walk.rest(it.unknown);
}

std::string problem(const RunRecord& it);

}  // namespace stint
