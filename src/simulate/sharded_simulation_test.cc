#include "simulate/sharded_simulation.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

/// A headless model of 16 layers on machines whose links are next to free.
ShardedSetup setup_of(const ParallelLayout& layout, double global_batch) {
  ModelShape shape{.layers = 16, .hidden = 1024, .heads = 16, .feed_forward = 4096};
  shape.headless = true;
  shape.positions = 2048;
  ShardedSetup setup;
  setup.shape = ShardedShape(shape);
  setup.sequence = 1024;
  setup.global_batch = global_batch;
  setup.layout = layout;
  setup.machines.device.peak = 100 * kTeraflop / kSecond;
  setup.machines.device.bandwidth = 1 * kTB / kSecond;
  setup.machines.inside = 1e5 * kGB / kSecond;
  setup.machines.network = 1e5 * kGB / kSecond;
  return setup;
}

ShardedLaw quick_links() {
  ShardedLaw law;
  law.inside_latency = 1e-9;
  law.network_latency = 1e-9;
  return law;
}

ParallelLayout random_layout(Random& random) {
  ParallelLayout layout{.data = 1 << random.below(3),
                        .tensor = 1 << random.below(3),
                        .pipeline = 1 << random.below(4)};
  layout.micro_batch = 1 << random.below(3);
  layout.zero = layout.data > 1 ? random.below(4) : 0;
  layout.recompute = static_cast<Recompute>(random.below(3));
  if (layout.pipeline > 1 && random.below(2) == 0) layout.virtual_stages = 16 / layout.pipeline;
  if (layout.virtual_stages > 1 && random.below(2) == 0) layout.virtual_stages = 2;
  return layout;
}

TEST(ShardedSimulation, AgreesWithTheClosedFormWhereStagesAreEqual) {
  Random random(25);
  const ShardedLaw law = quick_links();
  for (int i = 0; i < 300; ++i) {
    const ParallelLayout layout = random_layout(random);
    // Micro-batches in rounds of the stages.
    const int rounds = layout.pipeline * (1 + random.below(6));
    const ShardedSetup setup =
        setup_of(layout, static_cast<double>(rounds) * layout.data * layout.micro_batch);
    const Seconds closed = sharded_step(setup, law).total();
    const Seconds played = simulate_sharded(setup, law).total();
    EXPECT_NEAR(played / closed, 1, 0.01) << to_text(layout) << ", rounds " << rounds;
  }
}

// 4 stages and 8 micro-batches: 3 of 11 slots of a stage are idle.
TEST(ShardedSimulation, HasTheBubbleOfItsSchedule) {
  const ShardedSetup setup = setup_of({.pipeline = 4}, 8);
  const ShardedPlay play = simulate_sharded(setup, quick_links());
  EXPECT_NEAR(play.idle(), 3.0 / 11, 1e-3);
  EXPECT_EQ(play.busy.size(), 4U);
  // Two virtual stages halve the bubble: 3 of 19.
  const ShardedSetup both = setup_of({.pipeline = 4, .virtual_stages = 2}, 8);
  EXPECT_NEAR(simulate_sharded(both, quick_links()).idle(), 1.5 / 9.5, 1e-3);
}

TEST(ShardedSimulation, FewMicroBatchesLeaveMostStagesIdle) {
  const ShardedPlay play = simulate_sharded(setup_of({.pipeline = 8}, 1), quick_links());
  EXPECT_NEAR(play.idle(), 7.0 / 8, 1e-3);
}

// Only the last stage has the head: what the closed form takes all to wait for is a little more.
TEST(ShardedSimulation, UnequalStagesTakeNoLongerThanTheSlowest) {
  Random random(7);
  const ShardedLaw law = quick_links();
  for (int i = 0; i < 100; ++i) {
    const ParallelLayout layout = random_layout(random);
    const int rounds = layout.pipeline * (1 + random.below(6));
    ShardedSetup setup =
        setup_of(layout, static_cast<double>(rounds) * layout.data * layout.micro_batch);
    setup.shape.vocabulary = 32000;
    const Seconds closed = sharded_step(setup, law).total();
    const Seconds played = simulate_sharded(setup, law).total();
    EXPECT_GT(played / closed, 0.8) << to_text(layout);
    EXPECT_LT(played / closed, 1.2) << to_text(layout);
  }
}

}  // namespace
}  // namespace stint
