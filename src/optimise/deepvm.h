#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "catalog/catalog.h"

/// The choice of DeepVM (CCGrid'24): spot workers of one type whose checkpoints are kept by VMs on
/// demand. Its four stages: what is offered, FLOPs per price of each type, the architectures that
/// keep checkpoints, and an integer program that chooses among them.
namespace stint {

/// VMs that only take checkpoints.
struct DeepVmReceiver {
  std::string name;
  DollarsPerSecond price;  // On demand.
  BytesPerSecond nic;
  int vcpus = 1;
};

/// A quota, and what of a cluster counts against it.
struct DeepVmQuota {
  int vcpus = 0;
  bool spot = false;
  bool on_demand = false;
  bool receivers = false;
};

/// A type that workers can be of.
struct DeepVmType {
  std::string name;
  DeepVmFigures figures;
  DollarsPerSecond spot;
  std::optional<DollarsPerSecond> on_demand;  // Absent: it cannot be an anchor.
  std::optional<BytesPerSecond> nic;
  int vcpus = 1;
  std::vector<int> sizes;                  // Numbers of workers that the job can run on, rising.
  std::optional<DeepVmReceiver> receiver;  // Absent: there is no tier.
  std::vector<DeepVmQuota> quotas;
};

enum class DeepVmArchitecture {
  kSingleAnchor,  // One of the workers is on demand and keeps the checkpoints.
  kTiering,       // All workers are spot VMs; receivers on demand keep the checkpoints.
};

struct DeepVmChoice {
  std::size_t type = 0;  // Index.
  int workers = 1;       // VMs, the anchor included.
  DeepVmArchitecture architecture = DeepVmArchitecture::kSingleAnchor;
  int receivers = 0;
  double score = 0;
  DollarsPerSecond rate;  // Of everything.
};

/// What n workers keep of n times the speed of one:
///
///   K(n) = 1 for n ≤ b, else S(n)/L(n);  S(n) = c/(1 + exp(−a (n − b))),  L(n) = c/2 + ca/4 (n −
///   b)
///
/// where L is the tangent of S at b. Never above 1.
double deepvm_scaling(const DeepVmFigures& figures, int workers);

/// How many workers one receiver can serve (fewer than this) when the slower of the two NICs has
/// this rate: the entry of the largest rate of DeepVM's table that is not above it. Nothing below
/// all of them.
std::optional<int> deepvm_fan_in(BytesPerSecond nic);

/// The choice with the highest
///
///   flops/spot price · n · K(n)
///
/// among n workers with a single anchor, and n workers with m receivers where n/m < fan-in; of
/// equal scores the cheaper. vCPUs stay below each quota, and the price of everything within
/// `rate_max`. Nothing when none can be had.
Result<std::optional<DeepVmChoice>> deepvm_choice(std::span<const DeepVmType> types,
                                                  std::optional<DollarsPerSecond> rate_max);

/// Speeds relative to one worker.
struct Speedup {
  int workers = 1;
  double speed = 1;
};

/// The a, b and c with which S(n) comes nearest to the speeds, in squares of their ratio. Requires
/// some speeds; flops stays 0.
Result<DeepVmFigures> fit_deepvm(std::span<const Speedup> speeds);

}  // namespace stint
