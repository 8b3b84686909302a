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

/// Whether the pair also fits, and both rates together are known.
bool can_teach_sharing(const PackedPair& pair);

/// The device of a pair. Rates that do not count steps come from other experiments, so that their
/// devices are distinct too.
std::string sharing_device(const PackedPair& pair);

/// One of the terms that make up log r below.
struct SharingTerm {
  bool shared = false;  // Common to all devices.
  std::string device;   // As the basis names it; empty when shared.
  std::size_t kind = 0;
  std::string own;     // Family, where the term is of one.
  std::string beside;  // The same of the other job.
  int batch = 0;       // Where the term belongs to one batch size.

  // Terms of a device have neighbouring numbers, which makes fits fast.
  auto operator<=>(const SharingTerm&) const = default;
};

/// The data of a device.
struct SharingDevice {
  std::size_t noise = 0;  // Number of its noise.
  bool cut_off = true;    // No job was faster than alone.
  bool in_steps = true;   // Rates count steps.
  std::set<std::string> families;
  double unseen_factor = 1;  // Factor on deviations beside families that are not among them.
};

/// The basis in which observations and predictions are expressed.
struct SharingBasis {
  bool by_rates = false;     // With the terms of rates alone instead of k.
  double log_step_mean = 0;  // Mean logarithm of seconds per step alone.
  std::map<std::string, SharingDevice> devices;
  std::map<SharingTerm, std::size_t> unknowns;
};

/// The law of SpaceSharing, fitted.
struct SharingLaw {
  SharingBasis basis;
  FittedEffects fitted;
  double unseen_factor = 1;  // Factor on deviations between unseen jobs, all devices together.
};

/// The rate of each of two jobs on a GPU that they share freely, fitted to measured pairs. With r
/// the rate of job a beside b over its rate alone, on device d, and x the logarithm of a job's
/// seconds per step alone over their mean,
///
///   log r = log ½ + m + m_d + k (x_a − x_b)
///         + own_a + own_ad + own slope_ad x_a + own size_ad
///         + beside_b + beside_bd + beside slope_bd x_b + beside size_bd
///         + pair_abd + pair slope_abd x_a + pair slope'_abd x_b + noise_d
///
/// where a and b are job families except that size is a family at one batch. Devices serve jobs in
/// time slices, so that a job with short kernels (mostly short steps) waits more than one with long
/// kernels: hence k. All of these have mean zero, each kind with its own variance that is fitted
/// with them (solver/random_effects.h): a job without data runs at half its speed, or at the usual
/// share; a job with measured pairs follows them. Jobs differ more on some devices than on others:
/// a kind with d has a variance v_kd on each device. Its prior is v_k, which a first fit with the
/// same variances on all devices gives. Noise has heavy tails. Tables that never show a
/// job faster than alone truncate rates there: such rows are lower bounds, and predictions are
/// truncated too. Pairs whose rates do not count steps have x = 0 and count as on separate devices.
///
/// A job without a pair on a device that others have pairs on is predicted by a second law, in
/// which its rates alone say more, where training rows have the rates of full servers: instead of
/// k,
///
///   k_o x_a + k_b x_b + (g + g_d) w_a + (h + h_d) w_b + s_d c_a + t_d c_b
///
/// w is x less its mean over the job's batches on the device, because a job with a longer step at
/// usual batch is another program, and at a larger batch the same one with longer kernels. c is the
/// logarithm of the job's rate per GPU when it fills one server over its rate alone: a job that
/// suffers from its own likes there (input, host processors) suffers beside others too, and one
/// that runs faster there was measured alone on a slower machine. Pairs of jobs that both have
/// others are predicted worse with these terms.
///
/// Intervals are those of the posterior. Beside a family without data on the device they are scaled
/// by the errors found when each family of the training rows is held out in turn, without those of
/// unsteady pairs.
class SpaceSharing {
 public:
  /// Fits the pairs that can_teach_sharing. Bad input without any.
  static Result<SpaceSharing> fit(std::span<const PackedPair> pairs);

  /// Nothing unless can_predict_sharing.
  std::optional<SharedRates> predict(const PackedPair& pair) const;

  /// False when the prediction rests on other devices only.
  bool knows_device(const PackedPair& pair) const;

  /// The law for two unseen jobs, on the devices whose rates count steps; without spreads.
  FreeSharingLaw law_of_strangers() const;

  /// Factor on the deviations of log r between unseen jobs, all devices together.
  double unseen_factor() const { return by_pairs_.unseen_factor; }

 private:
  SharingLaw by_pairs_;
  std::optional<SharingLaw> by_rates_;
};

// Baselines for two jobs on one GPU: rates without intervals, and nothing where SpaceSharing
// predicts nothing either.

/// Each job at half of its rate alone.
std::optional<SharedRates> half_speed(const PackedPair& pair);

/// Each job at the usual share of its rate alone on its device: the geometric mean over both jobs
/// of all pairs measured there, or on all devices when there are none.
class MeanSlowdown {
 public:
  /// Uses the pairs that SpaceSharing is fitted to; without any it is half_speed.
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
