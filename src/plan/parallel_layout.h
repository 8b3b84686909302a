#pragma once

#include <string>
#include <string_view>

#include "base/codec.h"
#include "base/result.h"
#include "job/work.h"

namespace stint {

/// How one model is split over the workers of a cluster. A worker has a place on each axis: its
/// tensor rank changes fastest, then context, data and pipeline, so that tensor parallelism stays
/// inside a VM as long as the VM has room.
///
/// The text form has a word for each choice that is not the default, in any order:
/// "dp16 tp4 pp2 zero1 mb2 recompute:full".
struct ParallelLayout {
  int data = 1;            // dp: replicas, or shards of one (ZeRO).
  int tensor = 1;          // tp: parts of each layer.
  int pipeline = 1;        // pp: stages of layers.
  int virtual_stages = 1;  // vp: parts of a stage that take turns (interleaved 1F1B).
  int context = 1;         // cp: parts of the sequence.
  int expert = 1;          // ep: groups of experts, over workers of the data axis.
  bool sequence = false;   // sp: norms and sums are split along the sequence (with tensor).
  int zero = 0;            // Stage of ZeRO, 0 to 3; 3 is full sharding (FSDP).
  bool hybrid = false;     // hsdp: shards stay within a VM, replicas are between VMs.
  int micro_batch = 1;     // mb: samples that a pipeline works on at once.
  Recompute recompute = Recompute::kNone;

  bool operator==(const ParallelLayout&) const = default;
};

/// Largest degree of an axis.
inline constexpr int kDegreeMax = 1 << 20;

/// Workers of the layout: data × tensor × pipeline × context.
std::int64_t workers(const ParallelLayout& layout);

/// Usage errors quote the wrong word.
Result<ParallelLayout> parse_parallel_layout(std::string_view text);
std::string to_text(const ParallelLayout& layout);

/// The numbers that a layout must agree with.
struct LayoutBounds {
  std::int64_t workers = 1;
  std::int64_t layers = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t experts = 1;
  std::int64_t global_batch = 0;  // Zero: not known.
};

/// Why the layout cannot be, in one sentence for the user; empty when it can: its degrees multiply
/// to the workers, the stages divide the layers, the tensor degree divides the heads, and the data
/// degree and the micro-batch divide the global batch.
std::string problem(const ParallelLayout& layout, const LayoutBounds& bounds);

}  // namespace stint
