#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "interleave/turn_times.h"
#include "predict/memory.h"
#include "predict/step.h"

namespace stint {

/// A job that may share the VMs of a cluster with another one.
struct ShareJob {
  std::string name;
  StepSetup setup;       // One iteration on the cluster.
  Seconds alone;         // Predicted time with normal overlap.
  double deviation = 0;  // Deviation of the logarithm of `alone`.
  double iterations = 1;
  double iterations_deviation = 0;       // Deviation of the logarithm of the iterations.
  std::optional<Seconds> deadline = {};  // Deadline, from the start.
  // Need of a worker, by group; unknown: it fits.
  std::vector<std::optional<MemoryNeed>> memory = {};
  bool compute_measured = true;  // Measured on this device; else both parts are equally uncertain.
  // The times at which gradients are sent are known; else only `alone` is.
  bool overlap_known = true;
};

/// The time of an iteration alone if gradients were sent only after the whole backward pass.
Seconds time_without_overlap(const ShareJob& job);

/// Activity of the network while a job computes, which the time of an iteration does not determine.
enum class NetworkWhile {
  kIdle,  // Idle: only exposed communication keeps it busy.
  kBusy,  // Busy: it sends gradients during the whole last backward pass.
};

/// Share of forward in computing, where only the whole is known: backward usually takes twice as
/// long.
inline constexpr double kForwardShare = 1.0 / 3;

/// A job whose iteration takes as long, with that activity of the network; unchanged where the
/// times of gradients are known, or there is no network. Computing is split by kForwardShare,
/// because laws that were fitted to whole iterations split it by what they need to hide.
ShareJob with_network(const ShareJob& job, NetworkWhile network);

/// The job whose workers send `factor` times as long.
void stretch_links(StepGroup& group, double factor);

/// The VMs that jobs may share.
struct ShareCluster {
  std::optional<DollarsPerSecond> rate = {};  // Unknown: no result is in dollars.
  // Memory of an accelerator, by group; unknown: enough.
  std::vector<std::optional<Bytes>> memory = {};
};

/// Two jobs, and the way in which they share the cluster.
struct SharingQuestion {
  const ShareJob& first;
  const ShareJob& second;
  SharingMode mode = SharingMode::kBucket;
  std::array<int, 2> turns = {1, 1};  // Turns of each in a round.
};

/// The iterations of each job while both train.
struct SharedPace {
  std::array<double, 2> slowdown = {1, 1};  // Relative to training alone with normal overlap.
  // Deviation of the logarithm of both, from the phase in which the jobs meet.
  double deviation = 0;
};

/// The prediction for a question, or nothing.
using SharingModel = std::function<std::optional<SharedPace>(const SharingQuestion&)>;

/// The event-driven simulator is the model of turns. Free sharing has its own model, because real
/// accelerators serve two jobs at once in another way.
struct SharingModels {
  SharingModel turns;        // For SharingMode::kWhole and kBucket.
  SharingModel freely = {};  // For SharingMode::kFreely; none: it is not considered.
};

}  // namespace stint
