#include "supervise/deadline_watch.h"

#include <gtest/gtest.h>

#include "risk/deadline_baselines.h"

namespace stint {
namespace {

constexpr Holding kAllOnDemand{.spot = 0, .on_demand = 2};

/// 100 steps of 10 s on two machines. A switch to on-demand machines takes two ticks of 60 s, a
/// start of 60 s, two changes of 10 s and two checkpoints of 10 s: 220 s beside the steps.
RunTerms terms_until(Seconds deadline) {
  RunTerms terms;
  terms.slots.resize(
      2, {.market = Market::kSpot, .spot = 1 * kDollar / kHour, .on_demand = 3 * kDollar / kHour});
  terms.steps = 100;
  terms.step_time = [](std::span<const int> slots) {
    return 20.0 / static_cast<double>(slots.size()) * kSecond;
  };
  terms.deadline = deadline;
  return terms;
}

RunProgress measured(Seconds now, std::int64_t steps) {
  return {.now = now,
          .reached = steps,
          .safe = steps,
          .saved = steps,
          .slowness = 1,
          .slowness_max = 1,
          .spot_available = 2};
}

// 1000 s of steps and 220 s: with a deadline at 2000 s the switch may wait until 780 s.
TEST(DeadlineWatch, BuysAtTheLastSafeMoment) {
  const RunTerms terms = terms_until(2000 * kSecond);
  DeadlineWatch watch(nullptr);
  EXPECT_EQ(watch.choose(terms, measured(779 * kSecond, 0)), std::nullopt);
  EXPECT_FALSE(watch.buys());
  EXPECT_EQ(watch.choose(terms, measured(781 * kSecond, 0)), kAllOnDemand);
  EXPECT_TRUE(watch.buys());
}

// Steps that are not saved would be lost with the spot machines.
TEST(DeadlineWatch, CountsOnWhatIsSavedAlone) {
  const RunTerms terms = terms_until(2000 * kSecond);
  RunProgress progress = measured(781 * kSecond, 0);
  progress.reached = 50;
  DeadlineWatch watch(nullptr);
  EXPECT_EQ(watch.choose(terms, progress), kAllOnDemand);
  EXPECT_TRUE(watch.save_helps());
  progress.saved = 50;
  DeadlineWatch after(nullptr);
  EXPECT_EQ(after.choose(terms, progress), std::nullopt);
  EXPECT_FALSE(after.save_helps());
}

// At half the speed the steps take 2000 s, so that 220 s do not fit before a deadline at 3000 s
// from 780 s on.
TEST(DeadlineWatch, BuysEarlierWhenStepsAreSlower) {
  const RunTerms terms = terms_until(3000 * kSecond);
  RunProgress progress = measured(781 * kSecond, 0);
  DeadlineWatch watch(nullptr);
  EXPECT_EQ(watch.choose(terms, progress), std::nullopt);
  progress.slowness_max = 2;
  EXPECT_EQ(watch.choose(terms, progress), kAllOnDemand);
}

// Until it is measured the speed may be at the slow end of its interval: 1250 s.
TEST(DeadlineWatch, IsPrudentBeforeTheSpeedIsMeasured) {
  const RunTerms terms = terms_until(1400 * kSecond);
  RunProgress progress = measured({}, 0);
  DeadlineWatch watch(nullptr);
  EXPECT_EQ(watch.choose(terms, progress), std::nullopt);
  progress.slowness_max.reset();
  EXPECT_EQ(watch.choose(terms, progress), kAllOnDemand);
}

// On-demand machines are released only with time for two starts of 60 s, two ticks of 60 s, and a
// margin of two ticks and two starts, 480 s, beside the 220 s.
TEST(DeadlineWatch, DoesNotSellWhatItWouldHaveToBuyAgain) {
  const RunTerms terms = terms_until(2000 * kSecond);
  DeadlineWatch watch(nullptr);
  watch.choose(terms, measured(781 * kSecond, 0));
  EXPECT_EQ(watch.choose(terms, measured(782 * kSecond, 48)), kAllOnDemand);  // A margin of 478 s.
  EXPECT_EQ(watch.choose(terms, measured(783 * kSecond, 49)), std::nullopt);  // A margin of 487 s.
}

TEST(DeadlineWatch, TellsHowLateItWillBe) {
  DeadlineWatch watch(nullptr);
  // 70 s until they train, 1000 s of steps and a checkpoint of 10 s exceed the deadline by 80 s.
  watch.choose(terms_until(1000 * kSecond), measured({}, 0));
  EXPECT_NEAR(watch.overdue().in(kSecond), 80, 1e-9);
  watch.choose(terms_until(2000 * kSecond), measured({}, 0));
  EXPECT_LT(watch.overdue(), Seconds{});
}

TEST(DeadlineWatch, FollowsThePolicyWhileThatIsSafe) {
  const RunTerms terms = terms_until(2 * kHour);
  DeadlineWatch watch(std::make_unique<SpotOnly>());
  EXPECT_EQ(watch.choose(terms, measured({}, 0)), (Holding{.spot = 2, .on_demand = 0}));
  RunProgress none = measured(2 * kMinute, 0);
  none.spot_available = 0;
  EXPECT_EQ(watch.choose(terms, none), (Holding{}));
  none.now = 100 * kMinute;
  EXPECT_EQ(watch.choose(terms, none), kAllOnDemand);
}

// The policy is asked once a tick.
TEST(DeadlineWatch, KeepsAChoiceForATick) {
  const RunTerms terms = terms_until(2 * kHour);
  DeadlineWatch watch(std::make_unique<SpotOnly>());
  watch.choose(terms, measured({}, 0));
  RunProgress none = measured(59 * kSecond, 0);
  none.spot_available = 0;
  EXPECT_EQ(watch.choose(terms, none), (Holding{.spot = 2, .on_demand = 0}));
}

}  // namespace
}  // namespace stint
