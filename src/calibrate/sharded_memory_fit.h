#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "plan/calibration.h"
#include "predict/sharded/sharded_memory.h"
#include "solver/least_squares.h"

namespace stint {

/// A layout whose peak memory is known or asked for.
struct ShardedMemoryCase {
  std::string software;  // Cases with the same habits: a framework on a cluster.
  ShardedSetup setup;
  ShardedStates states;
  std::vector<ShardedStage> stages = {};  // Empty: layers are spread evenly.
  std::optional<Bytes> peak = {};         // As measured.
};

/// The peak of the fullest worker, with its 80 % interval.
struct ShardedPeak {
  Bytes mean;
  Bytes p10;
  Bytes p90;
};

/// The constants of the law (predict/sharded/sharded_memory.h), fitted to the logarithms of peaks:
///
///   ln peak = ln total(setup; e^(c + u_s)) + error,   c ~ priors of the law, u_s ~ N(0, τ²)
///
/// c are the logarithms of the constants of all software, u_s those of software s over them:
/// activations, overhead, reserved and logits. Frameworks differ in what they copy and buffer, and
/// tables in whether their figure is that of the allocator or of the driver, so that all of them
/// can be fitted together. Large errors count linearly: some tables were noted by hand.
class ShardedMemoryModel {
 public:
  /// Requires at least one case with a peak; those without are not looked at.
  static Result<ShardedMemoryModel> fit(std::span<const ShardedMemoryCase> cases);

  /// Software that was not fitted gets the constants of all, and a wider interval; so does a model
  /// that its software was not fitted with.
  ShardedPeak estimate(const ShardedMemoryCase& it) const;

  /// The constants of all software; the spread is that of a case whose software was not fitted,
  /// the mean square over the cases of the fit.
  ShardedMemoryLaw law() const;

  /// Name, constants and covariance; date, data and accuracy are left to be filled in.
  Calibration to_calibration(const std::string& name) const;

 private:
  double deviation(const ShardedMemoryCase& it, bool known) const;

  Fitted fitted_;
  std::map<std::string, std::size_t> software_;  // Number of each.
  std::map<std::string, double> error_;          // Deviation of rows of each.
  std::set<std::string> models_;                 // Of each software.
  double spread_ = 0;
};

/// The rule of thumb: 16 bytes a parameter over the workers that share them, and activations of
/// 34 · s · b · h bytes a layer (Korthikanti et al. 2022) of those of a stage, over the tensor
/// degree.
Bytes plain_peak(const ShardedMemoryCase& it);

}  // namespace stint
