// The tables of torchtitan and fms-fsdp, Morphling, Sailor and NVIDIA, which name models.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "measure/sharded/sharded_cells.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

constexpr int kGpusPerDgx = 8;
constexpr double kLargeModel = 1e9;
constexpr BytesPerSecond kDgxNetwork = 400 * kGB / kSecond;  // 8 × 400 Gbit/s.

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The batch as a whole number; no table has a larger one.
int whole_batch(const ShardedRow& row) {
  constexpr double kMost = 1e6;
  return static_cast<int>(std::min(row.global_batch, kMost));
}

void read_named_shape(ShardedCells& cells, ShardedRow& row) {
  row.job = cells.text("model");
  if (row.job.empty()) cells.reject("model is blank");
  const auto shape = named_shape(row.job);
  if (shape) {
    row.shape = *shape;
  } else {
    cells.reject(fmt::format("the shape of {} is not known", printable(row.job)));
  }
}

/// "400 Gb/s per GPU RDMA" or "800 Gb/s per node".
std::optional<BytesPerSecond> stated_network(std::string_view text, int gpus_per_vm) {
  const auto gigabits = positive_of(text.substr(0, text.find(' ')));
  if (!gigabits || !contains(text, "Gb/s")) return std::nullopt;
  return *gigabits * (contains(text, "per GPU") ? gpus_per_vm : 1) * kGbit / kSecond;
}

Recompute recompute_of(std::string_view text) {
  const std::string plain = to_lower(text);
  if (contains(plain, "full")) return Recompute::kFull;
  return contains(plain, "selective") ? Recompute::kSelective : Recompute::kNone;
}

}  // namespace

Result<ShardedRow> fsdp_row(const Csv& csv, std::size_t i) {
  ShardedRow row{.table = "fsdp-tables"};
  row.line = csv.line(i);
  ShardedCells cells(csv, i, row);
  read_named_shape(cells, row);
  row.software = cells.text("source");
  const std::string_view gpu = cells.text("gpu");
  row.gpu = gpu.starts_with("A100")   ? "A100-80GB-SXM"
            : gpu.starts_with("H200") ? "H200-SXM"
                                      : "H100-SXM";
  constexpr double kPowerShare = 0.85;  // Of the clock that a board of 500 W keeps, of 700 W.
  if (contains(gpu, "500W")) row.peak_share = kPowerShare;
  row.gpus = cells.count("gpus");
  row.gpus_per_vm = cells.count("gpus_per_node", kGpusPerDgx);
  row.network = stated_network(cells.text("network"), row.gpus_per_vm);
  row.sequence = cells.number("seq");
  row.layout.data = cells.count("fsdp");
  row.layout.tensor = cells.count("tp", 1);
  row.layout.pipeline = cells.count("pp", 1);
  row.layout.context = cells.count("cp", 1);
  row.layout.sequence = row.layout.tensor > 1;
  row.layout.zero = 3;
  const std::string_view recompute = cells.text("activation_checkpointing");
  row.layout.hybrid = contains(recompute, "HSDP");
  row.layout.recompute = recompute_of(recompute);
  row.layout.micro_batch = cells.count("local_batch");
  row.global_batch =
      cells.number("global_batch", static_cast<double>(row.layout.micro_batch) * row.layout.data);
  row.fused_attention = true;
  row.compiled = cells.text("compile") == "yes";
  row.fp8 = contains(cells.text("precision"), "float8");
  cells.set_time_from_rate("tokens_per_s_per_gpu", row.global_batch * row.sequence / row.gpus);
  cells.check_layout();
  return row;
}

namespace {

/// The numbers of workers by VM, a digit each.
void read_placement(ShardedCells& cells, ShardedRow& row) {
  const std::string_view text = cells.text("placement");
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '1' && c <= '9'; });
  if (!digits) return cells.reject(unreadable("placement", text));
  int sum = 0;
  int least = kGpusPerDgx;
  for (const char c : text) {
    sum += c - '0';
    least = std::min(least, c - '0');
    row.odd_placement = row.odd_placement || (text.size() > 1 && (c - '0') % 2 == 1);
  }
  if (sum != row.gpus) cells.reject("the placement does not add up to the GPUs");
  row.gpus_per_vm = (sum + static_cast<int>(text.size()) / 2) / static_cast<int>(text.size());
  // Each of four NICs of 200 Gbit/s serves two GPUs; a ring has as many as its smallest VM.
  const int nics = (least + 1) / 2;
  row.network = nics * 25 * kGB / kSecond;
}

