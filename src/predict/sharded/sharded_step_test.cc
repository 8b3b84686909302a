#include "predict/sharded/sharded_step.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

/// A law without any cost but arithmetic at the peak, to be changed by a test.
ShardedLaw bare_law() {
  ShardedLaw law;
  for (const ShardedConstant& constant : sharded_constants()) law.*constant.member = 1e-30;
  law.product = 1;
  law.attention = 1;
  law.attention_feed = 1e-30;
  law.unaligned = 10;
  law.score = 1e30;
  law.sweep = 1e30;
  law.inside_efficiency = 1;
  law.network_efficiency = 1;
  law.fp8_gain = 2;
  law.point_to_point = 1;
  law.all_gather = 1;
  law.gradient = 1;
  law.gradient_cover = 1;
  law.bubble = 1;
  return law;
}

/// 100 TFLOP/s, 1 TB/s; 100 GB/s inside a VM of 8, 10 GB/s between VMs.
ShardedMachines machines() {
  ShardedMachines it;
  it.device.peak = 100 * kTeraflop / kSecond;
  it.device.bandwidth = 1 * kTB / kSecond;
  it.device.multiprocessors = 100;
  it.inside = 100 * kGB / kSecond;
  it.network = 10 * kGB / kSecond;
  return it;
}

ShardedSetup small_setup() {
  ModelShape shape{.layers = 8,
                   .hidden = 1024,
                   .heads = 16,
                   .feed_forward = 4096,
                   .vocabulary = 0,
                   .positions = 2048};
  shape.headless = true;
  ShardedSetup setup;
  setup.shape = ShardedShape(shape);
  setup.sequence = 1000;
  setup.global_batch = 8;
  setup.machines = machines();
  return setup;
}

// A layer of 12 · 1024² weights computes 2 · 1000 · 12 582 912 = 25.17 GFLOP forward for a sample
// of 1000 tokens, and causal attention 4 · ½ · 1000² · 1024 = 2.05 GFLOP. The 95 % of the peak that
// the law allows at most take 0.2649 ms and 0.0216 ms; 8 layers and 8 samples 18.33 ms forward. The
// backward pass takes twice the products and 2.5 times attention: 37.36 ms.
TEST(ShardedStep, ComputesAsCountedByHand) {
  ShardedSetup setup = small_setup();
  const ShardedParts parts = sharded_step(setup, bare_law());
  EXPECT_NEAR(parts.forward.in(kMillisecond), 18.33, 0.01);
  EXPECT_NEAR(parts.backward.in(kMillisecond), 37.36, 0.01);
  EXPECT_NEAR(parts.total().in(kMillisecond), 18.33 + 37.36, 0.02);
}

// 64 samples · layers of 25.17 + 2.05 GFLOP, forward and twice backward, are 5.226 TFLOP: 26.13 ms
// on two workers at 100 TFLOP/s.
TEST(ShardedStep, CountsTheArithmeticOfTheModel) {
  ShardedSetup setup = small_setup();
  EXPECT_NEAR(model_flops(setup).in(kTeraflop), 5.226, 0.001);
  setup.layout.data = 2;
  EXPECT_NEAR(step_at_peak(setup).in(kMillisecond), 26.13, 0.01);
}

// Full recomputation adds one forward pass to the backward one.
TEST(ShardedStep, RecomputesTheForwardPass) {
  ShardedSetup setup = small_setup();
  setup.layout.recompute = Recompute::kFull;
  const ShardedParts parts = sharded_step(setup, bare_law());
  EXPECT_NEAR(parts.backward.in(kMillisecond), 18.33 + 37.36, 0.02);
}

// Two all-reduces forward and two backward of 1000 · 1024 · 2 bytes over 4 workers at 100 GB/s:
// 2 · ¾ · 2.048 MB / 100 GB/s = 30.72 µs each; 8 layers and 8 samples: 7.864 ms.
TEST(ShardedStep, ReducesActivationsOfTensorParallelism) {
  ShardedSetup setup = small_setup();
  setup.layout.tensor = 4;
  const ShardedParts parts = sharded_step(setup, bare_law());
  EXPECT_NEAR(parts.tensor.in(kMillisecond), 7.864, 0.001);
  EXPECT_NEAR(parts.forward.in(kMillisecond), 18.33 / 4, 0.01);
}

