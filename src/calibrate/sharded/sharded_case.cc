#include "calibrate/sharded/sharded_case.h"

#include <fmt/format.h>

#include "catalog/gpu_spelling.h"

namespace stint {
namespace {

constexpr BytesPerSecond kPcieRate = 12 * kGB / kSecond;  // Of an accelerator without another link.
// Share of the weights that adapters of rank 16 or so add; few enough that it hardly matters.
constexpr double kAdapterShare = 0.002;

ShardedShape shape_of(const TableShape& it) {
  ShardedShape shape;
  const double head = it.head_size > 0 ? it.head_size : it.hidden / it.heads;
  shape.layers = it.layers;
  shape.hidden = it.hidden;
  shape.heads = it.heads;
  shape.query = head * it.heads;
  shape.kv = head * (it.kv_heads > 0 ? it.kv_heads : it.heads);
  shape.wide = it.wide > 0 ? it.wide : 4 * it.hidden;
  shape.gates = it.gated ? 2 : 1;
  shape.experts = it.experts;
  shape.experts_used = it.experts_used;
  shape.vocabulary = it.vocabulary;
  shape.causal = it.causal;
  const double norms = 2 * it.hidden;
  shape.layer_parameters = 2 * it.hidden * (shape.query + shape.kv) +
                           (shape.gates + 1) * it.hidden * shape.wide * it.experts + norms;
  shape.embedding_parameters = it.vocabulary * it.hidden;
  shape.end_parameters = it.hidden + (it.tied ? 0 : it.vocabulary * it.hidden);
  return shape;
}

ShardedSetup setup_of(const ShardedRow& row, const Gpu& gpu, const DeviceFigures& figures) {
  ShardedSetup setup;
  setup.shape = shape_of(row.shape);
  setup.sequence = row.sequence;
  setup.fused_attention = row.fused_attention;
  setup.compiled = row.compiled;
  setup.trained = row.adapters ? kAdapterShare : 1;
  setup.frozen_products = row.adapters;
  setup.value = (row.tf32 ? 4 : 2) * kByte;
  setup.gradient_value = (row.fp32_gradients ? 4 : 2) * kByte;
  setup.overlaps_gradients = row.overlaps_gradients;
  setup.offloads_update = row.offloads_update;
  setup.global_batch = row.global_batch;
  setup.layout = row.layout;
  ShardedMachines& machines = setup.machines;
  machines.device = figures;
  // Twice as many bits take twice as long.
  machines.device.peak = row.peak_share * (row.tf32 ? 0.5 : 1) * figures.peak;
  machines.fp8 = row.fp8;
  machines.workers_per_vm = row.gpus_per_vm;
  const BytesPerSecond sheet =
      gpu.link_bandwidth ? *gpu.link_bandwidth / 2 : kPcieRate;  // The sum of both directions.
  machines.inside = row.inside.value_or(sheet);
  // Where a table does not state a network: 100 Gbit/s for each worker.
  machines.network = row.network.value_or(row.gpus_per_vm * 12.5 * kGB / kSecond);
  return setup;
}

}  // namespace

std::vector<ShardedCase> sharded_cases(std::span<const ShardedRow> rows, const Catalog& catalog) {
  std::vector<ShardedCase> cases;
  for (const ShardedRow& row : rows) {
    ShardedCase& it = cases.emplace_back(ShardedCase{.row = row, .setup = {}});
    if (!row.unusable.empty()) continue;
    const Gpu* gpu = find_spelled_gpu(catalog, row.gpu);
    const auto figures = gpu == nullptr
                             ? Result<DeviceFigures>(bad_input("it is not in the catalogue"))
                             : device_figures(*gpu, Precision::kFp16);
    if (!figures.ok()) {
      it.row.unusable = fmt::format("no figures of {}: {}", row.gpu, figures.error().message);
      continue;
    }
    it.setup = setup_of(row, *gpu, *figures);
  }
  return cases;
}

bool is_measured(const ShardedCase& it) { return it.row.unusable.empty() && it.row.time; }

}  // namespace stint
