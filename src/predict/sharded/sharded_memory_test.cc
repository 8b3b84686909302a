#include "predict/sharded/sharded_memory.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

/// Counts only what is in the equations.
constexpr ShardedMemoryLaw kBare{
    .activations = 1, .logits = 1, .overhead = 0, .peers = 0, .reserved = 1, .spread = 0.2};

/// The same without logits, which are large beside so small a model: the first stage is the
/// fullest.
constexpr ShardedMemoryLaw kNoLogits{
    .activations = 1, .logits = 0, .overhead = 0, .peers = 0, .reserved = 1, .spread = 0.2};

ShardedSetup setup_of(const ModelShape& shape, const ParallelLayout& layout) {
  ShardedSetup setup;
  setup.shape = ShardedShape(shape);
  setup.sequence = 2000;
  setup.global_batch = 64;
  setup.layout = layout;
  return setup;
}

/// A layer has 12 · 1024² + 2048 = 12 584 960 parameters, the model 8 of them and 2 · 32.77 M.
ModelShape small_shape() {
  return {.layers = 8,
          .hidden = 1024,
          .heads = 16,
          .feed_forward = 4096,
          .vocabulary = 32000,
          .positions = 2048};
}

constexpr double kLayer = 12'584'960;
constexpr double kEmbeddings = 32'768'000;
constexpr double kAll = 8 * kLayer + 2 * kEmbeddings + 1024;

// 32 layers of 4 · 4096² + 3 · 4096 · 11008 and two norms, 32 000 · 4096 embeddings and as many
// weights of the head: 6.74 billion (huggingface.co/meta-llama/Llama-2-7b-hf).
ModelShape llama_2_7b() {
  ModelShape shape{.layers = 32,
                   .hidden = 4096,
                   .heads = 32,
                   .feed_forward = 11008,
                   .vocabulary = 32000,
                   .positions = 4096};
  shape.gated = true;
  return shape;
}

// huggingface.co/meta-llama/Llama-2-70b-hf.
ModelShape llama_2_70b() {
  ModelShape shape{.layers = 80,
                   .hidden = 8192,
                   .heads = 64,
                   .kv_heads = 8,
                   .feed_forward = 28672,
                   .vocabulary = 32000,
                   .positions = 4096};
  shape.gated = true;
  return shape;
}

// 2, 2 and 12 bytes of each parameter; 4 shards divide one more of them from stage to stage
// (Rajbhandari et al. 2020, figure 1).
TEST(ShardedMemory, ZeroStagesDivideStates) {
  const double shares[][3] = {{1, 1, 1}, {1, 1, 4}, {1, 4, 4}, {4, 4, 4}};
  for (int zero = 0; zero <= 3; ++zero) {
    SCOPED_TRACE(zero);
    const ShardedMemory need =
        sharded_memory(setup_of(small_shape(), {.data = 4, .zero = zero}), {}, kBare);
    EXPECT_NEAR(need.parameters.in(kByte), 2 * kAll / shares[zero][0], 1);
    EXPECT_NEAR(need.gradients.in(kByte), 2 * kAll / shares[zero][1], 1);
    EXPECT_NEAR(need.optimizer.in(kByte), 12 * kAll / shares[zero][2], 1);
    EXPECT_EQ(need.gathered > Bytes{}, zero == 3);
  }
}

// A quarter of the sequence is on each of 4 context workers, which are shards like 4 of data.
TEST(ShardedMemory, ContextWorkersAreShards) {
  const ShardedMemory data =
      sharded_memory(setup_of(small_shape(), {.data = 4, .zero = 3}), {}, kBare);
  const ShardedMemory context =
      sharded_memory(setup_of(small_shape(), {.context = 4, .zero = 3}), {}, kBare);
  EXPECT_DOUBLE_EQ(context.states().in(kByte), data.states().in(kByte));
  EXPECT_DOUBLE_EQ(context.activations.in(kByte), data.activations.in(kByte) / 4);
}

