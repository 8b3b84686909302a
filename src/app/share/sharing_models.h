#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "interleave/share_job.h"
#include "plan/prediction.h"
#include "predict/free_sharing.h"
#include "simulate/sharing_twin.h"

namespace stint {

/// The shipped law of free sharing of a GPU; see predict/free_sharing.h for its measurements.
Result<FreeSharingLaw> load_free_sharing_law();

/// A model of sharing freely for clusters of GPUs, to be SharingModels::freely. `devices` are the
/// accelerators of the groups, as the catalogue names them; without any it is `slices`, the model
/// of equal slices of an accelerator (twin_models().freely). With s the slowdown by that and r the
/// share of the law, a job's slowdown is
///
///   1 + (s − 1) (1/r − 1)
///
/// which is 1/r where jobs only compute (s = 2), as was measured, and 1 where they never compute at
/// the same time. Between these there are no measurements: their slowdown on the network is scaled
/// with the rest. The slowest device counts. The deviation is that of the law, as far as it affects
/// the slowdown, with that of the slices.
SharingModel free_sharing_model(FreeSharingLaw law, std::vector<std::string> devices,
                                SharingModel slices);

/// Whether the groups are VMs of the emulated cloud, whose accelerators are paced: a job beside
/// another gets slices of 2 ms of them, and communication does not slow computing.
bool emulated(std::span<const PredictedGroup> groups);

/// The models of sharing the VMs of a cluster: by turns, the event-driven simulator; freely, the
/// same in time slices on the emulated cloud, and on GPUs the measured rates of pairs (see
/// free_sharing_model). Without that law free sharing of GPUs is not considered.
SharingModels sharing_models(std::span<const PredictedGroup> groups, double compute_slowdown = 0);

/// The terms of the groups: a NIC of the emulated cloud has one long queue, in which each
/// all-reduce has its window; others are assumed to be shared evenly.
TwinOptions twin_options(std::span<const PredictedGroup> groups, double compute_slowdown = 0);

}  // namespace stint
