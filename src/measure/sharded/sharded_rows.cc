// The tables of vTrain, llm-foundry, Lucie, BLOOM and nanotron, which state the shape of a model.
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "measure/sharded/sharded_cells.h"

namespace stint {
namespace {

// Networks that the tables leave to the description of their systems.
constexpr BytesPerSecond kVtrainNetwork = 100 * kGB / kSecond;  // 800 Gbit/s, by its configuration.
constexpr BytesPerSecond kMosaicNetwork = 200 * kGB / kSecond;  // 1600 Gbit/s, by its headings.
constexpr BytesPerSecond kHopperNetwork = 400 * kGB / kSecond;  // 8 × 400 Gbit/s, as DGX H100.
constexpr BytesPerSecond kJeanZayNetwork = 50 * kGB / kSecond;  // 4 × 100 Gbit/s Omni-Path.
constexpr double kMegatronVocabulary = 51200;
constexpr double kBloomVocabulary = 250880;
constexpr double kLucieVocabulary = 65024;

ShardedRow started(const Csv& csv, std::size_t i, const char* table) {
  ShardedRow row{.table = table};
  row.line = csv.line(i);
  return row;
}

void read_degrees(ShardedCells& cells, ShardedRow& row) {
  row.gpus = cells.count("gpus");
  row.gpus_per_vm = cells.count("gpus_per_node", 8);
  row.layout.data = cells.count("dp");
  row.layout.tensor = cells.count("tp");
  row.layout.pipeline = cells.count("pp");
  row.global_batch = cells.number("global_batch");
  row.sequence = cells.number("seq");
}

void read_shape(ShardedCells& cells, ShardedRow& row) {
  row.shape.layers = cells.count("layers");
  row.shape.hidden = cells.count("hidden");
  row.shape.heads = cells.count("heads");
  row.shape.wide = cells.number("ffn", 4 * row.shape.hidden);
}

}  // namespace

Result<ShardedRow> vtrain_row(const Csv& csv, std::size_t i) {
  ShardedRow row = started(csv, i, "vtrain one node");
  ShardedCells cells(csv, i, row);
  read_degrees(cells, row);
  read_shape(cells, row);
  if (row.gpus > row.gpus_per_vm) row.table = "vtrain";
  row.gpu = "A100-80GB-SXM";
  row.shape.vocabulary = kMegatronVocabulary;
  row.layout.micro_batch = cells.count("micro_batch");
  row.layout.recompute = Recompute::kFull;
  row.network = kVtrainNetwork;
  row.overlaps_gradients = false;
  row.job = cells.blank("params_b")
                ? fmt::format("{} layers of {}", row.shape.layers, row.shape.hidden)
                : fmt::format("{}B", cells.text("params_b"));
  row.choice = fmt::format("{}, {} GPUs, batch {}", row.job, row.gpus, row.global_batch);
  cells.set_time({"iteration_s"});
  cells.check_layout();
  return row;
}

Result<ShardedRow> foundry_row(const Csv& csv, std::size_t i) {
  ShardedRow row = started(csv, i, "llm-foundry");
  ShardedCells cells(csv, i, row);
  read_shape(cells, row);
  row.job = cells.text("model");
  if (row.job.empty()) cells.reject("model is blank");
  const std::string gpu = to_lower(cells.text("gpu"));
  const bool hopper = gpu.starts_with("h100");
  row.gpu = hopper ? "H100-SXM" : gpu.find("40") != gpu.npos ? "A100-40GB-SXM" : "A100-80GB-SXM";
  row.network = hopper ? kHopperNetwork : kMosaicNetwork;
  row.software = fmt::format("{} {}", cells.text("last_readme_date"), cells.text("mp_mode"));
  row.gpus = cells.count("gpus");
  row.shape.vocabulary = cells.number("vocab", 50368);
  row.sequence = cells.number("seq");
  row.global_batch = cells.number("global_batch");
  row.layout.data = row.gpus;
  row.layout.micro_batch = cells.count("micro_batch");
  row.layout.zero = cells.text("sharding") == "FULL_SHARD" ? 3 : 2;
  const bool again = to_lower(cells.text("activation_checkpointing")) == "true";
  row.layout.recompute = again ? Recompute::kFull : Recompute::kNone;
  row.fused_attention = true;
  row.fp8 = cells.text("precision").find("fp8") != std::string_view::npos;
  row.fp32_gradients = cells.text("mp_mode") != "PURE";
  cells.set_time({"iteration_s"});
  if (!row.time) {
    cells.set_time_from_rate("tokens_per_s", row.global_batch * row.sequence);
  }
  cells.check_layout();
  return row;
}

Result<ShardedRow> lucie_row(const Csv& csv, std::size_t i) {
  ShardedRow row = started(csv, i, "lucie");
  ShardedCells cells(csv, i, row);
  read_degrees(cells, row);
  read_shape(cells, row);
  row.job = "lucie-7b";
  row.gpu = "A100-80GB-SXM";
  row.shape.vocabulary = kLucieVocabulary;
  row.shape.gated = true;
  row.shape.tied = false;
  row.layout.zero = cells.zero_stage("zero_stage", 0);
  constexpr int kUsual = 4;  // The micro-batch of most rows, where one is not stated.
  row.layout.micro_batch = cells.count("micro_batch", kUsual);
  row.network = kJeanZayNetwork;
  row.fused_attention = true;
  row.fp32_gradients = true;  // As Megatron-DeepSpeed reduces them with BF16.
  row.overlaps_gradients = false;
  cells.set_time({"iteration_s_median", "iteration_s"});
  cells.check_layout();
  return row;
}

/// Rows of the BLOOM chronicles leave out what has not changed: layers follow from the parameters.
void complete_bloom_shape(ShardedCells& cells, ShardedRow& row) {
  constexpr double kUsualHidden = 14336;
  constexpr double kUsualHeads = 64;
  const double parameters = 1e9 * cells.number("params_b");
  TableShape& shape = row.shape;
  shape.vocabulary = kBloomVocabulary;
  shape.layers = cells.blank("layers") ? 0 : cells.count("layers");
  shape.hidden = cells.number("hidden", kUsualHidden);
  if (cells.blank("hidden") && shape.layers > 0) {
    shape.hidden = std::sqrt(parameters / (12 * shape.layers));
  }
  if (shape.layers == 0) {
    const double square = 12 * shape.hidden * shape.hidden;
    shape.layers =
        std::max(1.0, std::round((parameters - kBloomVocabulary * shape.hidden) / square));
  }
  shape.heads = cells.number("heads", kUsualHeads);
}

/// Removes a time that the published TFLOP/s contradict: 8 passes over the parameters (forward
/// twice, backward) of all tokens.
void check_bloom_rate(ShardedCells& cells, ShardedRow& row) {
  constexpr double kFar = 2;
  if (!row.time || cells.blank("tflops_per_gpu")) return;
  const double stated = 1e12 * cells.number("tflops_per_gpu") * row.gpus * row.time->in(kSecond);
  const double counted = 8e9 * cells.number("params_b") * row.global_batch * row.sequence;
  const double ratio = counted / stated;
  if (ratio < kFar && ratio > 1 / kFar) return;
  row.time.reset();
  row.unmeasured = fmt::format("iteration_s and tflops_per_gpu contradict each other {:.1f} times",
                               std::max(ratio, 1 / ratio));
}

Result<ShardedRow> bloom_row(const Csv& csv, std::size_t i) {
  ShardedRow row = started(csv, i, "bloom");
  ShardedCells cells(csv, i, row);
  read_degrees(cells, row);
  complete_bloom_shape(cells, row);
  row.job = cells.text("notes").substr(0, 5);  // The date: the code changed from day to day.
  if (row.job.empty()) row.job = "no date";
  row.gpu = "A100-80GB-SXM";
  row.layout.zero = cells.zero_stage("zero_stage", 1);
  row.layout.micro_batch = cells.count("micro_batch");
  row.layout.recompute = Recompute::kFull;
  row.network = kJeanZayNetwork;
  row.fp32_gradients = true;  // As Megatron-DeepSpeed reduces them with BF16.
  row.overlaps_gradients = false;
  cells.set_time({"iteration_s"});
  check_bloom_rate(cells, row);
  if (!cells.blank("caution")) cells.reject(fmt::format("caution: {}", cells.text("caution")));
  cells.check_layout();
  return row;
}

Result<ShardedRow> nanotron_row(const Csv& csv, std::size_t i) {
  constexpr double kPeak = 989.5e12;  // That the published share is of.
  constexpr double kTiedBelow = 10;   // Billions of parameters, by its script.
  ShardedRow row = started(csv, i, "nanotron");
  ShardedCells cells(csv, i, row);
  read_degrees(cells, row);
  read_shape(cells, row);
  const double billions = cells.number("params_b");
  row.job = fmt::format("{}B", cells.text("params_b"));
  row.gpu = "H100-SXM";
  row.shape.vocabulary = cells.number("vocab", 131072);
  row.shape.gated = true;
  row.shape.tied = billions < kTiedBelow;
  row.layout.zero = cells.zero_stage("zero_stage", 0);
  row.layout.micro_batch = cells.count("micro_batch", 1);
  row.layout.sequence = row.layout.tensor > 1;
  row.network = kHopperNetwork;
  row.fused_attention = true;
  row.fp32_gradients = true;
  const double flops = 6e9 * billions * row.global_batch * row.sequence;
  cells.set_time_from_rate("mfu_percent", 100 * flops / (row.gpus * kPeak));
  cells.check_layout();
  return row;
}

}  // namespace stint
