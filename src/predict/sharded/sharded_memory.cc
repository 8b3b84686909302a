#include "predict/sharded/sharded_memory.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/check.h"
#include "base/normal.h"

namespace stint {
namespace {

constexpr double kLogitBytes = 10;
constexpr double kGatheredLayers = 2;  // The one in use, and the one ahead.
constexpr const char* kSpread = "spread";

/// Numbers that one layer keeps for the backward pass of a token, on one worker.
struct KeptValues {
  double input;      // Of the layer: what is kept in any case.
  double selective;  // With selective recomputation.
  double all;        // Without recomputation, but for scores.
  double scores;     // Of attention where it is not fused, with all the others.
};

KeptValues kept_values(const ShardedSetup& setup) {
  const ShardedShape& size = setup.shape;
  const double tensor = setup.layout.tensor;
  const double input = size.hidden / (setup.layout.sequence ? tensor : 1);
  const double wide = size.wide * size.experts_used;
  // Inputs of two norms and of the products behind them, and a sum between them.
  const double whole = 5 * input;
  const double parts =
      size.attentions * (2 * size.query + 2 * size.kv) + (size.gates > 1 ? 4 : 2) * wide;
  const double products =
      size.attentions * (size.query + 2 * size.kv + size.hidden) + size.hidden + size.gates * wide;
  KeptValues kept{.input = input, .selective = 0, .all = whole + parts / tensor, .scores = 0};
  if (setup.fused_attention) {
    kept.selective = input + (size.attentions * size.query + products / 2) / tensor;
  } else {
    kept.selective = kept.all;
    kept.scores = size.attentions * size.heads * size.tokens(setup.sequence) / tensor;
  }
  return kept;
}

/// Of a token on one worker, all micro-batches in flight together.
double activation_values(const ShardedSetup& setup, const ShardedStage& stage) {
  const KeptValues kept = kept_values(setup);
  const double often = stage.in_flight * stage.layers;
  switch (setup.layout.recompute) {
    case Recompute::kNone:
      return often * (kept.all + kept.scores);
    case Recompute::kSelective:
      return often * kept.selective + (setup.fused_attention ? kept.all : kept.scores);
    case Recompute::kFull:
      return often * kept.input + kept.all + kept.scores;
  }
  CHECK(false);
}

/// Parameters that ZeRO-3 has whole for a moment.
Bytes gathered_bytes(const ShardedSetup& setup, const ShardedStates& states) {
  const ShardedShape& size = setup.shape;
  const double ends = std::max(size.embedding_parameters, size.end_parameters);
  const Bytes computed = (kGatheredLayers * size.layer_parameters + ends) * setup.value;
  const Bytes gradients = (size.layer_parameters + ends) * setup.trained * states.gradient;
  return (computed + gradients) / setup.layout.tensor;
}

double shards_of(const ShardedSetup& setup) {
  const ParallelLayout& layout = setup.layout;
  const double all = static_cast<double>(layout.data) * layout.context;
  return layout.hybrid ? std::min<double>(all, setup.machines.workers_per_vm) : all;
}

}  // namespace

std::span<const ShardedMemoryConstant> sharded_memory_constants() {
  static constexpr ShardedMemoryConstant kConstants[] = {
      {"activations", &ShardedMemoryLaw::activations, 0.3, "1"},
      {"logits", &ShardedMemoryLaw::logits, 0.3, "1"},
      {"overhead", &ShardedMemoryLaw::overhead, 0.6, "byte"},
      {"peers", &ShardedMemoryLaw::peers, 0.7, "1"},
      {"reserved", &ShardedMemoryLaw::reserved, 0.05, "1"},
  };
  return kConstants;
}

Result<ShardedMemoryLaw> sharded_memory_law(const Calibration& calibration) {
  ShardedMemoryLaw law;
  const auto read = [&](const char* name, double& value) {
    for (const Constant& it : calibration.constants) {
      if (it.scope != kShardedMemoryScope || it.name != name || !(it.value > 0)) continue;
      value = it.value;
      return true;
    }
    return false;
  };
  const auto missing = [&](const char* name) {
    return bad_input(fmt::format("the calibration {} has no constant {} of {} above zero",
                                 calibration.name, name, kShardedMemoryScope));
  };
  for (const ShardedMemoryConstant& constant : sharded_memory_constants()) {
    if (!read(constant.name, law.*constant.member)) return missing(constant.name);
  }
  if (!read(kSpread, law.spread)) return missing(kSpread);
  return law;
}

Bytes ShardedMemory::states() const { return parameters + gradients + optimizer; }

Bytes ShardedMemory::allocated() const { return states() + activations + gathered + logits; }

Bytes ShardedMemory::reserved_peak() const { return allocated() + reserved; }

Bytes ShardedMemory::total() const { return reserved_peak() + overhead; }

ShardedMemory stage_memory(const ShardedSetup& setup, const ShardedStage& stage,
                           const ShardedStates& states, const ShardedMemoryLaw& law) {
  const ParallelLayout& layout = setup.layout;
  const ShardedShape& size = setup.shape;
  const double shards = shards_of(setup);
  const double parameters =
      size.stage_parameters(layout, stage.layers, {.first = stage.first, .last = stage.last});
  const double trained = parameters * setup.trained;
  ShardedMemory need;
  need.parameters = parameters / (layout.zero >= 3 ? shards : 1) * states.parameter;
  need.gradients = trained / (layout.zero >= 2 ? shards : 1) * states.gradient;
  need.optimizer = setup.offloads_update
                       ? Bytes{}
                       : trained / (layout.zero >= 1 ? shards : 1) * states.optimizer;
  const double tokens =
      layout.micro_batch * size.tokens(setup.sequence) / static_cast<double>(layout.context);
  need.activations = law.activations * tokens * activation_values(setup, stage) * setup.value;
  if (layout.zero >= 3 && shards > 1) need.gathered = gathered_bytes(setup, states);
  if (stage.last) {
    need.logits = law.logits * tokens * size.vocabulary / layout.tensor * kLogitBytes * kByte;
  }
  need.overhead = law.overhead * (1 + law.peers * (layout.tensor - 1)) * kByte;
  need.reserved = (law.reserved - 1) * need.allocated();
  return need;
}

ShardedMemory sharded_memory(const ShardedSetup& setup, const ShardedStates& states,
                             const ShardedMemoryLaw& law) {
  const ParallelLayout& layout = setup.layout;
  const double pipeline = layout.pipeline;
  const double micro_batches =
      std::max(1.0, setup.global_batch / (static_cast<double>(layout.data) * layout.micro_batch));
  // A quotient of whole numbers that was rounded must not become one layer more.
  constexpr double kRounding = 1e-9;
  ShardedStage stage{.layers = std::ceil(setup.shape.layers / pipeline - kRounding),
                     .in_flight = std::min(micro_batches, pipeline),
                     .first = true,
                     .last = layout.pipeline == 1};
  if (layout.virtual_stages > 1) {
    stage.in_flight *= 1 + (pipeline - 1) / (pipeline * layout.virtual_stages);
  }
  const ShardedMemory first = stage_memory(setup, stage, states, law);
  if (stage.last) return first;
  stage.first = false;
  stage.last = true;
  stage.in_flight = 1;
  const ShardedMemory last = stage_memory(setup, stage, states, law);
  return last.total() > first.total() ? last : first;
}

double p_fits(const ShardedMemory& need, Bytes memory, const ShardedMemoryLaw& law) {
  CHECK(law.spread > 0);
  return normal_distribution(std::log(memory / need.total()) / law.spread);
}

Bytes peak_quantile(const ShardedMemory& need, double share, const ShardedMemoryLaw& law) {
  return std::exp(law.spread * normal_quantile(share)) * need.total();
}

}  // namespace stint
