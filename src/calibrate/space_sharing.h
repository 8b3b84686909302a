#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "measure/tables/pair_table.h"
#include "predict/free_sharing.h"
#include "solver/random_effects.h"

namespace stint {

/// The rate of a job beside another one.
struct SharedRate {
  PerSecond median;
  PerSecond p10;
  PerSecond p90;
};

struct SharedRates {
  SharedRate first;
  SharedRate second;
};

/// Whether both rates alone are known and each job holds one GPU.
bool can_predict_sharing(const PackedPair& pair);

/// Whether it fits too, and both rates together are known.
bool can_teach_sharing(const PackedPair& pair);

/// The device that a pair counts for. Rates that count no steps come from other experiments, so
/// their devices are others too.
std::string sharing_device(const PackedPair& pair);

/// One of the terms that make up log r below.
struct SharingTerm {
  bool shared = false;  // By all devices.
  std::string device;   // As the basis names it; empty when shared.
  std::size_t kind = 0;
  std::string own;     // Family, where the term is of one.
  std::string beside;  // The same of the other job.
  int batch = 0;       // Where the term is of one size.

  // Terms of a device are neighbours, which makes fits fast.
  auto operator<=>(const SharingTerm&) const = default;
};

/// What is known of a device.
struct SharingDevice {
  std::size_t noise = 0;  // Number of its noise.
  bool cut_off = true;    // No job was faster than alone.
  bool in_steps = true;   // Rates count steps.
  std::set<std::string> families;
  double unseen_factor = 1;  // Of deviations beside families that are not among them.
};

/// What observations and predictions are counted in.
struct SharingBasis {
  double log_step_mean = 0;  // Mean logarithm of seconds per step alone.
  std::map<std::string, SharingDevice> devices;
  std::map<SharingTerm, std::size_t> unknowns;
};

/// What each of two jobs gets of a GPU that they share freely, learned from pairs that were
/// measured. With r the rate of job a beside b over its rate alone, on device d, and x the
/// logarithm of a job's seconds per step alone over their mean,
///
///   log r = log ½ + m + m_d + k (x_a − x_b)
///         + own_a + own_ad + own slope_ad x_a + own size_ad
///         + beside_b + beside_bd + beside slope_bd x_b + beside size_bd
///         + pair_abd + pair slope_abd x_a + pair slope'_abd x_b + noise_d
///
/// where a and b are job families except that size is a family at one batch. Devices give turns in
/// slices of time, so that a job with short kernels (short steps, mostly) waits more than one with
/// long kernels: hence k. All of these are drawn around zero, each kind with a variance of its own
/// that is learned with them (solver/random_effects.h): where nothing is known of a job, both jobs
/// run at half their speed, or at what is usual; where its pairs are known, they decide. Noise has
/// heavy tails. Tables that never show a job faster than alone cut rates off there: such rows are
/// lower bounds, and predictions are cut off too. Pairs whose rates count no steps have x = 0 and
/// count as on devices of their own.
///
/// Intervals are those of the posterior. Beside a family that was never seen on the device they are
/// scaled by how far leaving out each family of the training rows in turn says they are off there.
class SpaceSharing {
 public:
  /// Learns from the pairs that can_teach_sharing. Bad input without any.
  static Result<SpaceSharing> fit(std::span<const PackedPair> pairs);

  /// Nothing unless can_predict_sharing.
  std::optional<SharedRates> predict(const PackedPair& pair) const;

  /// False when what `predict` says rests on other devices only.
  bool knows_device(const PackedPair& pair) const;

  /// What is left of the law for two jobs of which nothing is known, on the devices whose rates
  /// count steps; without spreads.
  FreeSharingLaw law_of_strangers() const;

  /// Deviations of log r between jobs never seen are multiplied by this, all devices together.
  double unseen_factor() const { return unseen_factor_; }

 private:
  SharingBasis basis_;
  FittedEffects fitted_;
  double unseen_factor_ = 1;
};

// What could be said of two jobs on one GPU without a model: rates without intervals, and nothing
// where SpaceSharing says nothing either.

/// Each job at half of its rate alone.
std::optional<SharedRates> half_speed(const PackedPair& pair);

/// Each job at the share of its rate alone that is usual on its device: the geometric mean over
/// both jobs of all pairs that were measured there, or anywhere when none was there.
class MeanSlowdown {
 public:
  /// Takes the pairs that SpaceSharing learns from; without any it is half_speed.
  explicit MeanSlowdown(std::span<const PackedPair> pairs);

  std::optional<SharedRates> predict(const PackedPair& pair) const;

 private:
  struct Sum {
    double log_shares = 0;
    double count = 0;
  };

  std::map<std::string, Sum> devices_;
  Sum all_;
};

}  // namespace stint