// 4 stages of 2 layers and 8 micro-batches: a stage takes 55.69/32 ms for one micro-batch, the
// bubble is three of them, 5.22 ms; two virtual stages halve it.
TEST(ShardedStep, PipelineWaitsForItsFirstAndLastStage) {
  ShardedSetup setup = small_setup();
  setup.layout.pipeline = 4;
  setup.machines.inside = 1e9 * kGB / kSecond;
  const ShardedParts parts = sharded_step(setup, bare_law());
  EXPECT_NEAR(parts.bubble.in(kMillisecond), 3 * 55.69 / 32, 0.01);
  setup.layout.virtual_stages = 2;
  EXPECT_NEAR(sharded_step(setup, bare_law()).bubble.in(kMillisecond), 3 * 55.69 / 64, 0.01);
}

// 8 layers of 12 · 1024² + 4 · 1024 numbers (norms without biases count 2 · 1024) in 2 bytes over 2
// VMs of 8 replicas at 10 GB/s: 2 · ½ · 201.36 MB / 10 GB/s = 20.1 ms, nothing of it hidden.
TEST(ShardedStep, ReducesGradientsThroughTheNic) {
  ShardedSetup setup = small_setup();
  setup.layout.data = 16;
  setup.global_batch = 16;
  setup.overlaps_gradients = false;
  const double bytes = 2 * setup.shape.worker_parameters(setup.layout);
  EXPECT_NEAR(bytes, 8 * (12 * 1024.0 * 1024 + 2 * 1024) * 2 + 2 * 1024, 1);
  const ShardedParts parts = sharded_step(setup, bare_law());
  EXPECT_NEAR(parts.gradients.in(kMillisecond), bytes / 1e7, 0.01);
}

TEST(ShardedStep, HidesGradientsBehindALongBackwardPass) {
  ShardedSetup setup = small_setup();
  setup.layout.data = 16;
  setup.global_batch = 16;
  const Seconds shown = sharded_step(setup, bare_law()).gradients;
  setup.layout.micro_batch = 16;
  setup.global_batch = 256;
  const Seconds hidden = sharded_step(setup, bare_law()).gradients;
  EXPECT_LT(hidden, 0.01 * shown);
}

// Gathers of a layer of 25.17 MB over 8 workers at 100 GB/s: ⅞ · 25.17/100 = 0.2203 ms, three times
// a micro-batch (forward, backward, scatter) 0.661 ms against 0.870 ms of compute: mostly hidden.
TEST(ShardedStep, HidesGathersBehindCompute) {
  ShardedSetup setup = small_setup();
  setup.layout.data = 8;
  setup.layout.zero = 3;
  const ShardedParts parts = sharded_step(setup, bare_law());
  const double compute = (parts.forward + parts.backward).in(kMillisecond) / 8;
  EXPECT_NEAR(compute, 0.870, 0.001);
  const double expected = std::pow(std::pow(0.870, 4) + std::pow(0.661, 4), 0.25) - 0.870;
  EXPECT_NEAR(parts.gathers.in(kMillisecond), 8 * expected, 0.01);
}

// Heads of 100 miss the tensor units: attention of 4 · 1000² · 1000 · 8 layers · 8 samples, all of
// the square as it is not fused, is 2.695 ms forward at 95 TFLOP/s, and ten times that.
TEST(ShardedStep, UnalignedHeadsMissTheTensorUnits) {
  ShardedSetup setup = small_setup();
  setup.fused_attention = false;
  setup.shape.query = 1000;
  setup.shape.heads = 5;
  const Seconds aligned = sharded_step(setup, bare_law()).forward;
  setup.shape.heads = 10;
  const Seconds unaligned = sharded_step(setup, bare_law()).forward;
  EXPECT_NEAR((unaligned - aligned).in(kMillisecond), 9 * 2.695, 0.01);
}

