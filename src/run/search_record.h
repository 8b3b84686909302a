#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "job/job.h"
#include "plan/plan.h"

namespace stint {

inline constexpr const char* kSearchSchema = "stint.search/1";

/// How much a search probes: everything again; a few setups on top of earlier results; or
/// nothing, so that it follows earlier results only.
enum class SearchMode { kFull, kPartial, kNone };

std::span<const EnumName<SearchMode>> names_of(SearchMode type);

/// A cluster and a global batch.
struct SearchChoice {
  std::string cluster;
  // On each VM, or one for each of its accelerators where those are fewer; absent: one.
  std::optional<int> workers_per_vm = {};
  int batch = 1;
  Json::Object unknown = {};

  bool operator==(const SearchChoice& other) const {
    return cluster == other.cluster && workers_per_vm == other.workers_per_vm &&
           batch == other.batch;
  }
};

/// A setup that was timed.
struct SearchProbe {
  std::string cluster;
  std::optional<int> workers_per_vm = {};
  int batch = 1;
  Seconds at;           // Since the run began.
  Seconds step;         // Median of several steps.
  TimeRange predicted;  // Prediction before the probe.
  Json::Object unknown = {};
};

/// Gradient noise that was measured during training.
struct SearchNoise {
  double way = 0;  // Progress to the goal, as a share.
  int batch = 1;
  double scale = 1;                  // Φ, in samples.
  double lower = 0;                  // Lower end of the 80 % interval,
  std::optional<double> upper = {};  // and its upper end; absent: there is only a lower bound.
  Json::Object unknown = {};
};

/// A move from one setup to another.
struct SearchedMove {
  Seconds at;  // Time of the decision.
  SearchChoice from;
  SearchChoice to;
  bool probe = false;                    // Else the predictions favour the move.
  std::string why;                       // Reason, with its arithmetic.
  TimeRange predicted;                   // Pause of training.
  std::optional<Seconds> measured = {};  // Absent: the move was not made.
  CostRange predicted_cost;              // Cost of the machines during the pause.
  std::optional<Dollars> measured_cost = {};
  Json::Object unknown = {};
};

/// The prediction for training on a setup from the start to the goal.
struct SurfaceRow {
  std::string cluster;
  std::string type;
  int vms = 1;
  std::optional<int> workers_per_vm = {};
  int batch = 1;
  TimeRange step;
  double steps = 1;
  Seconds time;
  Dollars cost;
  bool timed = false;
  bool ruled_out = false;  // It does not fit into memory.
  Json::Object unknown = {};
};

/// The largest micro-batch that fits into the memory of a machine.
struct MemoryLimit {
  std::string type;
  int samples = 1;
  Json::Object unknown = {};
};

/// A search while training: its request, results and moves. The results are kept for the next
/// search of the same job.
struct SearchRecord {
  std::string name;  // Name of the run.
  std::string job;
  Bytes gradients;        // Of the job; results of a job of another size are not used.
  std::string objective;  // time, cost or knee.
  SearchMode mode = SearchMode::kPartial;
  LearningRateRule rule = LearningRateRule::kAdaScale;
  int reference_batch = 1;
  double goal = 1;                         // Estimated steps at the reference batch.
  std::optional<double> loss_target = {};  // Absent: the steps are the goal.
  std::optional<Seconds> time_max = {};
  std::optional<Dollars> cost_max = {};
  std::optional<double> budget = {};  // Largest share of the total that probes may take.
  double probe_steps = 10;
  double progress = 0;  // In steps at the reference batch.
  std::optional<SearchChoice> choice = {};
  std::vector<SearchProbe> probes = {};
  std::vector<SearchNoise> noise = {};
  std::vector<SearchedMove> moves = {};
  std::vector<SurfaceRow> surface = {};
  std::vector<MemoryLimit> memory = {};  // Found by running out of memory.
  std::vector<std::string> warnings = {};
  Json::Object unknown = {};
};

Result<Loaded<SearchRecord>> read_search(std::string_view text, const std::string& source);
std::string write_search(const SearchRecord& record);
Json search_schema();

/// The setup of a row or a probe.
template <class Row>
SearchChoice choice_of(const Row& row) {
  return {.cluster = row.cluster, .workers_per_vm = row.workers_per_vm, .batch = row.batch};
}

/// The cluster, with its workers where a VM has several.
std::string cluster_text(const SearchChoice& choice);

// For the codec.
inline constexpr const char* kWorkersPerVmText =
    "Number of workers on each VM, or one for each of its accelerators where those are fewer; "
    "absent: one.";

template <class Walk>
void describe(Walk& walk, Like<Walk, SearchChoice>& it) {
  walk.field("cluster", it.cluster, "Cluster, in the notation of --cluster.");
  walk.field("workers_per_vm", it.workers_per_vm, kWorkersPerVmText,
             {.range = Range::kAtLeastOne, .max = kWorkersPerVmMax});
  walk.field("batch", it.batch, "Samples per step.", {.range = Range::kAtLeastOne});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SearchProbe>& it) {
  walk.field("cluster", it.cluster, "Cluster, in the notation of --cluster.");
  walk.field("workers_per_vm", it.workers_per_vm, kWorkersPerVmText,
             {.range = Range::kAtLeastOne, .max = kWorkersPerVmMax});
  walk.field("batch", it.batch, "Samples per step.", {.range = Range::kAtLeastOne});
  walk.number("at_s", it.at, kSecond, "Time of the probe, since the run began.",
              Range::kNotNegative);
  walk.number("step_s", it.step, kSecond, "Median time of the measured steps.", Range::kPositive);
  walk.field("predicted_s", it.predicted, "Predicted time of a step before the probe.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SearchNoise>& it) {
  walk.field("way", it.way, "Progress to the goal, as a share.", {.range = Range::kFraction});
  walk.field("batch", it.batch, "Samples per step.", {.range = Range::kAtLeastOne});
  walk.field("scale", it.scale, "Gradient noise scale, in samples.", {.range = Range::kPositive});
  walk.field("lower", it.lower, "Lower end of the 80 % interval of the noise scale.",
             {.range = Range::kNotNegative});
  walk.field("upper", it.upper,
             "Upper end of the 80 % interval of the noise scale; absent: unbounded.",
             {.range = Range::kPositive});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SearchedMove>& it) {
  walk.number("at_s", it.at, kSecond, "Time of the decision, since the run began.",
              Range::kNotNegative);
  walk.field("from", it.from, "Setup before the move.");
  walk.field("to", it.to, "Setup after the move.");
  walk.field("probe", it.probe, "Whether the move is a probe.");
  walk.field("why", it.why, "Reason of the move, with its arithmetic.");
  walk.field("predicted_s", it.predicted, "Predicted pause of training.");
  walk.number("measured_s", it.measured, kSecond,
              "Measured pause of training; absent: the move was not made.", Range::kNotNegative);
  walk.field("predicted_usd", it.predicted_cost,
             "Predicted cost of the machines during the pause.");
  walk.number("measured_usd", it.measured_cost, kDollar,
              "Measured cost of the machines during the pause.", Range::kNotNegative);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SurfaceRow>& it) {
  walk.field("cluster", it.cluster, "Cluster, in the notation of --cluster.");
  walk.field("type", it.type, "VM types of the cluster.");
  walk.field("vms", it.vms, "Number of VMs.", {.range = Range::kAtLeastOne, .max = kVmsMax});
  walk.field("workers_per_vm", it.workers_per_vm, kWorkersPerVmText,
             {.range = Range::kAtLeastOne, .max = kWorkersPerVmMax});
  walk.field("batch", it.batch, "Samples per step.", {.range = Range::kAtLeastOne});
  walk.field("step_s", it.step, "Time of a step.");
  walk.field("steps", it.steps, "Number of steps from the start to the goal.",
             {.range = Range::kPositive});
  walk.number("time_s", it.time, kSecond, "Time of all steps.", Range::kNotNegative);
  walk.number("cost_usd", it.cost, kDollar, "Cost of all steps.", Range::kNotNegative);
  walk.field("timed", it.timed, "Whether steps were timed on the setup.");
  walk.field("ruled_out", it.ruled_out, "Whether the setup does not fit into memory.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, MemoryLimit>& it) {
  walk.field("type", it.type, "VM type.");
  walk.field("samples", it.samples, "Largest micro-batch that fits into memory.",
             {.range = Range::kAtLeastOne});
  walk.rest(it.unknown);
}

template <class Walk>
void describe_search(Walk& walk, Like<Walk, SearchRecord>& it) {
  walk.field("name", it.name, "Name of the run.");
  walk.field("job", it.job, "Name of the job.");
  walk.number("gradient_bytes", it.gradients, kByte, "Size of the gradients of the job.",
              Range::kNotNegative);
  walk.field("objective", it.objective, "Quantity to minimise: time, cost, or both (knee).");
  walk.field("mode", it.mode, "Amount of probing.");
  walk.field("rule", it.rule, "Learning-rate scaling rule.");
  walk.field("reference_batch", it.reference_batch, "Global batch of the job.",
             {.range = Range::kAtLeastOne});
  walk.field("goal", it.goal, "Present estimate of the steps to the goal at the job's own batch.",
             {.range = Range::kPositive});
  walk.field("loss_target", it.loss_target,
             "Target of the training loss; absent: the number of steps is the goal.");
  walk.number("max_time_s", it.time_max, kSecond, "Maximum total time.", Range::kPositive);
  walk.number("max_cost_usd", it.cost_max, kDollar, "Maximum total cost.", Range::kPositive);
  walk.field("search_budget", it.budget, "Maximum share of probes in the total.",
             {.range = Range::kNotNegative});
  walk.field("probe_steps", it.probe_steps, "Number of steps that a probe times.",
             {.range = Range::kPositive});
  walk.field("progress", it.progress, "Progress, in steps at the job's own batch.",
             {.range = Range::kNotNegative});
  walk.field("choice", it.choice, "Final setup.");
  walk.field("probes", it.probes, "Setups that were timed.", {.always = true});
  walk.field("noise", it.noise, "Measurements of the gradient noise.", {.always = true});
  walk.field("moves", it.moves, "Moves from one setup to another.", {.always = true});
  walk.field("surface", it.surface, "Predictions for all setups.", {.always = true});
  walk.field("memory", it.memory, "Memory limits found by running out of memory.");
  walk.field("warnings", it.warnings, "Warnings, as sentences.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SearchRecord>& it) {
  describe_search(walk, it);
  walk.rest(it.unknown);
}

}  // namespace stint
