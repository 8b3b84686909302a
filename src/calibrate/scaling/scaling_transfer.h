#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "calibrate/forecast.h"
#include "calibrate/law_fit.h"
#include "calibrate/scaling/scaling_priors.h"
#include "measure/tables/scaling_table.h"

namespace stint {

/// What is known of a network between VMs of this line rate before any row: physics, or what was
/// learned on another network, carried over.
using NetworkPriors = std::function<Result<LawPriors>(BytesPerSecond network)>;

/// Clusters of benchmarks predicted from single VMs by the law of the network (predict/law.h)
/// instead of the benchmarks' own law, so that nothing but the steps of one VM is learned from the
/// table:
///
///   T(N) = T(1) · law(N VMs) / law(1 VM)
///
/// T(1) is the step of one VM of the row's owner and device with the row's samples per worker, by
/// ScalingModel from the training rows of one VM. The law sees the bytes that the row exchanges
/// between VMs (ScalingTraffic), halved as they are of both directions. Rows of one VM are
/// predicted by T(1) alone.
Result<std::vector<Forecast>> forecast_by_network(std::span<const ScalingRow> train,
                                                  std::span<const ScalingRow> test,
                                                  const ScalingPriors& priors,
                                                  const NetworkPriors& networks);

/// The way back: rows of clusters in the form of the law of the network, from which a calibration
/// for other tables is fitted,
///
///   time = T(N) · law(1 VM) / T(1)
///
/// with the law of one VM by `law`. Only rows whose owner and device ran the job on one VM too are
/// among them: elsewhere T(1) says more of the device than T(N) of the network. `reference` is the
/// network that costs are stated for.
Result<std::vector<LawRow>> network_rows(std::span<const ScalingRow> rows,
                                         const ScalingPriors& priors, const LawPriors& law,
                                         BytesPerSecond reference);

}  // namespace stint