// Two tensor ranks have a ring each: with rings = 1 the NIC carries twice as much at once.
TEST(ShardedStep, RingsSideBySideFillALineBetter) {
  ShardedSetup setup = small_setup();
  setup.layout.data = 8;
  setup.layout.tensor = 2;
  setup.global_batch = 8;
  setup.overlaps_gradients = false;
  ShardedLaw law = bare_law();
  law.network_efficiency = 0.25;
  const Seconds one = sharded_step(setup, law).gradients;
  law.rings = 1;
  EXPECT_NEAR(sharded_step(setup, law).gradients / one, 0.5, 1e-6);
  law.network_efficiency = 1;  // Never more than the line rate.
  const Seconds line = sharded_step(setup, law).gradients;
  EXPECT_NEAR(line / one, 0.25, 1e-6);
}

// Attention is computed in 16 bits when products are in FP8.
TEST(ShardedStep, AttentionDoesNotGainFromFp8) {
  ShardedSetup setup = small_setup();
  const Seconds half = sharded_step(setup, bare_law()).forward;
  setup.machines.fp8 = true;
  const Seconds fp8 = sharded_step(setup, bare_law()).forward;
  const double attention = 2 * 1e6 * 1024 * 8 * 8 / 95e12;
  EXPECT_NEAR(fp8.in(kSecond), (half.in(kSecond)-attention) / 2 + attention, 1e-6);
}

// 100 M numbers of 8 replicas on one VM at 1 ns each and 8^¾ at once, after each of 4
// micro-batches.
TEST(ShardedStep, UpdatesOnTheHostFollowEveryMicroBatch) {
  ShardedSetup setup = small_setup();
  setup.layout.data = 8;
  setup.layout.zero = 2;
  setup.global_batch = 32;
  setup.offloads_update = true;
  setup.machines.host = 1e9 * kGB / kSecond;
  ShardedLaw law = bare_law();
  law.host_update = 1e-9;
  const double numbers = setup.shape.worker_parameters(setup.layout) / 8;
  EXPECT_NEAR(sharded_step(setup, law).update.in(kSecond), 4 * numbers * 1e-9 * std::pow(8.0, 0.75),
              1e-6);
}

TEST(ShardedStep, AFasterLinkNeverTakesLonger) {
  Random random(11);
  for (int i = 0; i < 300; ++i) {
    ShardedSetup setup = small_setup();
    setup.layout.data = 1 << random.below(4);
    setup.layout.tensor = 1 << random.below(4);
    setup.layout.pipeline = 1 << random.below(3);
    setup.layout.zero = random.below(4);
    setup.global_batch = 64;
    const Seconds slow = sharded_step(setup, ShardedLaw{}).total();
    setup.machines.network = setup.machines.network * 2;
    const Seconds middle = sharded_step(setup, ShardedLaw{}).total();
    setup.machines.inside = setup.machines.inside * 2;
    const Seconds fast = sharded_step(setup, ShardedLaw{}).total();
    EXPECT_LE(middle, slow) << to_text(setup.layout);
    EXPECT_LE(fast, middle) << to_text(setup.layout);
    EXPECT_GT(fast, Seconds{});
  }
}

TEST(ShardedStep, NothingIsFasterThanArithmeticAtThePeak) {
  Random random(12);
  for (int i = 0; i < 300; ++i) {
    ShardedSetup setup = small_setup();
    setup.layout.data = 1 << random.below(4);
    setup.layout.tensor = 1 << random.below(4);
    setup.layout.pipeline = 1 << random.below(3);
    setup.global_batch = 128;
    const double flops = 3 * 2.0 * 1000 * 12 * 1024 * 1024 * 8 * 128;
    const double bound = flops / (1e14 * static_cast<double>(workers(setup.layout)));
    EXPECT_GT(sharded_step(setup, ShardedLaw{}).total().in(kSecond), bound)
        << to_text(setup.layout);
  }
}

TEST(ShardedLaw, ReadsItsConstantsFromACalibration) {
  Calibration calibration{.name = "test"};
  EXPECT_FALSE(sharded_law(calibration).ok());
  for (const ShardedConstant& it : sharded_constants()) {
    calibration.constants.push_back({.name = it.name, .scope = kShardedScope, .value = 2});
  }
  const auto law = sharded_law(calibration);
  ASSERT_TRUE(law.ok());
  EXPECT_EQ(law->product, 2);
}

}  // namespace
}  // namespace stint
