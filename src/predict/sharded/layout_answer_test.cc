#include "predict/sharded/layout_answer.h"

#include <gtest/gtest.h>

#include "predict/sharded/sharded_fixture.h"

namespace stint {
namespace {

TEST(LayoutAnswer, StatesTheChoice) {
  Random random(3);
  const ShardedModel model = small_model(random);
  const LayoutQuestion question{
      .model = model, .cluster = small_cluster(model, random), .global_batch = 8};
  const ParallelLayout layout{.data = static_cast<int>(question.cluster.workers())};
  const LayoutChoice choice = evaluate(question, layout);
  const LayoutEstimate it = estimate_of(question, choice);
  EXPECT_EQ(it.layout, layout);
  EXPECT_EQ(problem(it), "");
  EXPECT_EQ(it.reserved, choice.memory.total());
  ASSERT_TRUE(it.tokens_per_second.has_value());
  EXPECT_NEAR(*it.tokens_per_second, 8 * model.setup.sequence / it.mean.in(kSecond), 1e-6);
  EXPECT_EQ(it.unvalidated, (std::vector<std::string>{"constants (priors)"}));
}

TEST(LayoutAnswer, NoEndOfAnIntervalIsBeyondThePeak) {
  Random random(3);
  ShardedModel model = small_model(random);
  model.laws.spread = 10;
  const LayoutQuestion question{
      .model = model, .cluster = small_cluster(model, random), .global_batch = 8};
  const ParallelLayout layout{.data = static_cast<int>(question.cluster.workers())};
  const LayoutEstimate it = estimate_of(question, evaluate(question, layout));
  EXPECT_DOUBLE_EQ(it.p10.in(kSecond), step_at_peak(setup_of(question, layout)).in(kSecond));
  EXPECT_LT(it.p10, it.mean);
}

}  // namespace
}  // namespace stint
