#pragma once

#include <span>

#include "base/codec_fields.h"
#include "calibrate/forecast.h"
#include "measure/tables/scaling_table.h"

namespace stint {

/// Simple models of scaling, for comparison.
enum class ScalingBaseline {
  kPerfect,       // The rate per worker of the nearest smaller cluster of the series.
  kConstantStep,  // The time of its step.
  kAmdahl,        // T = a b + c by least squares over the series, a and c not negative, b samples
                  // per worker; perfect where all rows have one b.
};

std::span<const EnumName<ScalingBaseline>> names_of(ScalingBaseline type);

/// The prediction of a baseline from the usable training rows that have a time: those of the row's
/// series, else those of its job, owner and device in any edition, else those of its job and
/// device. Without a smaller cluster the smallest is used. There is no interval.
Forecast scaling_baseline(ScalingBaseline baseline, std::span<const ScalingRow> train,
                          const ScalingRow& row);

}  // namespace stint