// Hybrid sharding stops at the VM.
TEST(ShardedMemory, HybridShardsStayInTheVm) {
  ShardedSetup setup = setup_of(small_shape(), {.data = 64, .zero = 3, .hybrid = true});
  setup.machines.workers_per_vm = 8;
  EXPECT_NEAR(sharded_memory(setup, {}, kBare).states().in(kByte), 16 * kAll / 8, 1);
}

// Of a token a layer keeps 5 · 1024 + 4 · 1024 + 2 · 4096 = 17 408 numbers with fused attention,
// and 16 · 2000 scores without; 2000 tokens of 8 layers at 2 bytes.
TEST(ShardedMemory, ActivationsAsCountedByHand) {
  ShardedSetup setup = setup_of(small_shape(), {});
  EXPECT_NEAR(sharded_memory(setup, {}, kBare).activations.in(kByte), 2000.0 * 8 * 17408 * 2, 1);
  setup.fused_attention = false;
  EXPECT_NEAR(sharded_memory(setup, {}, kBare).activations.in(kByte),
              2000.0 * 8 * (17408 + 32000) * 2, 1);
  setup.layout.recompute = Recompute::kSelective;
  EXPECT_NEAR(sharded_memory(setup, {}, kBare).activations.in(kByte),
              2000.0 * (8 * 17408 + 32000) * 2, 1);
  setup.layout.recompute = Recompute::kFull;
  EXPECT_NEAR(sharded_memory(setup, {}, kBare).activations.in(kByte),
              2000.0 * (8 * 1024 + 17408 + 32000) * 2, 1);
}

// With fused attention selective recomputation keeps the input, the output of attention and every
// second of 3 · 1024 + 1024 + 4096 + 1024 outputs of products: 1024 + 1024 + 4608 = 6656 numbers.
TEST(ShardedMemory, SelectiveKeepsEverySecondProduct) {
  ShardedSetup setup = setup_of(small_shape(), {.recompute = Recompute::kSelective});
  EXPECT_NEAR(sharded_memory(setup, {}, kBare).activations.in(kByte),
              2000.0 * (8 * 6656 + 17408) * 2, 1);
}

// Tensor parallelism by 4 divides 12 288 of 17 408 numbers; sequence parallelism the others too.
TEST(ShardedMemory, SequenceParallelismDividesTheStream) {
  ShardedSetup setup = setup_of(small_shape(), {.tensor = 4});
  EXPECT_NEAR(sharded_memory(setup, {}, kBare).activations.in(kByte),
              2000.0 * 8 * (5120 + 12288.0 / 4) * 2, 1);
  setup.layout.sequence = true;
  EXPECT_NEAR(sharded_memory(setup, {}, kBare).activations.in(kByte), 2000.0 * 8 * 17408 / 4 * 2,
              1);
}

// The first of 4 stages has 2 layers of 4 micro-batches in flight, as much as one stage has of one.
TEST(ShardedMemory, TheFirstStageKeepsAllStagesInFlight) {
  const ShardedMemory need =
      sharded_memory(setup_of(small_shape(), {.pipeline = 4}), {}, kNoLogits);
  EXPECT_NEAR(need.activations.in(kByte), 2000.0 * 8 * 17408 * 2, 1);
  EXPECT_EQ(need.logits, Bytes{});
  EXPECT_NEAR(need.parameters.in(kByte), 2 * (2 * kLayer + kEmbeddings), 1);
}

// Two virtual stages keep 1 + 3/8 times as many.
TEST(ShardedMemory, InterleavedStagesKeepMore) {
  const ShardedMemory need =
      sharded_memory(setup_of(small_shape(), {.pipeline = 4, .virtual_stages = 2}), {}, kNoLogits);
  EXPECT_NEAR(need.activations.in(kByte), 1.375 * 2000 * 8 * 17408 * 2, 1);
}

