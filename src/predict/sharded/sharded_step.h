#pragma once

#include <optional>
#include <span>

#include "base/result.h"
#include "base/units.h"
#include "plan/calibration.h"
#include "plan/parallel_layout.h"
#include "predict/device_model.h"
#include "predict/sharded/sharded_shape.h"

namespace stint {

/// The constants of a sharded step, fitted in their logarithms (calibrate/sharded). The values here
/// are the means of the priors, from data sheets and common practice.
struct ShardedLaw {
  // Compute.
  double product = 1.0;    // Share of the peak of large products, at a peak of 100 TFLOP/s,
  double feed = 0.18;      // and by how much a higher peak is reached less: (P/100)^−feed.
  double waves = 0.5;      // Waves of tiles that a product takes besides its own.
  double attention = 0.8;  // Rate of attention over that of 16-bit products, at the same peak,
  double attention_feed = 0.35;  // and by how much a higher peak is reached less by it.
  double unaligned = 10;     // Cost of products of heads that are no multiple of 8, not fused: they
                             // miss the tensor units.
  double score = 0.7;        // Share of the bandwidth where attention writes its scores.
  double sweep = 0.7;        // Share of the bandwidth of norms, sums and activations.
  double launch = 2e-3;      // s of a layer and micro-batch that the host takes to launch it.
  double micro_step = 1e-3;  // s of a micro-batch that the host takes besides.
  double fp8_gain = 1.5;     // Rate of FP8 products over 16-bit ones.
  // Links.
  double inside_efficiency = 0.8;   // Of the rate between accelerators of a VM, one way.
  double inside_latency = 25e-6;    // s of one collective inside a VM, per doubling of workers.
  double network_efficiency = 0.7;  // Of the line rate of a VM.
  double rings = 0.2;  // Power of the groups of workers that share it which it rises by.
  double network_latency = 40e-6;  // s of one collective between VMs, per doubling of VMs.
  double point_to_point = 1;       // Cost of a transfer between stages over that of its bytes.
  double all_to_all = 1.5;         // The same of an exchange between experts.
  double all_gather = 1;           // The same of the gathers of sharded parameters.
  // What hides behind what.
  double gradient = 1;           // Cost of the reduction of gradients over that of its bytes.
  double gradient_cover = 0.5;   // Share of the last backward pass that hides it.
  double gather_visible = 0.15;  // Share of gathers that shows even behind longer compute.
  double bubble = 1;             // Of a pipeline, over the one of its schedule.
  // Ends.
  double update = 1;            // Step of the optimizer over that of its bytes.
  double update_launch = 5e-4;  // s of a layer that the host takes to launch it.
  double host_update = 1e-9;    // s per parameter and micro-batch of gradients and updates on the
                                // host (offload).
  double fixed = 10e-3;         // s of an iteration.
};

/// A constant of the law, its prior deviation, and the unit of its value.
struct ShardedConstant {
  const char* name;
  double ShardedLaw::*member;
  double deviation;  // Of the logarithm.
  const char* unit;
};

/// The scope of the constants in a calibration.
inline constexpr const char* kShardedScope = "sharded";

/// The constant that says how far measured iterations are from the law, as the deviation of a
/// logarithm; see calibrate/sharded/unseen_tables.h.
inline constexpr const char* kShardedSpread = "spread";

std::span<const ShardedConstant> sharded_constants();

/// The law of a calibration; bad input when a constant is missing or not above zero.
Result<ShardedLaw> sharded_law(const Calibration& calibration);

/// The accelerators of a cluster and what connects them.
struct ShardedMachines {
  DeviceFigures device;    // At 16 bits, or at the precision of the training.
  bool fp8 = false;        // Products in FP8; the device is at 16 bits.
  int workers_per_vm = 8;  // On average where VMs have different numbers of them.
  BytesPerSecond inside;   // Between accelerators of a VM, one way, of one of them.
  BytesPerSecond network;  // Of a VM, one way; unused with one VM.
  BytesPerSecond host = 25 * kGB / kSecond;  // Between an accelerator and the host's memory.
};

/// A training step of a transformer that is split over workers.
struct ShardedSetup {
  ShardedShape shape;
  double sequence = 1;               // Tokens of a sample.
  bool fused_attention = true;       // Scores are never written to memory.
  bool compiled = false;             // A compiler fuses sweeps.
  double trained = 1;                // Share of the parameters that has gradients.
  bool frozen_products = false;      // Weights are frozen (LoRA): the backward pass of a product
                                     // computes gradients of inputs only.
  Bytes value = 2 * kByte;           // Of a number that is computed with.
  Bytes gradient_value = 2 * kByte;  // Of a gradient that is reduced.
  bool overlaps_gradients = true;    // Gradients leave during the last backward pass.
  bool offloads_update = false;      // Optimizer state is in the host's memory.
  double global_batch = 1;           // Samples of an iteration.
  ParallelLayout layout;
  ShardedMachines machines;
};

/// One iteration taken apart, as the worker of the last stage sees it.
struct ShardedParts {
  Seconds forward;         // Of all micro-batches.
  Seconds backward;        // With what is computed again.
  Seconds tensor;          // Collectives of tensor and context parallelism and of experts.
  Seconds gathers;         // Exposed gathers and scatters of sharded parameters.
  Seconds point_to_point;  // Transfers between stages.
  Seconds bubble;          // Waiting for other stages.
  Seconds gradients;       // Exposed reduction of gradients.
  Seconds update;
  Seconds host;  // Launches that compute does not hide, and what an iteration costs.

  Seconds total() const;
};

/// Seconds of one stage for one micro-batch, for the closed form and the event-driven simulator.
struct StageTimes {
  Seconds forward;  // Of the layers of a stage, collectives included.
  Seconds backward;
  Seconds head;      // What the last stage adds, forward and backward.
  Seconds transfer;  // Of activations to the next stage, one way.
};

StageTimes stage_times(const ShardedSetup& setup, const ShardedLaw& law);

/// The iteration in closed form.
///
///   T = M (stage + head + transfer) + bubble (p − 1)/v (stage + transfer)
///       + exposed gradients + update + fixed,   M = G/(d m)
///
/// A pipeline of p stages runs 1F1B (Narayanan et al. 2021): every micro-batch passes the slowest
/// stage, which is the last with the head, and the others fill and drain once; v virtual stages
/// divide that by v. A stage has L/p layers, each of
///
///   ((compute⁴ + launch⁴)^¼ with gathers behind it) + tensor collectives
///
/// with operators as layer_operators counts them, divided by the tensor degree, products of
/// (A + w S 2·128² k)/R and their bytes as a soft maximum, 2 all-reduces forward and 2 backward (2
/// more where all is computed again) of tokens · hidden · value bytes. ZeRO-3 gathers the layer
/// forward and backward and scatters its gradients once a micro-batch, one layer ahead. Gradients
/// of P parameters are reduced over d replicas, all groups of a VM through its NIC, and hide behind
/// `gradient_cover` of the last backward pass if they overlap it.
///
/// Requires a layout without a problem().
ShardedParts sharded_step(const ShardedSetup& setup, const ShardedLaw& law);

/// Arithmetic of the products and of attention of one step, forward and backward, nothing computed
/// again: what utilisation is counted by.
Flops model_flops(const ShardedSetup& setup);

/// What that takes where every worker runs at its peak: no measured step is shorter.
Seconds step_at_peak(const ShardedSetup& setup);

}  // namespace stint
