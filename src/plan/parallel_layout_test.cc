#include "plan/parallel_layout.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

TEST(ParallelLayout, ReadsItsTextForm) {
  const auto layout = parse_parallel_layout("dp16 tp4 pp2 zero1 mb2 recompute:full");
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->data, 16);
  EXPECT_EQ(layout->tensor, 4);
  EXPECT_EQ(layout->pipeline, 2);
  EXPECT_EQ(layout->zero, 1);
  EXPECT_EQ(layout->micro_batch, 2);
  EXPECT_EQ(layout->recompute, Recompute::kFull);
  EXPECT_EQ(workers(*layout), 128);
  EXPECT_EQ(to_text(*layout), "dp16 tp4 pp2 zero1 mb2 recompute:full");
}

TEST(ParallelLayout, WordsMayComeInAnyOrderAndCase) {
  const auto layout = parse_parallel_layout("  ZERO3 hsdp DP8 sp TP2 vp2 pp4 cp2 ep4 ");
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(to_text(*layout), "dp8 tp2 sp cp2 pp4 vp2 ep4 zero3 hsdp mb1");
}

TEST(ParallelLayout, TextRoundTrips) {
  Random random(7);
  for (int i = 0; i < 500; ++i) {
    ParallelLayout layout;
    layout.data = 1 + random.below(16);
    layout.tensor = 1 + random.below(8);
    layout.pipeline = 1 + random.below(8);
    layout.virtual_stages = 1 + random.below(3);
    layout.zero = random.below(4);
    layout.hybrid = random.below(2) == 1;
    layout.sequence = random.below(2) == 1;
    layout.micro_batch = 1 + random.below(9);
    layout.recompute = static_cast<Recompute>(random.below(3));
    const auto again = parse_parallel_layout(to_text(layout));
    ASSERT_TRUE(again.ok()) << to_text(layout);
    EXPECT_EQ(*again, layout) << to_text(layout);
  }
}

void expect_refused(const char* text, const char* what) {
  const auto layout = parse_parallel_layout(text);
  ASSERT_FALSE(layout.ok()) << text;
  EXPECT_NE(layout.error().message.find(what), std::string::npos) << layout.error().message;
  EXPECT_EQ(layout.error().kind, ErrorKind::kUsage);
}

TEST(ParallelLayout, RefusesWordsItDoesNotKnow) {
  expect_refused("", "is empty");
  expect_refused("dp8 tpx", "'tpx' is no word of a layout");
  expect_refused("dp0", "dp takes a number from 1");
  expect_refused("zero4", "zero takes a number from 0 to 3");
  expect_refused("dp8 dp4", "dp is there twice");
  expect_refused("dp8 recompute:some", "recompute is none, selective or full");
  expect_refused("dp1048576 tp1048576", "the maximum is 1048576");
}

TEST(ParallelLayout, SaysWhyItCannotBe) {
  const LayoutBounds bounds{
      .workers = 16, .layers = 32, .heads = 32, .kv_heads = 8, .global_batch = 64};
  const auto why = [&](const char* text) { return problem(*parse_parallel_layout(text), bounds); };
  EXPECT_EQ(why("dp4 tp4 mb2"), "");
  EXPECT_EQ(
      why("dp4 tp2"),
      "the degrees of the layout 'dp4 tp2 mb1' multiply to 8, but the cluster has 16 workers");
  EXPECT_EQ(why("dp1 tp16 mb3"), "dp × mb = 3 does not divide the global batch of 64");
  EXPECT_EQ(why("dp2 tp1 pp8 vp8"),
            "64 stages are more than the 32 layers of the model; lower pp or vp");
  EXPECT_EQ(why("dp16 vp2"), "virtual stages need a pipeline: raise pp, or leave vp out");
  EXPECT_EQ(why("dp16 sp"), "sequence parallelism (sp) needs a tensor degree above 1");
  EXPECT_EQ(why("dp16 hsdp"), "hybrid sharding (hsdp) needs a ZeRO stage, as in 'zero3 hsdp'");
  EXPECT_EQ(why("dp16 ep2"), "the expert degree 2 is above the 1 experts of the model");
  const LayoutBounds few{.workers = 16, .layers = 32, .heads = 12};
  EXPECT_EQ(problem(*parse_parallel_layout("dp2 tp8"), few),
            "the tensor degree 8 does not divide the 12 attention heads of the model");
}

}  // namespace
}  // namespace stint
