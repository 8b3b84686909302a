#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "job/job.h"
#include "plan/calibration.h"
#include "predict/law.h"
#include "predict/step.h"
#include "predict/worker_group.h"

namespace stint {

/// A fabric whose NICs do what they are rated for, so that a job's own buckets can be followed one
/// by one: an emulated or a well-kept private network. Six numbers are fitted; what is believed
/// before the data stands in data/calibration/bucket-priors.json under the same names.
struct BucketLaw {
  double payload = 0;         // ln of the share of a NIC's rate that gradients get.
  double vm_cost = 0;         // ln of nanoseconds per byte and VM of the cluster, on top.
  double latency = 0;         // ln of the seconds of latency of a reduction over two VMs.
  double latency_growth = 0;  // Power of (VMs − 1) that it grows with.
  double overhead = 0;        // ln of seconds per iteration and VM that nothing hides.
  double jitter = 0;          // ln of the relative deviation of each step of each worker.
};

using BucketLawName = std::pair<const char*, double BucketLaw::*>;
std::span<const BucketLawName> law_names(const BucketLaw& type);

/// The law with nothing fitted: a ring at 1448/1514 of the NIC, the payload of TCP in a frame of
/// Ethernet at an MTU of 1500, and nothing else that costs time.
BucketLaw ring_formula();

/// The buckets of a profile without any: those that PyTorch makes (1 MiB, then 25 MiB each), ready
/// in proportion to their bytes.
std::vector<Bucket> usual_buckets(Bytes gradients);

/// The link of a VM with a NIC of this rate in a cluster of so many VMs.
///
///   β = 1 / (e^payload · rate) + e^vm_cost · N ns/byte
///   α = e^latency · (N − 1)^latency_growth / (2 (N − 1)), such that a ring over N has the former
///
/// The VMs of an emulated cloud share the processors of one computer: hence the growth with N.
/// Requires vms ≥ 2.
Link bucket_link(const BucketLaw& law, BytesPerSecond rate, int vms);

/// The iteration under such a law: the profile's buckets leave when they are ready, two in flight
/// (the threads of PyTorch's Gloo backend), through the slowest NIC of the cluster. Workers do not
/// slow each other down but by `overhead`, which is counted with the update.
StepSetup bucket_setup(const JobProfile& job, const Workers& cluster, const BucketLaw& law);

/// A BucketLaw as a calibration states it, with what is unsure about it.
struct CalibratedBuckets {
  BucketLaw law;
  std::vector<std::vector<double>> covariance;  // In the order of law_names.
  double noise_floor = 0;                       // As in LawNoise.
  double noise_exposed = 0;
  std::optional<BytesPerSecond> total_rate = {};  // Of all NICs, up to which it was measured.
};

/// The constants of the scope "buckets", with "noise", and total_rate of "fabric_reference", which
/// may be missing; nothing for a calibration without that
/// scope. Bad input that names a constant that is missing.
Result<std::optional<CalibratedBuckets>> calibrated_buckets(const Calibration& calibration);

/// A law of one stream (see law.h) that is never slower than `law` on any cluster: for bounds. Its
/// costs are those of `reference`.
FabricLaw stream_bound(const BucketLaw& law, BytesPerSecond reference);

/// Standard deviation of the log of the time that the law predicts for the cluster.
///
///   σ² = gᵀ Σ g + floor² + (exposed · e)²,  e = exposed communication / T
double bucket_log_deviation(const JobProfile& job, const Workers& cluster,
                            const CalibratedBuckets& buckets);

}  // namespace stint