/// The plan of a data-parallel row.
void read_plan(ShardedCells& cells, ShardedRow& row) {
  const std::string_view plan = cells.text("plan");
  ParallelLayout& layout = row.layout;
  if (plan == "3d") {
    layout.data = cells.count("dp");
    layout.tensor = cells.count("tp");
    layout.pipeline = cells.count("pp");
    // The samples of a replica pass its stages at once, but for the rows that name their batch.
    const int share = whole_batch(row) / layout.data;
    layout.micro_batch = contains(row.job, "bsz") ? 1 : std::max(1, share);
    row.overlaps_gradients = false;
    return;
  }
  layout.data = row.gpus;
  // Gradients are accumulated over single samples where a model hardly fits.
  const bool large = cells.number("params", 1) > kLargeModel;
  layout.micro_batch = large ? 1 : std::max(1, whole_batch(row) / row.gpus);
  layout.zero = plan.starts_with("zero") ? 2 : 0;
  row.offloads_update = contains(plan, "offload");
  layout.recompute = contains(plan, "gc") ? Recompute::kFull : Recompute::kNone;
}

}  // namespace

Result<ShardedRow> morphling_row(const Csv& csv, std::size_t i) {
  constexpr double kPatches = 197;  // Of an image of 224 × 224, and one more.
  ShardedRow row{.table = "morphling"};
  row.line = csv.line(i);
  ShardedCells cells(csv, i, row);
  read_named_shape(cells, row);
  row.gpu = "A100-80GB-SXM";  // An A800 is one with a slower link.
  row.inside = 200 * kGB / kSecond;
  row.tf32 = true;
  row.fp32_gradients = true;
  row.gpus = cells.count("gpus");
  row.global_batch = cells.number("global_batch");
  row.sequence = cells.number("seq", kPatches);
  read_placement(cells, row);
  read_plan(cells, row);
  row.choice = fmt::format("{}, {}, batch {}", row.job, cells.text("placement"), row.global_batch);
  if (cells.text("iteration_s") == "0") {
    row.unmeasured = "the training failed";
  } else {
    cells.set_time({"iteration_s"});
  }
  cells.check_layout();
  return row;
}

namespace {

/// "GH-96x4:tp4 & GH-96x4:tp4 | …": the slowest GPU and the tensor degree of the first replica.
void read_replicas(ShardedCells& cells, ShardedRow& row) {
  const std::string_view text = cells.text("stage_replicas");
  struct Spelling {
    std::string_view word;
    const char* gpu;
    BytesPerSecond inside;
  };
  // In the order of their speed.
  static const Spelling kSpellings[] = {{"RTX-2080", "RTX2080Ti", 12 * kGB / kSecond},
                                        {"Titan", "Titan-RTX", 12 * kGB / kSecond},
                                        {"RTX-3090", "RTX3090", 12 * kGB / kSecond},
                                        {"V100", "V100-SXM2", 150 * kGB / kSecond},
                                        {"A100-40", "A100-40GB-SXM", 300 * kGB / kSecond},
                                        {"A100", "A100-80GB-SXM", 300 * kGB / kSecond},
                                        {"GH", "GH200-96GB", 450 * kGB / kSecond}};
  const auto* found = std::find_if(std::begin(kSpellings), std::end(kSpellings),
                                   [&](const Spelling& it) { return contains(text, it.word); });
  if (found == std::end(kSpellings)) return cells.reject(unreadable("stage_replicas", text));
  row.gpu = found->gpu;
  row.inside = found->inside;
  const std::size_t degree = text.find(":tp");
  const auto tensor =
      degree == std::string_view::npos
          ? std::nullopt
          : count_of(text.substr(degree + 3, text.find_first_of(" &|", degree) - degree - 3));
  if (!tensor) return cells.reject(unreadable("stage_replicas", text));
  row.layout.tensor = *tensor;
}

}  // namespace

