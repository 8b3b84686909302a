#include "calibrate/memory_fit.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "base/check.h"
#include "base/text.h"
#include "calibrate/law_posterior.h"
#include "predict/law.h"

namespace stint {
namespace {

// Mixed-precision Adam keeps 2 + 2 + 4 + 4 + 4 bytes for a parameter; frameworks that reduce
// gradients in single precision keep up to 20.
constexpr double kBytesPerParameter = 16;
constexpr double kBytesPerParameterDeviation = 0.1;

// An element is 2 bytes in half and 4 in single precision, less where attention is recomputed and
// more where temporaries of the backward pass stand beside it.
constexpr double kBytesPerActivation = 2.5;
constexpr double kBytesPerActivationDeviation = 0.7;

// CUDA context, workspaces of libraries, allocator: between half and several gigabytes.
constexpr double kOverhead = 1.5e9;
constexpr double kOverheadDeviation = 0.7;

// NCCL's buffers for a peer, some megabytes for each of tens of channels.
constexpr double kPerPeer = 0.3e9;
constexpr double kPerPeerDeviation = 1;

// Spread of a cluster's constants around the population's. Single or half precision is a factor of
// 2, attention kept or recomputed one of 3 and more, and frameworks' caches as much again; the two
// clusters published with Sailor differ by a factor of 6. Since those rows were known when this and
// the term for peers were chosen, scores on them are not blind: with 0.5 the mean error is 33.8 %
// instead of 27.3 % by job, and 69.0 % instead of 55.2 % by cluster.
constexpr double kClusterDeviation = 1;

// Peaks repeat well; the error of a formula of four terms is about a tenth.
constexpr double kRowDeviation = 0.1;
constexpr double kRowDeviationRows = 5;

constexpr double kRobustBeyond = 2;  // Deviations.

// Places of the unknowns, all logarithms; each cluster then has two offsets.
enum Place : std::size_t { kParameter, kActivation, kFixed, kPeer, kShared };

std::size_t activation_offset(std::size_t cluster) { return kShared + 2 * cluster; }
std::size_t overhead_offset(std::size_t cluster) { return kShared + 2 * cluster + 1; }

double log_peak(std::span<const double> x, std::size_t cluster,
                const std::vector<StageLoad>& loads) {
  const double parameter = std::exp(x[kParameter]);
  const double activation = std::exp(x[kActivation] + x[activation_offset(cluster)]);
  const double overhead = std::exp(x[kFixed] + x[overhead_offset(cluster)]);
  const double peer = std::exp(x[kPeer]);
  double most = 0;
  for (const StageLoad& load : loads) {
    most = std::max(most, parameter * load.parameters + activation * load.activations + overhead +
                              peer * (load.tensor_parallel - 1));
  }
  return std::log(most);
}

std::vector<Unknown> unknowns_of(std::size_t clusters) {
  const auto around = [](double mean, double deviation) {
    return Unknown{.prior_mean = mean, .prior_deviation = deviation, .start = mean};
  };
  std::vector<Unknown> unknowns{around(std::log(kBytesPerParameter), kBytesPerParameterDeviation),
                                around(std::log(kBytesPerActivation), kBytesPerActivationDeviation),
                                around(std::log(kOverhead), kOverheadDeviation),
                                around(std::log(kPerPeer), kPerPeerDeviation)};
  unknowns.resize(kShared + 2 * clusters, around(0, kClusterDeviation));
  return unknowns;
}

double peak_of(const PlanRow& row) { return std::log(row.memory_peak.in(kByte)); }

}  // namespace

LayerTable::LayerTable(const std::vector<LayerSize>& sizes) {
  for (const LayerSize& size : sizes) {
    sizes_[{size.model, size.microbatch, size.layer}] = size;
    int& layers = layers_[size.model];
    layers = std::max(layers, size.layer + 1);
  }
}

Result<std::vector<StageLoad>> LayerTable::loads(const PlanMemory& plan) const {
  const auto model = layers_.find(plan.model);
  if (model == layers_.end()) {
    return bad_input(fmt::format("no layer sizes of '{}'", printable(plan.model)));
  }
  const int planned = plan.stages.back().layer_last + 1;
  if (planned != model->second) {
    return bad_input(fmt::format("the plan ends with layer {} of {}, whose last layer is {}",
                                 planned - 1, printable(plan.model), model->second - 1));
  }
  std::vector<StageLoad> loads;
  const auto stages = static_cast<int>(plan.stages.size());
  for (int k = 0; k < stages; ++k) {
    const PlanStage& stage = plan.stages[static_cast<std::size_t>(k)];
    const double per_round = static_cast<double>(stage.replicas.size()) * plan.microbatch;
    const double rounds = std::max(1.0, std::ceil(plan.global_batch / per_round));
    const double in_flight = std::min<double>(stages - k, rounds) * plan.microbatch;
    std::set<int> degrees;
    for (const StageReplica& replica : stage.replicas) degrees.insert(replica.tensor_parallel);
    for (const int degree : degrees) {
      StageLoad load{.tensor_parallel = degree};
      for (int layer = stage.layer_first; layer <= stage.layer_last; ++layer) {
        const auto size = sizes_.find({plan.model, degree, layer});
        if (size == sizes_.end()) {
          return bad_input(fmt::format("no size of layer {} of {} at tensor-parallel degree {}",
                                       layer, printable(plan.model), degree));
        }
        load.parameters += static_cast<double>(size->second.parameters);
        load.activations += in_flight * static_cast<double>(size->second.activation_memory);
      }
      loads.push_back(load);
    }
  }
  return loads;
}

Result<PlanMemoryModel> PlanMemoryModel::fit(std::span<const PlanRow> rows) {
  CHECK(!rows.empty());
  PlanMemoryModel model;
  for (const PlanRow& row : rows) model.clusters_.emplace(row.cluster, model.clusters_.size());
  const auto cluster_of = [&](const PlanRow& row) { return model.clusters_.at(row.cluster); };
  // One additional cluster represents unseen ones: without rows it keeps its prior, and its
  // covariance is that of the prior.
  const LeastSquares problem{.unknowns = unknowns_of(model.clusters_.size() + 1),
                             .rows = rows.size(),
                             .residuals =
                                 [&](std::span<const double> x, std::span<double> residuals) {
                                   for (std::size_t i = 0; i < rows.size(); ++i) {
                                     const double peak =
                                         log_peak(x, cluster_of(rows[i]), rows[i].loads);
                                     residuals[i] = (peak - peak_of(rows[i])) / kRowDeviation;
                                   }
                                 },
                             .robust_beyond = kRobustBeyond};
  auto fitted = stint::fit(problem);
  if (!fitted.ok()) return fitted.error();
  model.fitted_ = std::move(*fitted);
  std::vector<double> residuals;
  for (const PlanRow& row : rows) {
    residuals.push_back(log_peak(model.fitted_.values, cluster_of(row), row.loads) - peak_of(row));
  }
  model.row_deviation_ = row_deviation(residuals, kRowDeviation, kRowDeviationRows);
  return model;
}

MemoryEstimate PlanMemoryModel::estimate(const std::string& cluster,
                                         const std::vector<StageLoad>& loads) const {
  CHECK(!loads.empty());
  const auto found = clusters_.find(cluster);
  const std::size_t index = found == clusters_.end() ? clusters_.size() : found->second;
  const auto value = [&](std::span<const double> x) { return log_peak(x, index, loads); };
  const double middle = value(fitted_.values);
  const double reach =
      kEightInTen * std::hypot(posterior_deviation(fitted_, value), row_deviation_);
  return {.mean = std::exp(middle) * kByte,
          .p10 = std::exp(middle - reach) * kByte,
          .p90 = std::exp(middle + reach) * kByte};
}

Bytes plain_memory(const std::vector<StageLoad>& loads) {
  CHECK(!loads.empty());
  constexpr double kHalfPrecision = 2;
  double most = 0;
  for (const StageLoad& load : loads) {
    most = std::max(most, kBytesPerParameter * load.parameters + kHalfPrecision * load.activations);
  }
  return most * kByte;
}

}  // namespace stint
