#pragma once

#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/units.h"
#include "predict/step.h"

namespace stint {

/// What a cluster's network and hosts do to every job on it. These numbers are fitted; what is
/// believed before the data stands in data/calibration/priors.json under the same names.
struct FabricLaw {
  // Cost per byte between VMs: ln of nanoseconds per byte at the reference network.
  double two_vm_cost = 0;      // Two VMs with one worker each; they behave unlike more.
  double two_vm_workers = 0;   // Growth with ln(workers / 2).
  double cost = 0;             // Three VMs with one worker each.
  double cost_by_vms = 0;      // Growth with ln(VMs / 3).
  double cost_by_workers = 0;  // Growth with ln(workers / VMs).
  double cost_by_size = 0;     // Growth with ln(gradient bytes / 100 MB).
  double cost_by_network = 0;  // Growth with ln(reference network / the VM's network).
  double depth_cost = 0;       // ln of nanoseconds per byte and doubling of workers, on top.
  double latency = 0;          // ln of seconds per bucket and doubling of workers.
  double inside_cost = 0;      // ln of nanoseconds per byte between the workers of a VM.
  double server_cost = 0;      // ln of nanoseconds per byte that a parameter server handles.
  double server_latency = 0;   // ln of seconds per request to it.
  // Compute while others compute.
  double crowding_inside = 0;  // ln of the slowdown by the workers of the same VM.
  double crowding_across = 0;  // ln of the slowdown by all workers.
  double crowding_rate = 0;    // Power of the sample rate it grows with.
  double straggling = 0;       // Growth with ln(workers).
  // Overlap.
  double unhidden = 0;   // Logit of the share of compute that hides no communication.
  double sharpness = 0;  // ln(G − 1) of the soft maximum.
};

/// How one job differs from the population, in the same terms; all zero for a job never seen.
struct JobLaw {
  double factor = 0;   // ln of the time of every setup with several workers, over the law's.
  double cost = 0;     // Added to every cost between VMs, and to server_cost.
  double latency = 0;  // Added to latency.
  double inside_cost = 0;
  double crowding = 0;    // Added to both crowdings.
  double straggling = 0;  // Added to straggling.
  double unhidden = 0;
  double size = 0;  // ln of gradient bytes over the assumed ones; only where they are not known.
};

template <class Law>
using LawName = std::pair<const char*, double Law::*>;

/// Every number of a law by its name in a calibration.
std::span<const LawName<FabricLaw>> law_names(const FabricLaw& type);
std::span<const LawName<JobLaw>> law_names(const JobLaw& type);

/// The network that the costs of a FabricLaw are for.
inline constexpr BytesPerSecond kReferenceNetwork = 50 * kGbit / kSecond;

/// What is known of a job on one worker, and how its workers are placed.
struct LawInput {
  Seconds alone;      // One iteration of one worker at this batch, nothing else running.
  double jitter = 0;  // Relative deviation of single steps beyond what is usual.
  double batch_per_worker = 1;
  Bytes gradients;
  int vms = 1;
  int workers = 1;
  int workers_on_fullest_vm = 1;
  int servers = 0;  // Parameter servers; 0: all-reduce.
  bool asynchronous = false;
  double network = 1;                            // The VM's network over the reference.
  BytesPerSecond reference = kReferenceNetwork;  // What `network` is a multiple of.
  double inside_link = 1;  // The link inside the VM over the one that was fitted.
};

/// Buckets that PyTorch makes of gradients: a first one of 1 MiB, then 25 MiB each.
int usual_bucket_count(Bytes gradients);

/// How much longer a worker computes because others do.
///
///   1 + x e^{crowding_inside} (1 − 1/g) + x e^{crowding_across} (1 − 1/n)
///     + straggling ln n + jitter · m(n),    x = r/(1 + r/8),  r = (samples per second / 200)^p
///
/// g workers on the fullest VM and n in all, m(n) the expected largest of n standard normals. Data
/// loading contends for processors and memory, the more the faster samples are used up; r levels
/// off because a very high rate means samples that cost next to nothing. On rows of clusters the
/// growth with ln n is straggling and congestion together: what is fitted is their sum.
double crowding(const FabricLaw& fabric, const JobLaw& job, const LawInput& input);

/// What crowding does not fall below, times the job's factor: a fit that strays must not make
/// compute vanish.
inline constexpr double kCrowdingMin = 0.2;

/// x of the above: how much of the host a worker takes that uses up samples at this rate (per
/// second), times how the job differs.
double host_load(const FabricLaw& fabric, const JobLaw& job, double rate);

/// crowding, and crowding without its last two terms, which make only the slowest worker late.
struct Crowding {
  double whole = 1;
  double together = 1;
};

Crowding crowding_parts(const FabricLaw& fabric, const JobLaw& job, const LawInput& input);

/// Seconds per byte through the network of a VM: a smooth surface over the number of VMs and of
/// workers per VM around the ring's formula.
///
///   ln s = two_vm_cost + two_vm_workers ln(n/2)                                      N = 2
///   ln s = cost + cost_by_vms ln(N/3) + cost_by_workers ln(n/N)                       N ≥ 3
///   β = (s (S/100 MB)^cost_by_size + e^{depth_cost} log2 n · N/(2(N − 1)))
///       · e^{job's cost + factor} · network^−cost_by_network,  at least what the wire takes
///
/// The second summand grows with the depth of the reduction, however workers are spread over VMs.
SecondsPerByte network_cost(const FabricLaw& fabric, const JobLaw& job, const LawInput& input);

/// The network of one VM as the law sees it, with a latency such that a ring over all VMs takes
///
///   e^{latency} · buckets · log2 n
///
/// beyond its bytes; with parameter servers, a server's share of the work for one worker.
Link network_link(const FabricLaw& fabric, const JobLaw& job, const LawInput& input);

/// Between the workers of one VM.
Link inside_link(const FabricLaw& fabric, const JobLaw& job, const LawInput& input);

/// The iteration that both predictors are asked about. Compute is split by `unhidden`; gradients
/// leave as one stream from the start of backward, because the fitted share and sharpness already
/// hold what buckets do to overlap.
/// With an asynchronous parameter server nobody waits for others: compute and the server's work for
/// all workers overlap, and there is no straggling.
StepSetup law_setup(const FabricLaw& fabric, const JobLaw& job, const LawInput& input);

/// Eight in ten of a normal distribution lie within this many deviations.
inline constexpr double kEightInTen = 1.2815515655446004;

/// Deviations of the logarithm of a time, downwards and upwards. They differ where something is
/// hidden: communication that compute hides may turn out slower and show, but not show less.
struct LogSpread {
  double below = 0;
  double above = 0;

