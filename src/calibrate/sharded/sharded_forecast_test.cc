#include "calibrate/sharded/sharded_forecast.h"

#include <gtest/gtest.h>

#include "calibrate/sharded/sharded_fixture.h"

namespace stint {
namespace {

/// The last 16 cases are those of one model.
struct Parts {
  explicit Parts(const std::vector<ShardedCase>& cases) {
    for (const ShardedCase& it : cases) {
      (it.row.shape.layers == 32 ? test : train).push_back(&it);
    }
  }
  CasePointers train;
  CasePointers test;
};

TEST(ShardedForecast, PredictsAModelThatWasNotSeen) {
  const auto cases = made_up_cases({}, 0.04);
  const Parts parts(cases);
  const auto model = ShardedForecaster::fit(parts.train, parts.test, physical_priors());
  ASSERT_TRUE(model.ok()) << model.error().message;
  int inside = 0;
  for (const ShardedCase* it : parts.test) {
    const Forecast forecast = model->forecast(*it);
    ASSERT_TRUE(forecast.time);
    EXPECT_NEAR(*forecast.time / *it->row.time, 1, 0.12) << it->row.choice;
    EXPECT_LT(*forecast.p10, *forecast.time);
    EXPECT_GT(*forecast.p90, *forecast.time);
    inside += *it->row.time > *forecast.p10 && *it->row.time < *forecast.p90 ? 1 : 0;
  }
  EXPECT_GE(inside, 10);
}

TEST(ShardedForecast, ToldOfNothingButTheReason) {
  auto cases = made_up_cases({}, 0);
  cases.back().row.unusable = "broken";
  const Parts parts(cases);
  const auto model = ShardedForecaster::fit(parts.train, parts.test, physical_priors());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->forecast(cases.back()).note, "broken");
}

TEST(ShardedForecast, SaysWhatIsNewInARow) {
  const auto cases = made_up_cases({}, 0);
  const CasePointers all = pointers_to(cases);
  ShardedRow row = cases.front().row;
  EXPECT_EQ(novelty_of(row, all), Novelty::kNone);
  row.sequence = 4096;
  EXPECT_EQ(novelty_of(row, all), Novelty::kSequence);
  row.gpus = 1024;
  EXPECT_EQ(novelty_of(row, all), Novelty::kWorkers);
  row.software = "new";
  EXPECT_EQ(novelty_of(row, all), Novelty::kSoftware);
  row.job = "new";
  EXPECT_EQ(novelty_of(row, all), Novelty::kJob);
  row.gpu = "new";
  EXPECT_EQ(novelty_of(row, all), Novelty::kGpu);
}

}  // namespace
}  // namespace stint
