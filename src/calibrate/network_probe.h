#pragma once

#include <span>

#include "base/result.h"
#include "calibrate/bucket_fit.h"
#include "plan/calibration.h"
#include "predict/fabric.h"

namespace stint {

/// A network whose all-reduces were timed while nothing else ran.
struct ProbedNetwork {
  const TransportLaw& transport;
  BytesPerSecond reference;  // That the costs of the law are for.
};

/// Time of an all-reduce alone over N VMs by the law of steps. A large message alone is carried at
/// 1/step_share of the rate inside a step, and a doubling of the VMs costs a step's latency over
/// latency_share:
///
///   T = 2 (N − 1)/N · S · step_share β(N) + log₂ N · e^{latency} / latency_share
Seconds lone_reduction_time(const FabricLaw& fabric, const ReductionRow& row,
                            const ProbedNetwork& network);

/// The prior of a network after a probe of it. The costs of all numbers of VMs are moved together,
/// by at most two of their deviations, besides their growth with VMs and the latency. The share of
/// a step is as unsure as TransportLaw says, so that of a difference between a probe and its
/// prediction a part is laid to it, and costs inside steps stay unsure however often is probed.
Result<FabricPrior> probed_prior(const FabricPrior& prior, std::span<const ReductionRow> rows,
                                 const ProbedNetwork& network);

/// The error of probes of the numbers of VMs that are held out in turn, each predicted from the
/// others; with one number alone, that of the fit to it.
Result<AccuracyRecord> probe_accuracy(const FabricPrior& prior, std::span<const ReductionRow> rows,
                                      const ProbedNetwork& network);

}  // namespace stint
