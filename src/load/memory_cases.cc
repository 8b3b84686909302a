#include "load/memory_cases.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "catalog/gpu_spelling.h"
#include "load/model_files.h"

namespace stint {
namespace {

// BLOOM's final vocabulary and width (huggingface.co/bigscience/bloom), and GPT-2's padded
// vocabulary, which Megatron's earlier runs had.
constexpr std::int64_t kBloomVocabulary = 250880;
constexpr std::int64_t kEarlyVocabulary = 50304;
constexpr std::int64_t kBloomHidden = 14336;
constexpr std::int64_t kBloomHeads = 64;
// Parameters that are further off than this are not those of the row.
constexpr double kParametersOff = 0.1;

/// A model of Sailor's, as its table of layer sizes counts it: all have sequences of 2048 but
/// Llama.
struct SailorModel {
  const char* name;
  ModelShape shape;
};

std::vector<SailorModel> sailor_models() {
  const auto plain = [](std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
    ModelShape shape{.layers = layers,
                     .hidden = hidden,
                     .heads = heads,
                     .feed_forward = 4 * hidden,
                     .vocabulary = 50272,
                     .positions = 2048};
    shape.tied = true;
    return shape;
  };
  return {{"OPT-350", plain(24, 1024, 16)},
          {"GPT-Neo-2.7", plain(32, 2560, 20)},
          {"OPT-30", plain(48, 7168, 56)}};
}

/// BLOOM's shape of `layers` and `vocabulary`.
ModelShape bloom_shape(const MemoryLayoutRow& row, std::int64_t layers, std::int64_t vocabulary) {
  ModelShape shape{.layers = layers,
                   .hidden = row.model.hidden.value_or(kBloomHidden),
                   .heads = row.model.heads.value_or(kBloomHeads),
                   .vocabulary = vocabulary,
                   .positions = static_cast<std::int64_t>(row.sequence)};
  shape.feed_forward = 4 * shape.hidden;
  shape.tied = true;
  return shape;
}

ModelShape bloom_model(const MemoryLayoutRow& row) {
  const double stated = row.model.parameters.value_or(0);
  const std::int64_t stages = row.layout.pipeline;
  std::optional<ModelShape> best;
  const auto miss = [&](const ModelShape& shape) {
    return std::abs(parameters(shape).total - stated);
  };
  for (const std::int64_t vocabulary : {kBloomVocabulary, kEarlyVocabulary}) {
    ModelShape shape = bloom_shape(row, row.model.layers.value_or(stages), vocabulary);
    if (!row.model.layers) {
      const ParameterCount count = parameters(shape);
      const double layers = (stated - count.embeddings - count.ends) / count.layer;
      const double rounded = std::max(1.0, std::round(layers / static_cast<double>(stages)));
      shape.layers = stages * static_cast<std::int64_t>(rounded);
    }
    if (!best || miss(shape) < miss(*best)) best = shape;
  }
  if (miss(*best) > kParametersOff * stated) best->vocabulary = kBloomVocabulary;
  return *best;
}

ModelShape nanotron_model(const MemoryLayoutRow& row) {
  ModelShape shape{.layers = row.model.layers.value_or(1),
                   .hidden = row.model.hidden.value_or(1),
                   .heads = row.model.heads.value_or(1),
                   .feed_forward = row.model.feed_forward.value_or(1),
                   .vocabulary = row.model.vocabulary.value_or(1),
                   .positions = static_cast<std::int64_t>(row.sequence)};
  shape.gated = true;
  ModelShape tied = shape;
  tied.tied = true;
  const double stated = row.model.parameters.value_or(0);
  const auto miss = [&](const ModelShape& it) { return std::abs(parameters(it).total - stated); };
  return miss(tied) < miss(shape) ? tied : shape;
}

Result<ModelShape> named_model(const MemoryLayoutRow& row) {
  if (row.format == MemoryFormat::kSailor) {
    for (const SailorModel& it : sailor_models()) {
      if (row.model.name == it.name) return it.shape;
    }
  }
  const auto model = find_model(known_models(), row.model.name);
  if (!model.ok()) return model.error();
  if (!(*model)->shape) {
    return bad_input(fmt::format("{} is not a transformer", printable(row.model.name)));
  }
  return *(*model)->shape;
}

Result<ModelShape> shape_of(const MemoryLayoutRow& row) {
  switch (row.format) {
    case MemoryFormat::kBloom:
      return bloom_model(row);
    case MemoryFormat::kNanotron:
      return nanotron_model(row);
    case MemoryFormat::kFsdpTables:
    case MemoryFormat::kSailor:
      return named_model(row);
  }
  CHECK(false);
}

/// How the software of the row holds its states and computes.
void set_habits(const MemoryLayoutRow& row, ShardedMemoryCase& it) {
  switch (row.format) {
    case MemoryFormat::kBloom:
      it.setup.fused_attention = false;
      return;
    case MemoryFormat::kNanotron:
      it.states.gradient = 6 * kByte;
      return;
    case MemoryFormat::kFsdpTables:
      it.states = kFullPrecisionStates;
      return;
    case MemoryFormat::kSailor:
      if (row.devices.front().starts_with("GH")) {
        it.setup.fused_attention = false;
        it.setup.value = 4 * kByte;
        it.states = kFullPrecisionStates;
      }
      return;
  }
  CHECK(false);
}

/// Sailor's stages, which count embeddings as layer 0; a problem when the last does not end with
/// the model.
std::string set_stages(const MemoryLayoutRow& row, const ModelShape& shape, ShardedMemoryCase& it) {
  const auto count = static_cast<double>(row.stages.size());
  const double micro_batches = std::max(
      1.0, row.global_batch / (static_cast<double>(row.layout.data) * row.layout.micro_batch));
  const int layers = static_cast<int>(shape.layers);
  if (!row.stages.empty() && row.stages.back().last <= layers) {
    return fmt::format("its stages end with layer {}, before the last layers of {}",
                       row.stages.back().last, printable(row.model.name));
  }
  for (std::size_t k = 0; k < row.stages.size(); ++k) {
    const int first = std::max(row.stages[k].first, 1);
    const int last = std::min(row.stages[k].last, layers);
    it.stages.push_back({.layers = static_cast<double>(std::max(0, last - first + 1)),
                         .in_flight = std::min(micro_batches, count - static_cast<double>(k)),
                         .first = k == 0,
                         .last = k + 1 == row.stages.size()});
  }
  return {};
}

std::string name_of(const MemoryLayoutRow& row) {
  if (!row.model.name.empty()) return row.model.name;
  return fmt::format("{:g}B", row.model.parameters.value_or(0) / 1e9);
}

/// The memory that the device's name states, else the catalogue's.
std::optional<Bytes> room_of(const MemoryLayoutRow& row, const Catalog& catalog) {
  std::optional<Bytes> least;
  for (const std::string& device : row.devices) {
    std::optional<Bytes> memory;
    if (const auto stated = read_gpu_spelling(device).memory_gb) memory = *stated * kGiB;
    if (device.starts_with("GH-")) memory = parse_double(device.substr(3)).value_or(96) * kGiB;
    if (!memory) {
      const Gpu* gpu = find_spelled_gpu(catalog, device);
      if (gpu != nullptr) memory = gpu->memory;
    }
    if (memory) least = std::min(least.value_or(*memory), *memory);
  }
  return least;
}

}  // namespace

LoadedMemoryCase memory_case(const MemoryLayoutRow& row, const Catalog& catalog) {
  LoadedMemoryCase it{.row = row, .as_case = {}, .model = name_of(row), .room = {}};
  it.room = room_of(row, catalog);
  if (!it.row.problem.empty()) return it;
  const auto shape = shape_of(row);
  if (!shape.ok()) {
    it.row.problem = shape.error().message;
    return it;
  }
  it.as_case.software = row.software;
  it.as_case.setup.shape = ShardedShape(*shape);
  it.as_case.setup.sequence =
      row.sequence > 0 ? row.sequence : static_cast<double>(shape->positions);
  it.as_case.setup.global_batch = row.global_batch;
  it.as_case.setup.layout = row.layout;
  it.as_case.setup.machines.workers_per_vm = row.workers_per_vm;
  set_habits(row, it.as_case);
  it.row.problem = set_stages(row, *shape, it.as_case);
  if (row.memory) it.as_case.peak = *row.memory * row.unit;
  return it;
}

Result<std::vector<LoadedMemoryCase>> load_memory_cases(const std::string& file,
                                                        MemoryFormat format,
                                                        const Catalog& catalog) {
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  const auto rows = read_memory_layouts(*text, file, format);
  if (!rows.ok()) return rows.error();
  std::vector<LoadedMemoryCase> cases;
  for (const MemoryLayoutRow& row : *rows) cases.push_back(memory_case(row, catalog));
  return cases;
}

Result<std::vector<LoadedMemoryCase>> load_named_memory_cases(const std::string& text,
                                                              const char* option,
                                                              const Catalog& catalog) {
  const std::size_t equals = text.find('=');
  for (const auto& [format, name] : names_of(MemoryFormat{})) {
    if (equals == std::string::npos || text.substr(0, equals) != name) continue;
    return load_memory_cases(text.substr(equals + 1), format, catalog);
  }
  return bad_usage(
      fmt::format("{} must be FORMAT=FILE with bloom, nanotron, fsdp-tables or sailor "
                  "as the format, not '{}'",
                  option, printable(text)));
}

}  // namespace stint
