#include "run/rehearsal.h"

#include <chrono>
#include <gtest/gtest.h>

namespace stint {
namespace {

/// Two machines, 1 USD/h each, 100 steps of 10 s.
RunTerms two_machines(Market market) {
  RunTerms terms;
  for (int i = 0; i < 2; ++i) {
    terms.slots.push_back(
        {.market = market, .spot = 1 * kDollar / kHour, .on_demand = 3 * kDollar / kHour});
  }
  terms.steps = 100;
  terms.step_time = [](std::span<const int> slots) {
    return 20.0 / static_cast<double>(slots.size()) * kSecond;
  };
  return terms;
}

// The machines are up after 40 s and train after another 20 s, 100 steps of 10 s end at 1060 s, and
// the last save is safe at 1070 s. Two machines cost 1 USD/h each from 40 s on: 1030 s are
// 2060 / 3600 = 0.5722 USD, of which 20 s are the start, 1000 s training, 10 s standing still.
TEST(Rehearsal, WithoutLossesCostsWhatIsAddedUpByHand) {
  const Forecast forecast = rehearse(two_machines(Market::kSpot), {}, {}, {.runs = 3});
  EXPECT_NEAR(forecast.time.mean.in(kSecond), 1070, 1e-6);
  EXPECT_NEAR(forecast.cost.p90.in(kDollar), 2060.0 / 3600, 1e-9);
  EXPECT_NEAR(forecast.parts.training.in(kDollar), 2000.0 / 3600, 1e-9);
  EXPECT_NEAR(forecast.parts.starting.in(kDollar), 40.0 / 3600, 1e-9);
  EXPECT_NEAR(forecast.parts.standing.in(kDollar), 20.0 / 3600, 1e-9);
  EXPECT_EQ(forecast.trained, 1);
  EXPECT_EQ(forecast.losses, 0);
}

TEST(Rehearsal, Speed) {
  RunTerms terms = two_machines(Market::kSpot);
  terms.steps = 1000;
  const auto begin = std::chrono::steady_clock::now();
  const Forecast forecast = rehearse(terms,
                                     {.loss = 1.0 / (30 * kMinute),
                                      .notice = 2 * kMinute,
                                      .slowness_deviation = 0.1,
                                      .step_noise = 0.05},
                                     {}, {.runs = 300});
  const auto end = std::chrono::steady_clock::now();
  fmt::print("{} s: time {} {} {} cost {} {} {} trained {} losses {} parts {} {} {} {} {}\n",
             std::chrono::duration<double>(end - begin).count(), forecast.time.p10.in(kHour),
             forecast.time.p50.in(kHour), forecast.time.p90.in(kHour),
             forecast.cost.p10.in(kDollar), forecast.cost.p50.in(kDollar),
             forecast.cost.p90.in(kDollar), forecast.trained, forecast.losses,
             forecast.parts.training.in(kDollar), forecast.parts.redone.in(kDollar),
             forecast.parts.starting.in(kDollar), forecast.parts.standing.in(kDollar),
             forecast.parts.keeping.in(kDollar));
}

}  // namespace
}  // namespace stint
