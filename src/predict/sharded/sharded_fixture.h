#pragma once

#include "base/random.h"
#include "predict/sharded/layout_choices.h"

namespace stint {

/// A small transformer, made at random, of which some layouts fit on the cluster of small_cluster
/// and others do not.
inline ShardedModel small_model(Random& random) {
  constexpr std::int64_t kLayers[] = {2, 3, 4, 6, 8, 12};
  constexpr std::int64_t kHeads[] = {2, 4, 6, 8};
  ModelShape shape{.layers = kLayers[random.below(6)], .heads = kHeads[random.below(4)]};
  shape.hidden = 64 * shape.heads;
  shape.feed_forward = 4 * shape.hidden;
  shape.vocabulary = 1000 * (1 + random.below(8));
  shape.positions = 2048;
  shape.gated = random.below(2) == 0;
  if (random.below(4) == 0) {
    shape.experts = 4;
    shape.experts_used = 2;
  }
  ShardedModel model{.name = "small"};
  model.setup.shape = ShardedShape(shape);
  model.setup.sequence = 128 << random.below(4);
  model.setup.fused_attention = random.below(2) == 0;
  model.bounds.layers = shape.layers;
  model.bounds.heads = shape.heads;
  model.bounds.kv_heads = shape.heads;
  model.bounds.experts = shape.experts.value_or(1);
  model.laws.memory.overhead = 1e6;  // Bytes; the model is small.
  model.laws.step.launch = 1e-5;
  return model;
}

/// Up to 4 VMs of up to 8 workers.
inline ShardedCluster small_cluster(const ShardedModel& model, Random& random) {
  ShardedCluster cluster{.vms = 1 + random.below(4)};
  constexpr int kWorkers[] = {1, 2, 4, 6, 8};
  cluster.machines.workers_per_vm = kWorkers[random.below(5)];
  cluster.machines.device.name = "small";
  cluster.machines.device.peak = (20 + random.below(80)) * kTeraflop / kSecond;
  cluster.machines.device.bandwidth = 1 * kTB / kSecond;
  cluster.machines.device.multiprocessors = 80;
  cluster.machines.inside = (10 << random.below(5)) * kGB / kSecond;
  cluster.machines.network = (1 << random.below(6)) * kGB / kSecond;
  const double states = model.parameters() * 16;
  cluster.memory = (0.1 + 2 * random.uniform()) * states * kByte;
  return cluster;
}

}  // namespace stint
