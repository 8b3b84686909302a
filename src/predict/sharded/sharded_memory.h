#pragma once

#include <span>

#include "base/result.h"
#include "base/units.h"
#include "plan/calibration.h"
#include "predict/sharded/sharded_step.h"

namespace stint {

/// The constants of the memory of a worker, fitted in their logarithms
/// (calibrate/sharded_memory_fit.h). The values here are the means of the priors.
struct ShardedMemoryLaw {
  double activations = 1;  // Over what is counted.
  double logits = 1;       // Over 10 bytes each: 16 bits, FP32 and its gradient.
  double overhead = 2e9;   // Bytes of context, libraries and buffers of collectives,
  double peers = 0.15;     // and what each further worker of a tensor group adds, over the same.
  double reserved = 1.08;  // Peak that PyTorch reserves over the peak that it allocates.
  double spread = 0.2;     // Deviation of the logarithm of a peak of unknown software.
};

/// A constant of the law, the deviation of its logarithm before any data, and the unit.
struct ShardedMemoryConstant {
  const char* name;
  double ShardedMemoryLaw::*member;
  double deviation;
  const char* unit;
};

/// The scope of the constants in a calibration.
inline constexpr const char* kShardedMemoryScope = "sharded memory";

/// All but the spread, which is not fitted with them.
std::span<const ShardedMemoryConstant> sharded_memory_constants();

/// The law of a calibration; bad input when a constant is missing or not above zero.
Result<ShardedMemoryLaw> sharded_memory_law(const Calibration& calibration);

/// How the states of a training are held.
struct ShardedStates {
  Bytes parameter = 2 * kByte;   // Of one parameter,
  Bytes gradient = 2 * kByte;    // its gradient,
  Bytes optimizer = 12 * kByte;  // and its optimizer: FP32 master weights and two moments.
};

/// FP32 parameters that are cast when they are gathered, as FSDP's mixed precision holds them.
inline constexpr ShardedStates kFullPrecisionStates{
    .parameter = 4 * kByte, .gradient = 4 * kByte, .optimizer = 8 * kByte};

/// What one worker keeps at its peak.
struct ShardedMemory {
  Bytes parameters;
  Bytes gradients;
  Bytes optimizer;
  Bytes activations;  // Of all micro-batches in flight.
  Bytes gathered;     // Parameters of ZeRO-3 that are gathered at once, and gradients before they
                      // are scattered.
  Bytes logits;
  Bytes overhead;  // What the driver and libraries hold, outside PyTorch's allocator.
  Bytes reserved;  // What PyTorch's allocator holds beyond what it hands out.

  Bytes states() const;         // Parameters, gradients and optimizer.
  Bytes allocated() const;      // Peak that PyTorch allocates,
  Bytes reserved_peak() const;  // peak that it reserves,
  Bytes total() const;          // and that with what is outside of it.
};

/// A stage of a pipeline as one of its workers sees it.
struct ShardedStage {
  double layers = 1;
  double in_flight = 1;  // Micro-batches whose activations it keeps.
  bool first = true;     // It has the embeddings.
  bool last = true;      // It has the head and computes the loss.
};

/// The peak of a worker of `stage`, in bytes:
///
///   parameters  N · bytes / (S from ZeRO stage 3)       N = (layers · layer + ends)/t
///   gradients   N · trained · bytes / (S from stage 2)
///   optimizer   N · trained · bytes / (S from stage 1), none where it is offloaded
///   activations a · tokens · value · kept values of a token:
///     none       flight · layers · all
///     selective  flight · layers · (all without scores) + scores of one layer; with fused
///                attention every second product and the output of attention are kept:
///                h/u + (q + (q + 2 kv + 2 h + gates · f)/2)/t
///     full       flight · layers · h/u + all of one layer
///     all        5 h/u + ((2 q + 2 kv) attentions + (2 | 4 with a gate) f · experts used)/t,
///                and heads · s/t scores where attention is not fused
///   gathered    with ZeRO-3: 2 layers at the width of computing and the gradients of one, and the
///               larger of embeddings and head with its gradients, over t
///   logits      l · 10 bytes · tokens · vocabulary/t, at the last stage
///   reserved    (r − 1) · the sum of the above
///   overhead    o (1 + peers · (t − 1))
///
/// tokens = micro-batch · sequence/c; t tensor, c context degree; u = t with sequence parallelism,
/// else 1; S = data · c shards, within a VM where sharding is hybrid (of the d workers that share a
/// part of the model all c parts of the sequence hold the same parameters). a, l, o, peers and r
/// are constants of the law. Shares of states are those of Rajbhandari et al. 2020 (ZeRO), kept
/// values those of Korthikanti et al. 2022 without dropout (with its masks and outputs scores count
/// 2.5 times), selective recomputation with fused attention that of torchtitan (Liang et al. 2024).
ShardedMemory stage_memory(const ShardedSetup& setup, const ShardedStage& stage,
                           const ShardedStates& states, const ShardedMemoryLaw& law);

/// The peak of the fullest worker: of the first stage, which keeps most micro-batches in flight, or
/// of the last, which has the logits. Stages have ⌈L/p⌉ layers. 1F1B keeps min(M, p − k)
/// micro-batches in flight at stage k (Narayanan et al. 2021), v virtual stages
/// 1 + (p − 1)/(p v) times as many at the first (Korthikanti et al. 2022).
ShardedMemory sharded_memory(const ShardedSetup& setup, const ShardedStates& states,
                             const ShardedMemoryLaw& law);

/// Probability that the peak stays within `memory`, with the log-normal spread of the law.
double p_fits(const ShardedMemory& need, Bytes memory, const ShardedMemoryLaw& law);

/// The peak that one in ten (share 0.1) or nine in ten (0.9) trainings of the setup stay below.
Bytes peak_quantile(const ShardedMemory& need, double share, const ShardedMemoryLaw& law);

}  // namespace stint
