#include "calibrate/sharded_memory_fit.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

ShardedMemoryCase layout_case(const std::string& software, const ParallelLayout& layout) {
  ModelShape shape{.layers = 32,
                   .hidden = 4096,
                   .heads = 32,
                   .feed_forward = 16384,
                   .vocabulary = 50000,
                   .positions = 2048};
  ShardedMemoryCase it{.software = software, .setup = {}, .states = {}};
  it.setup.shape = ShardedShape(shape);
  it.setup.sequence = 2048;
  it.setup.global_batch = 256;
  it.setup.layout = layout;
  return it;
}

/// Layouts of a software whose peaks follow `law`.
std::vector<ShardedMemoryCase> cases_of(const std::string& software, const ShardedMemoryLaw& law) {
  std::vector<ShardedMemoryCase> cases;
  for (const int micro_batch : {1, 2, 4, 8}) {
    for (const int tensor : {1, 2, 8}) {
      for (const int pipeline : {1, 4}) {
        ShardedMemoryCase it = layout_case(software, {.data = 4,
                                                      .tensor = tensor,
                                                      .pipeline = pipeline,
                                                      .zero = 1,
                                                      .micro_batch = micro_batch});
        it.peak = sharded_memory(it.setup, it.states, law).total();
        cases.push_back(std::move(it));
      }
    }
  }
  return cases;
}

constexpr ShardedMemoryLaw kTrue{
    .activations = 1.3, .logits = 0.8, .overhead = 4e9, .peers = 0.2, .reserved = 1.1};

TEST(ShardedMemoryModel, FindsTheConstants) {
  const auto model = ShardedMemoryModel::fit(cases_of("a", kTrue));
  ASSERT_TRUE(model.ok()) << model.error().message;
  ShardedMemoryCase it =
      layout_case("a", {.data = 2, .tensor = 4, .pipeline = 2, .micro_batch = 3});
  const double truth = sharded_memory(it.setup, it.states, kTrue).total().in(kGB);
  const ShardedPeak known = model->estimate(it);
  EXPECT_NEAR(known.mean.in(kGB), truth, 0.03 * truth);
  EXPECT_LT(known.p10, known.mean);
  EXPECT_NEAR(known.mean / known.p10, known.p90 / known.mean, 1e-9);
  // Software that was never seen has the wider interval.
  it.software = "b";
  const ShardedPeak other = model->estimate(it);
  EXPECT_GT(other.p90 / other.p10, known.p90 / known.p10);
}

// One of two frameworks keeps twice the activations of the other; each is predicted by its own, and
// the constant of all lies between them.
TEST(ShardedMemoryModel, SoftwareHasHabits) {
  ShardedMemoryLaw frugal = kTrue;
  frugal.activations = 0.65;
  std::vector<ShardedMemoryCase> cases = cases_of("a", kTrue);
  for (ShardedMemoryCase& it : cases_of("b", frugal)) cases.push_back(std::move(it));
  const auto model = ShardedMemoryModel::fit(cases);
  ASSERT_TRUE(model.ok()) << model.error().message;
  for (const ShardedMemoryCase& it : cases) {
    EXPECT_NEAR(model->estimate(it).mean / *it.peak, 1, 0.05) << to_text(it.setup.layout);
  }
  EXPECT_GT(model->law().activations, 0.65);
  EXPECT_LT(model->law().activations, 1.3);
  EXPECT_GT(model->law().spread, 0.1);
}

// One peak that was noted wrongly by a factor of three moves the others by little.
TEST(ShardedMemoryModel, AWrongRowCountsLittle) {
  std::vector<ShardedMemoryCase> cases = cases_of("a", kTrue);
  const auto right = ShardedMemoryModel::fit(cases);
  ASSERT_TRUE(right.ok()) << right.error().message;
  cases[5].peak = 3 * *cases[5].peak;
  const auto wrong = ShardedMemoryModel::fit(cases);
  ASSERT_TRUE(wrong.ok()) << wrong.error().message;
  EXPECT_NEAR(wrong->estimate(cases[0]).mean / right->estimate(cases[0]).mean, 1, 0.06);
}

// The fullest of stated stages counts: 20 layers of one micro-batch in flight are more than 6 of
// two.
TEST(ShardedMemoryModel, TakesTheFullestStage) {
  const auto model = ShardedMemoryModel::fit(cases_of("a", kTrue));
  ASSERT_TRUE(model.ok()) << model.error().message;
  ShardedMemoryCase it = layout_case("a", {.pipeline = 2});
  const ShardedStage small{.layers = 6, .in_flight = 2, .first = true, .last = false};
  const ShardedStage large{.layers = 20, .in_flight = 1, .first = false, .last = true};
  it.stages = {large};
  const Bytes alone = model->estimate(it).mean;
  it.stages = {small, large};
  EXPECT_DOUBLE_EQ(model->estimate(it).mean.in(kByte), alone.in(kByte));
}

TEST(ShardedMemoryModel, IsKeptAsACalibration) {
  const auto model = ShardedMemoryModel::fit(cases_of("a", kTrue));
  ASSERT_TRUE(model.ok()) << model.error().message;
  Calibration calibration = model->to_calibration("mine");
  calibration.date = Date{2026, 11, 18};
  EXPECT_TRUE(validate(calibration).ok()) << validate(calibration).error().message;
  const auto law = sharded_memory_law(calibration);
  ASSERT_TRUE(law.ok()) << law.error().message;
  EXPECT_DOUBLE_EQ(law->activations, model->law().activations);
  EXPECT_DOUBLE_EQ(law->spread, model->law().spread);
}

// 12 layers of 4096 and 2 samples: 16 bytes of 2.66 billion parameters on each of 4 tensor workers,
// and 34 · 2048 · 2 · 4096 · 12/4 bytes.
TEST(PlainPeak, IsTheRuleOfThumb) {
  ShardedMemoryCase it = layout_case("a", {.data = 8, .tensor = 4, .micro_batch = 2});
  it.setup.shape.layers = 12;
  const double states = 16 * it.setup.shape.worker_parameters(it.setup.layout);
  EXPECT_NEAR(plain_peak(it).in(kByte), states + 34.0 * 2048 * 2 * 4096 * 3, 1);
  it.setup.layout.zero = 3;
  EXPECT_NEAR(plain_peak(it).in(kByte), states / 8 + 34.0 * 2048 * 2 * 4096 * 3, 1);
}

}  // namespace
}  // namespace stint
