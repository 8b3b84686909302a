#include "calibrate/network_probe.h"

#include <cmath>
#include <set>
#include <vector>

#include "calibrate/score.h"
#include "solver/least_squares.h"

namespace stint {
namespace {

/// The unknowns of a probe in their order.
enum ProbeUnknown { kCost, kByVms, kLatency, kShare, kProbeUnknowns };

/// All costs moved by `x`, as far as they are the law's.
FabricLaw moved(FabricLaw fabric, std::span<const double> x) {
  for (double FabricLaw::*cost : {&FabricLaw::two_vm_cost, &FabricLaw::cost, &FabricLaw::depth_cost,
                                  &FabricLaw::server_cost}) {
    fabric.*cost += x[kCost];
  }
  fabric.cost_by_vms = x[kByVms];
  fabric.latency = x[kLatency];
  return fabric;
}

std::vector<Unknown> unknowns_of(const FabricPrior& prior, const ProbedNetwork& network) {
  constexpr double kFurthest = 2;  // Deviations that a probe may move the costs by.
  const auto of = [](double mean, double deviation) {
    return Unknown{.prior_mean = mean, .prior_deviation = deviation, .start = mean};
  };
  std::vector<Unknown> unknowns(kProbeUnknowns);
  unknowns[kCost] = of(0, prior.deviation.two_vm_cost);
  unknowns[kCost].min = -kFurthest * prior.deviation.two_vm_cost;
  unknowns[kCost].max = kFurthest * prior.deviation.two_vm_cost;
  unknowns[kByVms] = of(prior.mean.cost_by_vms, prior.deviation.cost_by_vms);
  unknowns[kLatency] = of(prior.mean.latency, prior.deviation.latency);
  unknowns[kShare] = of(0, network.transport.step_share.deviation);
  return unknowns;
}

Result<Fitted> fit_probe(const FabricPrior& prior, std::span<const ReductionRow> rows,
                         const ProbedNetwork& network) {
  constexpr double kNoise = 0.05;  // Of ln time, beyond the scatter of repetitions.
  const auto residuals = [&](std::span<const double> x, std::span<double> out) {
    TransportLaw transport = network.transport;
    transport.step_share.mean *= std::exp(x[kShare]);
    const FabricLaw fabric = moved(prior.mean, x);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Seconds time = lone_reduction_time(fabric, rows[i], {transport, network.reference});
      out[i] = std::log(time / rows[i].time) / std::hypot(kNoise, rows[i].deviation);
    }
  };
  return fit({.unknowns = unknowns_of(prior, network),
              .rows = rows.size(),
              .residuals = residuals,
              .robust_beyond = 2});
}

}  // namespace

Seconds lone_reduction_time(const FabricLaw& fabric, const ReductionRow& row,
                            const ProbedNetwork& network) {
  constexpr Bytes kReferenceGradients = 100 * kMB;  // That costs are stated for.
  const LawInput input{.gradients = kReferenceGradients,
                       .vms = row.vms,
                       .workers = row.vms,
                       .network = row.slowest / network.reference,
                       .reference = network.reference};
  const SecondsPerByte wire = 1 / row.slowest;
  const SecondsPerByte byte =
      std::max(wire, network.transport.step_share.mean * network_cost(fabric, {}, input));
  const double sent = 2.0 * (row.vms - 1) / row.vms;
  const Seconds doubling = std::exp(fabric.latency) / network.transport.latency_share * kSecond;
  return sent * row.bytes * byte + std::log2(row.vms) * doubling;
}

Result<FabricPrior> probed_prior(const FabricPrior& prior, std::span<const ReductionRow> rows,
                                 const ProbedNetwork& network) {
  if (rows.empty()) return prior;
  const auto fitted = fit_probe(prior, rows, network);
  if (!fitted.ok()) return fitted.error();
  const auto deviation = [&](ProbeUnknown unknown) {
    return std::sqrt(fitted->covariance[unknown][unknown]);
  };
  FabricPrior probed{.mean = moved(prior.mean, fitted->values), .deviation = prior.deviation};
  // A law that was carried over may be surer of one cost than of the others.
  const double left = deviation(kCost) / prior.deviation.two_vm_cost;
  for (double FabricLaw::*cost :
       {&FabricLaw::two_vm_cost, &FabricLaw::cost, &FabricLaw::server_cost}) {
    probed.deviation.*cost *= std::min(1.0, left);
  }
  probed.deviation.cost_by_vms = deviation(kByVms);
  probed.deviation.latency = deviation(kLatency);
  return probed;
}

Result<AccuracyRecord> probe_accuracy(const FabricPrior& prior, std::span<const ReductionRow> rows,
                                      const ProbedNetwork& network) {
  std::set<int> counts;
  for (const ReductionRow& row : rows) counts.insert(row.vms);
  std::vector<Scored> scored;
  for (const int count : counts) {
    std::vector<ReductionRow> others;
    for (const ReductionRow& row : rows) {
      if (row.vms != count || counts.size() == 1) others.push_back(row);
    }
    const auto fitted = fit_probe(prior, others, network);
    if (!fitted.ok()) return fitted.error();
    TransportLaw transport = network.transport;
    transport.step_share.mean *= std::exp(fitted->values[kShare]);
    const FabricLaw fabric = moved(prior.mean, fitted->values);
    for (const ReductionRow& row : rows) {
      if (row.vms != count) continue;
      scored.push_back(
          {.job = "sums over the network",
           .predicted = lone_reduction_time(fabric, row, {transport, network.reference}),
           .measured = row.time});
    }
  }
  const Score of_all = score(scored);
  return AccuracyRecord{.name = "all sums over the network",
                        .split = "leave-one-cluster-size-out",
                        .n = of_all.n,
                        .mape = of_all.mape,
                        .median_ape = of_all.median_ape,
                        .p90_ape = of_all.p90_ape};
}

}  // namespace stint
