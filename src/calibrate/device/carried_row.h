#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"

namespace stint {

/// A time of a job on an accelerator, from which its time on another may be worked out.
struct CarriedRow {
  std::string job;
  const Gpu* gpu = nullptr;
  FlopsPerSecond peak;       // At the precision that is customary there.
  BytesPerSecond bandwidth;  // Of its memory.
  double batch = 1;          // Per accelerator.
  double power = 1;          // Limit over the largest limit of the accelerator.
  double log_time = 0;       // Logarithm of the seconds of a sample on one accelerator.
};

/// The figure that a baseline scales times with.
enum class CarriedBy { kNothing, kPeak, kBandwidth };

/// "same-time", "peak-flops" or "bandwidth" as a baseline. Requires one of them.
CarriedBy carried_by(std::string_view baseline);
std::vector<std::string> carried_baselines();

/// The logarithm of the seconds of a sample of `row`, whose own time is not read: of the rows of
/// its job on the accelerator that is nearest by the figure (by peak when nothing is scaled) the
/// mean over those nearest in batch and power, scaled by the ratio of the figures. Nothing when no
/// row has the job.
std::optional<double> carried_log_time(std::span<const CarriedRow> known, const CarriedRow& row,
                                       CarriedBy by);

}  // namespace stint
