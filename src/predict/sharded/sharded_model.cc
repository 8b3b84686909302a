#include "predict/sharded/sharded_model.h"

#include <algorithm>

#include "base/check.h"
#include "catalog/fabric.h"
#include "predict/work_time.h"

namespace stint {
namespace {

// PCIe 3.0 x16, one way.
constexpr BytesPerSecond kPlainLink = 16 * kGB / kSecond;

bool is_wide(WorkPrecision precision) {
  return precision == WorkPrecision::kFp32 || precision == WorkPrecision::kTf32;
}

/// Mixed precision keeps FP32 master weights and moments beside 16-bit weights and gradients;
/// plain 16 bits keep all states in 16 bits, FP32 all in 32.
ShardedStates states_of(WorkPrecision precision) {
  switch (precision) {
    case WorkPrecision::kMixed:
    case WorkPrecision::kFp8:
      return {};
    case WorkPrecision::kBf16:
    case WorkPrecision::kFp16:
      return {.parameter = 2 * kByte, .gradient = 2 * kByte, .optimizer = 4 * kByte};
    case WorkPrecision::kTf32:
    case WorkPrecision::kFp32:
      return {.parameter = 4 * kByte, .gradient = 4 * kByte, .optimizer = 8 * kByte};
  }
  CHECK(false);
}

/// Bytes of a gradient as models/model_job.cc counts them.
Bytes job_gradient(WorkPrecision precision) {
  const bool narrow = precision == WorkPrecision::kBf16 || precision == WorkPrecision::kFp16;
  return narrow ? 2 * kByte : 4 * kByte;
}

}  // namespace

double ShardedModel::parameters() const {
  const ShardedShape& size = setup.shape;
  return size.layers * size.layer_parameters + size.embedding_parameters + size.end_parameters;
}

ShardedModel sharded_model(const ModelShape& shape, const JobProfile& job,
                           const ShardedLaws& laws) {
  CHECK(job.work.has_value());
  const JobWork& work = *job.work;
  ShardedModel model{.name = work.model,
                     .setup = {},
                     .states = states_of(work.precision),
                     .bounds = {},
                     .precision = work.precision,
                     .laws = laws};
  ShardedSetup& setup = model.setup;
  setup.shape = ShardedShape(shape);
  setup.sequence = static_cast<double>(work.sequence.value_or(tokens_of(shape, 1)));
  setup.value = is_wide(work.precision) ? 4 * kByte : 2 * kByte;
  setup.gradient_value = setup.value;
  const double trained = job.gradient_bytes / job_gradient(work.precision);
  setup.trained = std::min(1.0, trained / model.parameters());
  const std::string method = work.method.value_or("full");
  setup.frozen_products = !method.starts_with("full");
  model.bounds.layers = shape.layers + shape.decoder_layers.value_or(0);
  model.bounds.heads = shape.heads;
  model.bounds.kv_heads = shape.kv_heads.value_or(shape.heads);
  model.bounds.experts = shape.experts.value_or(1);
  return model;
}

std::optional<ShardedCluster> sharded_cluster(const Catalog& catalog, const VmType& type,
                                              WorkPrecision precision, int vms) {
  const Gpu* gpu = gpu_of(catalog, type);
  const auto memory = accelerator_memory(catalog, type);
  if (gpu == nullptr || !type.accelerator || !memory) return std::nullopt;
  const bool fp8 = precision == WorkPrecision::kFp8;
  const auto numbers = precision_on(*gpu, fp8 ? WorkPrecision::kMixed : precision);
  if (!numbers) return std::nullopt;
  const auto device = device_figures(*gpu, *numbers);
  if (!device.ok()) return std::nullopt;
  const auto network = fabric_rate(type);
  if (vms > 1 && (!network || *network <= BytesPerSecond{})) return std::nullopt;
  const auto inside = inside_link(catalog, type);
  return ShardedCluster{.machines = {.device = *device,
                                     .fp8 = fp8 && precision_on(*gpu, precision) == Precision::kFp8,
                                     .workers_per_vm = std::max(1, type.accelerator->count),
                                     .inside = inside ? inside->one_way : kPlainLink,
                                     .network = network.value_or(1 * kGB / kSecond),
                                     .host = host_link_rate(*gpu).value_or(kPlainLink)},
                        .memory = *memory,
                        .vms = vms};
}

}  // namespace stint
