#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "catalog/lookup.h"
#include "catalog/market.h"

namespace stint {

/// Equal VMs of a cluster.
struct VmGroup {
  VmName vm;
  Market market = Market::kOnDemand;
  int count = 1;

  bool operator==(const VmGroup&) const = default;
};

/// The VMs of a cluster. Its text form: "4x g4dn.12xlarge", "2x p3.2xlarge:spot + 1x p3.2xlarge",
/// "3x gcp/us-central1/n1-standard-8+1xT4:spot". A plus sign separates groups when a space precedes
/// or follows it; without a count a group is one VM.
struct Cluster {
  std::vector<VmGroup> groups;

  bool operator==(const Cluster&) const = default;
};

/// Errors are usage errors that quote the wrong part.
Result<Cluster> parse_cluster(std::string_view text);
std::string to_text(const Cluster& cluster);

/// The all-reduce algorithm of gradients.
enum class Collective { kRing, kHierarchical, kParameterServer, kTopK };

std::span<const EnumName<Collective>> names_of(Collective type);

/// The places of checkpoints.
enum class CheckpointPlace { kObjectStore, kAnchor, kTier };

std::span<const EnumName<CheckpointPlace>> names_of(CheckpointPlace type);

struct CheckpointSchedule {
  CheckpointPlace place = CheckpointPlace::kObjectStore;
  std::optional<Seconds> interval;
  std::optional<int> receivers;          // Number of machines that receive checkpoints.
  std::optional<std::string> receiver;   // VM type of those machines.
  std::optional<Seconds> stall;          // Stall of training for each checkpoint.
  std::optional<Seconds> transfer;       // From the stall until the checkpoint is safe.
  std::optional<Seconds> daly_interval;  // Checkpoint interval by Daly's rule.
  std::optional<bool> fits_in_notice;    // A checkpoint fits into the interruption notice.
  Json::Object unknown = {};
};

/// The setup of the workers of one group.
struct GroupSetup {
  int workers_per_vm = 1;
  int batch_per_worker = 1;
  Json::Object unknown = {};
};

/// The split of a job over a cluster.
struct Layout {
  Cluster cluster;
  std::vector<GroupSetup> setups;  // One per group of the cluster.
  Collective collective = Collective::kRing;
  int accumulation = 1;  // Micro-steps per communication.
  std::optional<CheckpointSchedule> checkpoint;
  Json::Object unknown = {};
};

/// The samples of one iteration over all workers. Requires a valid layout.
std::int64_t global_batch(const Layout& layout);

Status validate(const Layout& layout);
Json to_json(const Layout& layout);

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, CheckpointSchedule>& it) {
  walk.field("place", it.place, "Place where checkpoints are stored.");
  walk.number("interval_s", it.interval, kSecond, "Checkpoint interval.", Range::kPositive);
  walk.field("receivers", it.receivers, "Number of machines that receive checkpoints.",
             {.range = Range::kAtLeastOne, .max = kVmsMax});
  walk.field("receiver", it.receiver, "VM type of the machines that receive checkpoints.");
  walk.number("stall_s", it.stall, kSecond, "Stall of training for each checkpoint.",
              Range::kNotNegative);
  walk.number("transfer_s", it.transfer, kSecond,
              "Time from the stall until the checkpoint is safe.", Range::kNotNegative);
  walk.number("daly_interval_s", it.daly_interval, kSecond, "Checkpoint interval by Daly's rule.",
              Range::kNotNegative);
  walk.field("fits_in_notice", it.fits_in_notice,
             "Whether a checkpoint fits into the interruption notice.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, GroupSetup>& it) {
  walk.field("workers_per_vm", it.workers_per_vm, "Worker processes on one VM of the group.",
             {.range = Range::kAtLeastOne, .max = kWorkersPerVmMax});
  walk.field("batch_per_worker", it.batch_per_worker, "Samples per worker and micro-step.",
             {.range = Range::kAtLeastOne, .max = kBatchMax});
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Layout>& it) {
  walk.text("cluster", it.cluster, parse_cluster, "VMs, as text.");
  walk.field("groups", it.setups, "Setup of each group of the cluster, in its order.");
  walk.field("collective", it.collective, "All-reduce algorithm of the gradients.");
  walk.field("accumulation", it.accumulation, "Micro-steps per communication.",
             {.range = Range::kAtLeastOne, .max = kBatchMax});
  walk.field("checkpoint", it.checkpoint, "Checkpoint schedule.");
  walk.rest(it.unknown);
}

std::string problem(const Layout& layout);

}  // namespace stint