// One micro-batch is never in flight more than once: the last stage has the same activations as the
// first, and logits of 2000 · 32 000 · 10 bytes = 640 MB.
TEST(ShardedMemory, TheLastStageHasTheLogits) {
  ShardedSetup setup = setup_of(small_shape(), {.pipeline = 4});
  setup.global_batch = 1;
  const ShardedMemory need = sharded_memory(setup, {}, kBare);
  EXPECT_NEAR(need.activations.in(kByte), 2000.0 * 2 * 17408 * 2, 1);
  EXPECT_NEAR(need.logits.in(kMB), 640, 1e-9);
}

// Layers that the stages do not divide: 3, 3 and 2.
TEST(ShardedMemory, TheFullestStageHasTheRoundedLayers) {
  const ShardedMemory need =
      sharded_memory(setup_of(small_shape(), {.pipeline = 3}), {}, kNoLogits);
  EXPECT_NEAR(need.parameters.in(kByte), 2 * (3 * kLayer + kEmbeddings), 1);
}

// Adapters on 1 % of the parameters: gradients and optimizer of those alone.
TEST(ShardedMemory, FrozenParametersHaveNoGradients) {
  ShardedSetup setup = setup_of(small_shape(), {});
  setup.trained = 0.01;
  setup.frozen_products = true;
  const ShardedMemory need = sharded_memory(setup, {}, kBare);
  EXPECT_NEAR(need.parameters.in(kByte), 2 * kAll, 1);
  EXPECT_NEAR(need.gradients.in(kByte), 0.02 * kAll, 1);
  EXPECT_NEAR(need.optimizer.in(kByte), 0.12 * kAll, 1);
}

TEST(ShardedMemory, OffloadMovesTheOptimizer) {
  ShardedSetup setup = setup_of(small_shape(), {});
  setup.offloads_update = true;
  EXPECT_EQ(sharded_memory(setup, {}, kBare).optimizer, Bytes{});
}

// 2 layers and the head at 2 bytes, one layer's gradients and the head's at 4, halved by tensor
// parallelism.
TEST(ShardedMemory, FullShardingGathersLayers) {
  const ShardedSetup setup = setup_of(small_shape(), {.data = 4, .tensor = 2, .zero = 3});
  const double ends = kEmbeddings + 1024;
  EXPECT_NEAR(sharded_memory(setup, kFullPrecisionStates, kBare).gathered.in(kByte),
              ((2 * kLayer + ends) * 2 + (kLayer + ends) * 4) / 2, 1);
}

// Allocated 1000 MB, reserved 1.1 times that, and 2 GB with 3 more workers that add half each.
TEST(ShardedMemory, ReservedAndOverheadComeOnTop) {
  ShardedMemoryLaw law = kBare;
  law.reserved = 1.1;
  law.overhead = 2e9;
  law.peers = 0.5;
  const ShardedMemory need = sharded_memory(setup_of(small_shape(), {.tensor = 4}), {}, law);
  EXPECT_NEAR(need.reserved_peak() / need.allocated(), 1.1, 1e-12);
  EXPECT_NEAR((need.total() - need.reserved_peak()).in(kGB), 5, 1e-9);
}

// ln(80/64) = 0.223 over a spread of 0.2231 is one deviation: 84.1 %.
TEST(ShardedMemory, ProbabilityFollowsTheSpread) {
  ShardedMemoryLaw law = kBare;
  law.spread = std::log(80.0 / 64);
  const ShardedMemory need{.parameters = 64 * kGB};
  EXPECT_NEAR(p_fits(need, 80 * kGB, law), 0.8413, 1e-4);
  EXPECT_NEAR(p_fits(need, 64 * kGB, law), 0.5, 1e-12);
  EXPECT_NEAR(peak_quantile(need, 0.8413447, law).in(kGB), 80, 1e-3);
}

