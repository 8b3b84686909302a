#include "calibrate/reduction_spread.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

Seconds at(double log) { return std::exp(log) * kSecond; }

// Two rounds of ±0.01 around 0: each has a variance of 2 · 0.01² over one degree of freedom, so the
// deviation is 0.01 √2. The means of the rounds agree, so nothing is left for time.
TEST(ReductionSpread, RepeatsAreWhatVariesInsideARound) {
  const ReductionSpread spread = spread_of(
      {{.rounds = {{at(0.01), at(-0.01)}, {at(-0.01), at(0.01)}}, .expected = 1 * kSecond}});
  EXPECT_NEAR(*spread.repeats, 0.01 * std::sqrt(2), 1e-12);
  EXPECT_NEAR(*spread.time, 0, 1e-12);
  EXPECT_FALSE(spread.pairs.has_value());
}

// Round means of 0.02 and −0.02 and nothing inside: a deviation of 0.02 √2.
TEST(ReductionSpread, TimeIsWhatVariesFromRoundToRound) {
  const ReductionSpread spread = spread_of(
      {{.rounds = {{at(0.02), at(0.02)}, {at(-0.02), at(-0.02)}}, .expected = 1 * kSecond}});
  EXPECT_NEAR(*spread.repeats, 0, 1e-9);
  EXPECT_NEAR(*spread.time, 0.02 * std::sqrt(2), 1e-9);
}

// A pair with a slower NIC is expected to be slower: compared with that, the pairs differ by 0.1.
TEST(ReductionSpread, PairsAreComparedWithWhatTheyShouldTake) {
  const ReductionSpread spread =
      spread_of({{.rounds = {{at(0)}}, .expected = 1 * kSecond, .pair = true},
                 {.rounds = {{2 * at(0.1)}}, .expected = 2 * kSecond, .pair = true},
                 {.rounds = {{at(5)}}, .expected = 1 * kSecond}});
  EXPECT_FALSE(spread.repeats.has_value());
  EXPECT_FALSE(spread.time.has_value());
  EXPECT_NEAR(*spread.pairs, 0.05 * std::sqrt(2), 1e-9);
}

// Drawn with 1 % from repeat to repeat, 3 % from round to round and 5 % from pair to pair.
TEST(ReductionSpread, FindsTheDeviationsThatMadeTheTimes) {
  Random random(7);
  std::vector<ReductionTimes> sums;
  for (int pair = 0; pair < 300; ++pair) {
    ReductionTimes& sum = sums.emplace_back();
    sum.expected = 1 * kSecond;
    sum.pair = true;
    const double of_pair = 0.05 * random.normal();
    for (int round = 0; round < 4; ++round) {
      const double of_round = of_pair + 0.03 * random.normal();
      auto& times = sum.rounds.emplace_back();
      for (int i = 0; i < 3; ++i) times.push_back(at(of_round + 0.01 * random.normal()));
    }
  }
  const ReductionSpread spread = spread_of(sums);
  EXPECT_NEAR(*spread.repeats, 0.01, 0.001);
  EXPECT_NEAR(*spread.time, 0.03, 0.003);
  EXPECT_NEAR(*spread.pairs, 0.05, 0.006);
}

TEST(ReductionSpread, OfNothingNothingIsKnown) { EXPECT_FALSE(spread_of({}).repeats.has_value()); }

}  // namespace
}  // namespace stint
