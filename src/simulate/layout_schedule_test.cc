#include "simulate/layout_schedule.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

/// 4 layers of 10 MB that compute 20 ms forward and 40 ms backward, on NICs of 1 GB/s.
LayoutScript four_units(const char* layout) {
  return {.layout = *parse_parallel_layout(layout),
          .micro_batches = 1,
          .layers = 4,
          .forward = 20 * kMillisecond,
          .backward = 40 * kMillisecond,
          .layer = 10 * kMB,
          .activations = 1 * kMB};
}

constexpr Link kLink{.inverse_bandwidth = 1 / (1 * kGB / kSecond)};

double milliseconds(const LayoutScript& script) {
  return play_layout(script, kLink).in(kMillisecond);
}

TEST(PlayLayout, OneWorkerOnlyComputes) { EXPECT_NEAR(milliseconds(four_units("dp1")), 240, 1e-9); }

// Three of four all-reduces of 2 · ½ · 10 MB / 1 GB/s = 10 ms are hidden; the last one shows.
TEST(PlayLayout, TheLastGradientsShow) { EXPECT_NEAR(milliseconds(four_units("dp2")), 250, 1e-9); }

// ZeRO-1 reduces as Gloo does, by whole all-reduces, and gathers 4 · 5 ms after the update.
TEST(PlayLayout, ZeroOneGathersParametersAfterTheUpdate) {
  EXPECT_NEAR(milliseconds(four_units("dp2 zero1")), 270, 1e-9);
}

// ZeRO-3 gathers 5 ms before the first unit and hides the others; backward the last unit was
// released and is gathered again; the last reduction shows: 5 + 80 + 5 + 160 + 10 ms.
TEST(PlayLayout, ZeroThreeGathersOneUnitAhead) {
  EXPECT_NEAR(milliseconds(four_units("dp2 zero3")), 260, 1e-9);
}

// Two all-reduces of 2 · ½ · 1 MB / 1 GB/s = 1 ms for each unit and pass: 16 in all.
TEST(PlayLayout, TensorAllReducesAreInTheWay) {
  EXPECT_NEAR(milliseconds(four_units("tp2")), 256, 1e-9);
}

// Sequence parallelism on Gloo: each all-reduce is joined by a gather of half its time.
TEST(PlayLayout, SequenceParallelismGathersAsWell) {
  EXPECT_NEAR(milliseconds(four_units("tp2 sp")), 240 + 16 * 1.5 + 2 * 0.5, 1e-9);
}

// Full recomputation runs the forward pass again, with its collectives.
TEST(PlayLayout, RecomputationRepeatsTheForwardPass) {
  EXPECT_NEAR(milliseconds(four_units("tp2 recompute:full")), 320 + 24, 1e-9);
}

// Two stages of four layers and two micro-batches, 80 and 160 ms each, transfers of 1 ms. The last
// stage receives at 81, is done forward and backward with the first at 321, and with the second at
// 561; its gradient arrives at 562, and the first stage ends at 722. A step later all is 722 later.
TEST(PlayLayout, APipelineFillsAndDrains) {
  LayoutScript script = four_units("pp2");
  script.micro_batches = 2;
  EXPECT_NEAR(milliseconds(script), 722, 1e-9);
}

// The closed form of 1F1B without transfers: (M + p − 1) (f + b).
TEST(PlayLayout, EqualsTheClosedFormOfOneForwardOneBackward) {
  Random random(5);
  for (int i = 0; i < 100; ++i) {
    LayoutScript script = four_units("pp2");
    script.layout.pipeline = 1 + random.below(6);
    script.micro_batches = script.layout.pipeline + random.below(8);
    script.activations = Bytes{};
    const double stage = 240;
    EXPECT_NEAR(milliseconds(script), stage * (script.micro_batches + script.layout.pipeline - 1),
                1e-6);
  }
}

TEST(PlayLayout, FasterLinksNeverTakeLonger) {
  Random random(6);
  for (int i = 0; i < 200; ++i) {
    LayoutScript script = four_units("dp2");
    script.layout.data = 1 + random.below(4);
    script.layout.tensor = 1 + random.below(2);
    script.layout.pipeline = 1 + random.below(3);
    script.layout.zero = random.below(4);
    script.micro_batches = 1 + random.below(5);
    script.layer = random.uniform(1, 100) * kMB;
    const Link slow{.inverse_bandwidth = 1 / (0.5 * kGB / kSecond), .latency = 1 * kMillisecond};
    const Link fast{.inverse_bandwidth = 1 / (1 * kGB / kSecond), .latency = 1 * kMillisecond};
    EXPECT_LE(play_layout(script, fast), play_layout(script, slow) + 1e-9 * kSecond);
  }
}

}  // namespace
}  // namespace stint