// 16 bytes of 6.74 billion parameters are 107.8 GB, more than the 85.9 GB of an A100-80GB; 8 of
// them hold 13.5 GB each (meta-llama/llama-recipes fine-tunes all parameters of it with FSDP on one
// node of 8 × A100-80GB).
TEST(ShardedMemory, Llama7bFitsEightButNotOne) {
  const ShardedMemoryLaw law;
  const Bytes memory = 80 * kGiB;
  ShardedSetup one = setup_of(llama_2_7b(), {});
  one.sequence = 4096;
  const ShardedMemory whole = sharded_memory(one, {}, law);
  EXPECT_NEAR(whole.states().in(kGB), 107.8, 0.1);
  EXPECT_LT(p_fits(whole, memory, law), 0.05);
  ShardedSetup eight = one;
  eight.layout = {.data = 8, .zero = 3};
  const ShardedMemory shard = sharded_memory(eight, kFullPrecisionStates, law);
  EXPECT_NEAR(shard.states().in(kGB), 13.5, 0.1);
  EXPECT_GT(p_fits(shard, memory, law), 0.95);
}

// 16 bytes of 68.98 billion parameters are 1103.6 GB: 138 GB on each of 8 A100-80GB, 69 GB on each
// of 16.
TEST(ShardedMemory, Llama70bNeedsSixteenForItsStates) {
  const Bytes memory = 80 * kGiB;
  const auto states = [](int workers) {
    const ShardedSetup setup = setup_of(llama_2_70b(), {.data = workers, .zero = 3});
    return sharded_memory(setup, kFullPrecisionStates, {}).states();
  };
  EXPECT_NEAR(states(8).in(kGB), 137.95, 0.05);
  EXPECT_GT(states(8), memory);
  EXPECT_LT(states(16), memory);
}

// Whatever the layout: more shards, recomputation and a smaller micro-batch never need more.
TEST(ShardedMemory, EachSavingSaves) {
  Random random(25);
  const auto power = [&] { return 1 << random.below(4); };
  for (int i = 0; i < 500; ++i) {
    ParallelLayout layout{.data = 2 * power(), .tensor = power(), .micro_batch = 2 * power()};
    layout.zero = random.below(3);
    ShardedSetup setup = setup_of(llama_2_7b(), layout);
    const Bytes before = sharded_memory(setup, {}, {}).total();
    const auto saves = [&](auto change) {
      ShardedSetup changed = setup;
      change(changed.layout);
      return sharded_memory(changed, {}, {}).total() <= before;
    };
    EXPECT_TRUE(saves([](ParallelLayout& it) { it.micro_batch /= 2; })) << to_text(layout);
    EXPECT_TRUE(saves([](ParallelLayout& it) { it.data *= 2; })) << to_text(layout);
    EXPECT_TRUE(saves([](ParallelLayout& it) { it.sequence = true; })) << to_text(layout);
    EXPECT_TRUE(saves([](ParallelLayout& it) { it.recompute = Recompute::kFull; }))
        << to_text(layout);
    if (layout.zero < 2) {
      EXPECT_TRUE(saves([](ParallelLayout& it) { ++it.zero; })) << to_text(layout);
    }
  }
}

TEST(ShardedMemoryLaw, IsReadFromACalibration) {
  Calibration calibration{.name = "mine"};
  for (const ShardedMemoryConstant& it : sharded_memory_constants()) {
    calibration.constants.push_back({.name = it.name, .scope = kShardedMemoryScope, .value = 3});
  }
  const auto missing = sharded_memory_law(calibration);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("spread"), std::string::npos);
  calibration.constants.push_back({.name = "spread", .scope = kShardedMemoryScope, .value = 0.1});
  const auto law = sharded_memory_law(calibration);
  ASSERT_TRUE(law.ok()) << law.error().message;
  EXPECT_DOUBLE_EQ(law->activations, 3);
  EXPECT_DOUBLE_EQ(law->peers, 3);
  EXPECT_DOUBLE_EQ(law->spread, 0.1);
}

}  // namespace
}  // namespace stint