  /// With an independent deviation beside it.
  LogSpread with(double deviation) const {
    return {std::hypot(below, deviation), std::hypot(above, deviation)};
  }
};

/// Slopes of ln T are taken over this step, in deviations of a constant.
inline constexpr double kNearStep = 1e-3;

/// ln T when constants are off by some deviations of theirs.
using LogTimeAt = std::function<double(std::span<const double> deviations)>;

/// What uncertain constants of a law do to a time. With g the slopes of ln T by the constants, in
/// deviations of each, and C their correlation,
///
///   σ² = gᵀ C g,  δ = C g / σ
///
/// is how far ln T goes where it is linear, and the direction in which it goes furthest for how
/// likely that is. Where a constant matters only once it is far off, σ at hand says nothing of it:
/// δ is taken from slopes over 1.28 deviations, and the spread is how far ln T goes along
/// ± 1.28 δ, over 1.28; upwards at least σ, and at least what any constant does that is independent
/// of the others. `correlation` is of the first constants; the others are independent.
LogSpread log_spread(const LogTimeAt& log_time, std::size_t constants,
                     const std::vector<std::vector<double>>& correlation);

/// Turns a covariance into a correlation; returns the deviation of each constant.
std::vector<double> correlate(std::vector<std::vector<double>>& covariance);

/// How times of single setups scatter about a law.
struct LawNoise {
  double floor = 0;    // Deviation of log time between runs of a setup that only computes.
  double exposed = 0;  // And of the part of it that is exposed communication.
  double scale = 1;    // Of the job, over other jobs.
};

/// Variance of the log time of one setup that the law says takes `time`.
///
///   s² (floor² + (exposed · e)²) + (½ jitter (1 + m(n)) alone/T)²,  e = max(0, 1 − alone/T)
///
/// Uneven steps are known only by the scatter of a few figures, and those figures themselves lie as
/// far off: half of both is taken as not known.
double noise_variance(const LawNoise& noise, const LawInput& input, Seconds time);

/// law_setup and step_parts in one: the seconds of an iteration.
Seconds law_time(const FabricLaw& fabric, const JobLaw& job, const LawInput& input);

}  // namespace stint
