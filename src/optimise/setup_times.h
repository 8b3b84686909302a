#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/log_belief.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// What is believed of the iteration times of a job on all setups of a search.
class SetupTimes {
 public:
  virtual ~SetupTimes() = default;

  /// An iteration on a setup takes so long; what was learned of it before counts no more.
  virtual Status learn(std::size_t setup, Seconds time) = 0;

  /// ln seconds of an iteration, by setup.
  virtual const LogBelief& belief() const = 0;
};

/// A setup before anything was timed.
struct PredictedSetup {
  Seconds time;          // Of an iteration.
  double deviation = 0;  // Of its logarithm, by the prediction's own interval.
  int type = 0;          // Of its machines; equal numbers are equal types.
  int vms = 1;
  int batch = 1;  // Global.
};

/// Beliefs about predictions: how far one is off tells how far others are.
///
///   ln T_i = ln T̂_i + e_i,  cov(e_i, e_k) = d_i d_k (kAll + kType [same type] + kNear near_ik)
///   near_ik = [same type] exp(−|ln(vms_i/vms_k)| − |ln(batch_i/batch_k)|)
///
/// The weights add up to one; d is the prediction's deviation, and kDeviationMin at least. A setup
/// that was timed lies off what it was timed at by kTimingDeviation.
class PredictedTimes : public SetupTimes {
 public:
  static constexpr double kAll = 0.4;
  static constexpr double kType = 0.3;
  static constexpr double kNear = 0.3;
  static constexpr double kDeviationMin = 0.05;
  static constexpr double kTimingDeviation = 0.01;

  explicit PredictedTimes(const std::vector<PredictedSetup>& setups);

  Status learn(std::size_t setup, Seconds time) override;
  const LogBelief& belief() const override { return belief_; }

 private:
  LogBelief prior_;
  LogBelief belief_;
  std::vector<std::optional<Seconds>> timed_;
};

}  // namespace stint
