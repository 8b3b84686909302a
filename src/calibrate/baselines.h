#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/codec_fields.h"
#include "base/units.h"
#include "measure/tables/step_table.h"

namespace stint {

/// A model that predicts the time of an iteration of a setup.
class StepModel {
 public:
  StepModel() = default;
  StepModel(const StepModel&) = delete;
  StepModel& operator=(const StepModel&) = delete;
  virtual ~StepModel() = default;

  /// Nothing when the model has no data of the row's job and series. Uses no time of the row.
  virtual std::optional<Seconds> predict(const StepRow& row) const = 0;
};

/// Published baselines, and the simplest one, for comparison.
enum class BaselineKind { kPollux, kScavenger, kPerfect };

std::span<const EnumName<BaselineKind>> names_of(BaselineKind type);

/// Fits a baseline to each job (and series) of the rows that are usable and have a time. For b
/// samples per worker on K workers:
///
/// `pollux` (Qiao et al., OSDI'21, and their AdaptDL):
///
///   T = (G^γ + S^γ)^(1/γ),  G = a + β b,  1 ≤ γ ≤ 10
///   S = 0 on one worker, a_l + β_l max(K − 2, 0) on one VM, a_n + β_n max(K − 2, 0) on several
///
/// minimising, as they do, the root mean square of the logarithmic error of T, plus that of G where
/// the rows have their synchronisation, plus 10⁻³ (γ − 1)² + 10⁻² ((β_l/a_l)² + (β_n/a_n)²).
/// Parameters without data are zero, so that the model assumes perfect scaling, with two
/// exceptions: with one batch only, a is half of the time of G; and with one VM only, several VMs
/// synchronise like one.
///
/// `scavenger` (Tyagi and Sharma 2023): T = c0 + c1 b + c2 K by ordinary least squares, not below
/// 0.
///
/// `perfect`: the time of one worker at that batch, for any K: linear between measured batches,
/// extrapolated beyond them, and in proportion to the batch when there is only one.
std::unique_ptr<StepModel> fit_baseline(BaselineKind kind, std::span<const StepRow> train);

}  // namespace stint
