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
  Seconds alone;         // What it is predicted to take with its normal overlap.
  double deviation = 0;  // Of the logarithm of that.
  double iterations = 1;
  double iterations_deviation = 0;                     // Of the logarithm of that.
  std::optional<Seconds> deadline = {};                // From the start.
  std::vector<std::optional<MemoryNeed>> memory = {};  // Of a worker, by group; unknown: fits.
  bool compute_measured = true;  // Where it computes; else both its parts are as unsure.
  bool overlap_known = true;     // Whether it is known what leaves when; else only `alone` is.
};

/// What an iteration takes alone if no gradient left before all of backward was done.
Seconds time_without_overlap(const ShareJob& job);

/// What the time of an iteration leaves open: what the network does while a job computes.
enum class NetworkWhile {
  kIdle,  // Nothing: only communication that computing does not hide keeps it busy.
  kBusy,  // It sends gradients during all of the last backward.
};

/// Of computing, where only the whole is known: backward takes twice as long, as a rule.
inline constexpr double kForwardShare = 1.0 / 3;

/// A job whose iteration takes as long, with the network like that; unchanged where it is known
/// what leaves when, or there is no network. Computing is split by kForwardShare: laws that were
/// fitted to whole iterations split it by what they need to hide.
ShareJob with_network(const ShareJob& job, NetworkWhile network);

/// What a worker sends takes `factor` times as long.
void stretch_links(StepGroup& group, double factor);

/// The VMs that jobs may share.
struct ShareCluster {
  std::optional<DollarsPerSecond> rate = {};      // Unknown: nothing is said in dollars.
  std::vector<std::optional<Bytes>> memory = {};  // Of an accelerator, by group; unknown: enough.
};

/// Two jobs, and how they are to share the cluster.
struct SharingQuestion {
  const ShareJob& first;
  const ShareJob& second;
  SharingMode mode = SharingMode::kBucket;
  std::array<int, 2> turns = {1, 1};  // Of each in a round.
};

/// What an iteration of each job takes while both are there.
struct SharedPace {
  std::array<double, 2> slowdown = {1, 1};  // Over being alone with its normal overlap.
  double deviation = 0;                     // Of the logarithm of both, by how they happen to meet.
};

/// Answers a question, or cannot.
using SharingModel = std::function<std::optional<SharedPace>(const SharingQuestion&)>;

/// The event-driven twin is the model of turns. Sharing freely is another matter on accelerators
/// that really work for two at once, so it has a model of its own.
struct SharingModels {
  SharingModel turns;        // Of SharingMode::kWhole and kBucket.
  SharingModel freely = {};  // Of SharingMode::kFreely; none: it is not considered.
};

}  // namespace stint
