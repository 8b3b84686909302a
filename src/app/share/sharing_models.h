#pragma once

#include <span>

#include "interleave/share_job.h"
#include "plan/prediction.h"
#include "simulate/sharing_twin.h"

namespace stint {

/// Whether the groups are VMs of the emulated cloud, whose accelerators are paced: a job beside
/// another gets slices of 2 ms of them, and nothing that communicates slows what computes.
bool emulated(std::span<const PredictedGroup> groups);

/// What is known of how jobs share the VMs of a cluster: by turns, the event-driven twin; freely,
/// the same in slices of time on the emulated cloud, and on GPUs what pairs of jobs got of one (see
/// free_sharing_model). Without that law sharing GPUs freely is not considered.
SharingModels sharing_models(std::span<const PredictedGroup> groups, double compute_slowdown = 0);

/// The terms of the groups: a NIC of the emulated cloud has one long queue, so that who sends first
/// has more of it; others are taken to be shared evenly.
TwinOptions twin_options(std::span<const PredictedGroup> groups, double compute_slowdown = 0);

}  // namespace stint
