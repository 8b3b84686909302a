#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec_fields.h"
#include "base/result.h"
#include "base/units.h"
#include "measure/sharded/named_shapes.h"
#include "plan/parallel_layout.h"

namespace stint {

/// One published training step of a transformer that is split over workers.
struct ShardedRow {
  std::string table;     // Rows whose times compare: "vtrain one node".
  std::string job;       // The model, as the table names it.
  std::string gpu;       // As the catalogue spells it.
  std::string software;  // Rows of one version of the code; empty: the table does not say.
  TableShape shape;
  double sequence = 0;
  double global_batch = 0;
  ParallelLayout layout;
  int gpus = 1;
  int gpus_per_vm = 8;                    // On average where VMs have different numbers of them.
  bool odd_placement = false;             // Odd numbers of GPUs on some of several VMs.
  std::optional<BytesPerSecond> network;  // Of one VM, one way; absent: not stated.
  std::optional<BytesPerSecond> inside;   // Of one GPU, one way; absent: the data sheet's.
  bool fused_attention = false;
  bool compiled = false;
  bool fp8 = false;
  bool tf32 = false;
  bool fp32_gradients = false;
  bool overlaps_gradients = true;
  bool offloads_update = false;
  bool adapters = false;        // LoRA: weights are frozen.
  double peak_share = 1;        // Of the data sheet's peak, where a power limit is stated.
  std::string choice;           // Rows among which a layout is chosen; empty: none.
  std::optional<Seconds> time;  // Absent: not measured.
  std::string unmeasured = {};  // Reason why the measured columns cannot be used.
  std::string unusable = {};    // Reason why nothing can be predicted for this row.
  int line = 0;                 // In its file, from 1.
};

enum class ShardedFormat {
  kVtrain,
  kFoundry,
  kLucie,
  kBloom,
  kNanotron,
  kFsdp,
  kMorphling,
  kSailor,
  kNemo,
  kDgxc,
};

std::span<const EnumName<ShardedFormat>> names_of(ShardedFormat type);

/// Reads a table of one format, one row per data row, in order. A row with a blank or unreadable
/// cell that is needed is unusable and says why; a table without the key columns is bad input.
/// Measured columns may be missing.
///
///   vtrain       (MICRO'24) iteration_s; several nodes where params_b is stated
///   llm-foundry  (MosaicML) iteration_s
///   lucie        iteration_s_median
///   bloom        iteration_s; rows with a caution are unusable
///   nanotron     6 · params · global_batch · seq / (gpus · 989.5 TFLOP/s · mfu_percent)
///   fsdp-tables  global_batch · seq / (gpus · tokens_per_s_per_gpu); a blank global_batch is
///                local_batch · fsdp
///   morphling    iteration_s; zero: it failed
///   sailor       measured_iteration_s
///   nemo         global_batch · seq / (gpus · tokens_per_s_per_gpu)
///   dgxc         step_s
Result<std::vector<ShardedRow>> read_sharded(ShardedFormat format, std::string_view text,
                                             const std::string& source);

}  // namespace stint