Result<ShardedRow> sailor_row(const Csv& csv, std::size_t i) {
  ShardedRow row{.table = "sailor"};
  row.line = csv.line(i);
  ShardedCells cells(csv, i, row);
  read_named_shape(cells, row);
  row.software = cells.text("cluster");
  row.gpus = cells.count("gpus");
  row.gpus_per_vm = std::max(1, row.gpus / cells.count("nodes"));
  row.sequence = 2048;  // By the sizes of its layers.
  row.global_batch = cells.number("global_batch");
  row.layout.data = cells.count("data_parallel");
  row.layout.pipeline = cells.count("pipeline_stages");
  row.layout.micro_batch = cells.count("microbatch");
  read_replicas(cells, row);
  // Slingshot of Alps, 4 × 200 Gbit/s; 10 Gbit/s of a laboratory.
  row.network = (row.gpu == "GH200-96GB" ? 100 : 1.25) * kGB / kSecond;
  row.overlaps_gradients = false;
  cells.set_time({"measured_iteration_s"});
  cells.check_layout();
  return row;
}

namespace {

/// What the tables of NVIDIA have in common.
void read_nvidia_layout(ShardedCells& cells, ShardedRow& row) {
  row.gpus = cells.count("gpus");
  row.gpus_per_vm = kGpusPerDgx;
  row.network = kDgxNetwork;
  row.sequence = cells.number("seq");
  row.global_batch = cells.number("global_batch");
  ParallelLayout& layout = row.layout;
  layout.tensor = cells.count("tp", 1);
  layout.pipeline = cells.count("pp", 1);
  layout.context = cells.count("cp", 1);
  layout.virtual_stages = cells.count("vp", 1);
  layout.expert = cells.count("ep", 1);
  layout.micro_batch = cells.count("micro_batch", 1);
  layout.sequence = layout.tensor > 1;
  const double parts = static_cast<double>(layout.tensor) * layout.pipeline * layout.context;
  const double data = row.gpus / parts;
  if (data < 1 || data != std::floor(data)) {
    cells.reject(fmt::format("{} parts of the model on {} GPUs", parts, row.gpus));
  }
  layout.data = std::max(1, static_cast<int>(data));
  layout.zero = 1;
  row.fused_attention = true;
  row.adapters = contains(to_lower(row.job), "lora");
}

}  // namespace

Result<ShardedRow> nemo_row(const Csv& csv, std::size_t i) {
  ShardedRow row{.table = "nemo"};
  row.line = csv.line(i);
  ShardedCells cells(csv, i, row);
  read_named_shape(cells, row);
  read_nvidia_layout(cells, row);
  const std::string_view system = cells.text("system");
  row.gpu = contains(system, "B200")   ? "B200-SXM"
            : contains(system, "H200") ? "H200-SXM"
                                       : "H100-SXM";
  row.software = cells.text("source");
  row.fp8 = cells.text("precision") != "BF16";
  if (!cells.blank("fsdp") && cells.text("fsdp") != "0") row.layout.zero = 3;
  const std::string task = to_lower(cells.text("task"));
  row.adapters = row.adapters || contains(task, "lora");
  if (row.adapters) row.job += " LoRA";
  cells.set_time_from_rate("tokens_per_s_per_gpu", row.global_batch * row.sequence / row.gpus);
  cells.check_layout();
  return row;
}

Result<ShardedRow> dgxc_sharded_row(const Csv& csv, std::size_t i) {
  ShardedRow row{.table = "dgxc"};
  row.line = csv.line(i);
  ShardedCells cells(csv, i, row);
  read_named_shape(cells, row);
  read_nvidia_layout(cells, row);
  row.gpu = cells.text("gpu") == "H100" ? "H100-SXM" : std::string(cells.text("gpu"));
  row.software = cells.text("readme").substr(0, cells.text("readme").find('/'));
  row.fp8 = cells.text("precision") == "FP8";
  row.job = fmt::format("{} {}", row.job, cells.text("precision"));
  if (!cells.blank("layers")) row.shape.layers = cells.count("layers");
  if (!cells.blank("fsdp")) row.layout.zero = 3;
  if (cells.blank("tp") && cells.blank("fsdp")) cells.reject("the layout is not stated");
  cells.set_time({"step_s"});
  cells.check_layout();
  return row;
}

}  // namespace stint
