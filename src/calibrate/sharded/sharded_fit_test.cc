#include "calibrate/sharded/sharded_fit.h"

#include <gtest/gtest.h>

#include "calibrate/sharded/sharded_fixture.h"

namespace stint {
namespace {

TEST(ShardedFit, FindsTheLawThatMadeTheRows) {
  ShardedLaw law;
  law.product = 0.8;
  law.launch = 1e-3;
  law.network_efficiency = 0.5;
  const auto cases = made_up_cases(law, 0.02);
  const auto model = ShardedStepModel::fit(pointers_to(cases), physical_priors());
  ASSERT_TRUE(model.ok()) << model.error().message;
  for (const ShardedCase& it : cases) {
    const ShardedStepModel::Estimate estimate = model->estimate(it);
    EXPECT_NEAR(estimate.log_time, std::log(it.row.time->in(kSecond)), 0.05) << it.row.choice;
    EXPECT_GT(estimate.deviation, 0.02);
  }
}

TEST(ShardedFit, ARowThatIsFarOffHardlyMatters) {
  auto cases = made_up_cases({}, 0);
  cases[7].row.time = 10 * *cases[7].row.time;
  const auto model = ShardedStepModel::fit(pointers_to(cases), physical_priors());
  ASSERT_TRUE(model.ok());
  EXPECT_NEAR(model->estimate(cases[0]).log_time, std::log(cases[0].row.time->in(kSecond)), 0.05);
}

TEST(ShardedFit, RowsOfOtherTablesNarrowTheBeginning) {
  const auto cases = made_up_cases({}, 0.02);
  const auto model = ShardedStepModel::fit(pointers_to(cases), physical_priors());
  ASSERT_TRUE(model.ok());
  const ShardedPriors before = physical_priors();
  const ShardedPriors after = model->carried();
  ASSERT_EQ(after.constants.size(), before.constants.size());
  int narrower = 0;
  for (std::size_t i = 0; i < before.constants.size(); ++i) {
    narrower += after.constants[i].deviation < 0.8 * before.constants[i].deviation ? 1 : 0;
  }
  EXPECT_GE(narrower, 3);
  EXPECT_EQ(after.gpus.size(), 1U);
}

TEST(ShardedFit, ACalibrationHoldsWhatWasFound) {
  const auto cases = made_up_cases({}, 0.02);
  const auto model = ShardedStepModel::fit(pointers_to(cases), physical_priors());
  ASSERT_TRUE(model.ok());
  Calibration calibration = model->to_calibration();
  calibration.name = "made-up";
  EXPECT_TRUE(validate(calibration).ok());
  const auto read = read_calibration(write_calibration(calibration), "made-up");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const auto law = sharded_law(read->noun);
  ASSERT_TRUE(law.ok());
  EXPECT_NEAR(law->product, model->law().product, 1e-6);
  const auto priors = calibrated_priors(read->noun);
  ASSERT_TRUE(priors.ok());
  const ShardedPriors carried = model->carried();
  for (std::size_t i = 0; i < carried.constants.size(); ++i) {
    EXPECT_NEAR(priors->constants[i].mean, carried.constants[i].mean, 1e-6);
    EXPECT_NEAR(priors->constants[i].deviation, carried.constants[i].deviation, 1e-6);
  }
  calibration.constants.clear();
  EXPECT_FALSE(calibrated_priors(calibration).ok());
}

}  // namespace
}  // namespace stint
