#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "job/job.h"
#include "plan/prediction.h"

namespace stint {

/// What one worker keeps in the accelerator's memory.
struct MemoryNeed {
  Bytes parameters;
  Bytes gradients;
  Bytes optimizer;
  Bytes activations;
  Bytes overhead;  // Framework, buckets, allocator.
};

Bytes total(const MemoryNeed& need);

/// What a worker of `job` needs at `batch`. Where the profile holds peaks of memory, the whole is
/// affine in the batch through them (least squares),
///
///   peak(b) = fixed + per_sample · b,  fixed ≥ parameters + gradients + optimizer, per_sample ≥ 0
///
/// and activations are what the states do not explain; otherwise nothing is known of activations
/// and there is no answer. Peaks of `device` count; where it has none, those of the device with
/// most of them, since activations do not depend on the device. One peak alone leaves no overhead
/// inside it: all that the states do not explain grows with the batch. To the peak come what an
/// allocator does not see and the copies of gradients in the buckets, which one worker alone
/// does not have. Parameters that the profile does not state are as large as the gradients.
/// Requires batch > 0.
std::optional<MemoryNeed> memory_need(const JobProfile& job, std::string_view device, double batch);

/// Whether `need` fits into `memory`, a part of which is kept free for fragmentation: the verdict's
/// available bytes are what is left.
MemoryVerdict memory_verdict(const MemoryNeed& need, Bytes memory);

/// The accelerator of a worker, as questions about its memory need it.
struct WorkerMemory {
  std::string device;           // As the profile names the one that its times are of.
  bool measured_there = false;  // Not carried over from another device.
  std::optional<Bytes> memory = {};
};

/// Whether a worker of `job` fits at `batch`:
///
/// - a peak that was measured on this very device, at this batch or a larger one, is believed: the
///   worker fits if the peak does, whatever memory_need adds to it;
/// - otherwise by memory_need;
/// - without any peak, the worker does not fit where its states (parameters, gradients, optimizer)
///   alone are too large, and nothing is known where they are not.
///
/// Requires batch > 0.
std::optional<MemoryVerdict> worker_verdict(const JobProfile& job, const WorkerMemory& worker,
                                            double batch);

/// The largest batch that fits by worker_verdict, or nothing when not even one sample does. At most
/// the largest batch that the job allows, and no limit where nothing is known.
std::optional<int> largest_batch(const JobProfile& job, const WorkerMemory& worker);

}  // namespace stint
