#include "calibrate/scaling/scaling_fit.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"
#include "calibrate/scaling/scaling_fixture.h"

namespace stint {
namespace {

ScalingPriors test_priors() {
  const auto priors = scaling_priors(scaling_calibration(), "test");
  CHECK(priors.ok());
  return *priors;
}

constexpr ScalingLaw kMadeUp{.per_sample = 2 * kMillisecond,
                             .floor = 3,
                             .crossing = 0.03,
                             .growth = 0.004,
                             .exposed = 1.2,
                             .wire_growth = 0.02};

ScalingRow measured(ScalingRow row, double factor = 1) {
  row.time = factor * scaled_step_time(kMadeUp, scaling_setup(row, test_priors()));
  return row;
}

/// Three owners on one to four VMs, at several batches.
std::vector<ScalingRow> small_clusters() {
  std::vector<ScalingRow> rows;
  for (const char* owner : {"a", "b", "c"}) {
    for (const int workers : {4, 8, 16, 32}) {
      for (const double each : {8, 32, 64}) {
        rows.push_back(measured(scaling_row("bert", workers, workers * each, owner)));
      }
    }
  }
  return rows;
}

ScalingModel fitted(const std::vector<ScalingRow>& rows) {
  auto model = ScalingModel::fit(rows, test_priors());
  CHECK(model.ok());
  return std::move(*model);
}

// The rows are of a made-up law without noise, so that larger clusters follow it.
TEST(ScalingModel, RecoversAMadeUpLawOnLargerClusters) {
  const ScalingModel model = fitted(small_clusters());
  for (const int workers : {64, 256, 1024}) {
    const ScalingRow row = scaling_row("bert", workers, workers * 16.0);
    const Seconds truth = *measured(row).time;
    const Forecast forecast = model.estimate(row);
    ASSERT_TRUE(forecast.time);
    EXPECT_NEAR(*forecast.time / truth, 1, 0.03) << workers;
    EXPECT_LT(*forecast.p10, truth);
    EXPECT_GT(*forecast.p90, truth);
  }
}

TEST(ScalingModel, TheTimeOfARowToPredictIsNotUsed) {
  const ScalingModel model = fitted(small_clusters());
  const ScalingRow row = scaling_row("bert", 64, 1024);
  const Forecast without = model.estimate(row);
  const Forecast with = model.estimate(measured(row, 100));
  EXPECT_EQ(without.time, with.time);
}

TEST(ScalingModel, AnOwnerWithoutRowsHasAWiderInterval) {
  const ScalingModel model = fitted(small_clusters());
  const Forecast known = model.estimate(scaling_row("bert", 64, 1024, "a"));
  const Forecast unknown = model.estimate(scaling_row("bert", 64, 1024, "z"));
  EXPECT_GT(*unknown.p90 / *unknown.p10, 1.1 * (*known.p90 / *known.p10));
}

// One slow owner: its own rows decide about its speed, those of others about how it scales.
TEST(ScalingModel, ASeriesTakesItsSpeedFromItselfAndItsScalingFromOthers) {
  std::vector<ScalingRow> rows = small_clusters();
  rows.push_back(measured(scaling_row("bert", 8, 256, "slow"), 1.25));
  const ScalingModel model = fitted(rows);
  const ScalingRow row = scaling_row("bert", 64, 2048, "slow");
  EXPECT_NEAR(*model.estimate(row).time / *measured(row).time, 1.25, 0.06);
}

// Never shorter with more samples on the same cluster, never a higher rate per worker on more VMs.
TEST(ScalingModel, PredictionsAreMonotone) {
  constexpr int kSeed = 7;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  std::vector<ScalingRow> rows = small_clusters();
  for (ScalingRow& row : rows) row.time = random.uniform(0.9, 1.1) * *row.time;
  const ScalingModel model = fitted(rows);
  for (int i = 0; i < 200; ++i) {
    const int workers = 8 << static_cast<int>(random.uniform(0, 7));
    const double each = std::floor(random.uniform(1, 100));
    const Seconds time = *model.estimate(scaling_row("bert", workers, workers * each)).time;
    const Seconds more = *model.estimate(scaling_row("bert", workers, workers * (each + 1))).time;
    const Seconds twice =
        *model.estimate(scaling_row("bert", 2 * workers, 2 * workers * each)).time;
    EXPECT_GT(more, time);
    EXPECT_GE(twice, time);
  }
}

TEST(ScalingModel, RowsThatCannotBeUsedAreNotFitted) {
  std::vector<ScalingRow> rows = small_clusters();
  ScalingRow odd = measured(scaling_row("bert", 8, 256), 1000);
  odd.unusable = "nodes is blank";
  rows.push_back(odd);
  ScalingRow unmeasured = scaling_row("bert", 8, 256);
  rows.push_back(unmeasured);
  EXPECT_EQ(fitted(rows).estimate(unmeasured).time,
            fitted(small_clusters()).estimate(unmeasured).time);
  EXPECT_EQ(fitted(rows).estimate(odd).note, "nodes is blank");
}

TEST(ScalingModel, AJobWithoutRowsHasANote) {
  const Forecast forecast = fitted(small_clusters()).estimate(scaling_row("ssd", 8, 256));
  EXPECT_FALSE(forecast.time);
  EXPECT_EQ(forecast.note, "there is no training data for ssd");
  EXPECT_FALSE(fitted({}).estimate(scaling_row("ssd", 8, 256)).time);
}

// Four models whose step is in proportion to parameters and tokens tell that of a fifth.
TEST(ScalingModel, AnUnseenModelIsPredictedFromItsSize) {
  std::vector<ScalingRow> rows;
  const auto sized = [](const std::string& job, double parameters) {
    ScalingRow row = scaling_row(job, 64, 128);
    row.parameters = parameters;
    row.tokens = 4096;
    return row;
  };
  for (const double billions : {5.0, 15.0, 70.0, 340.0}) {
    rows.push_back(sized(std::to_string(billions), 1e9 * billions));
    rows.back().time = billions * kSecond;
  }
  const Forecast forecast = fitted(rows).estimate(sized("new", 30e9));
  ASSERT_TRUE(forecast.time);
  EXPECT_NEAR(forecast.time->in(kSecond), 30, 6);
  EXPECT_LT(forecast.p10->in(kSecond), 30);
  EXPECT_GT(forecast.p90->in(kSecond), 30);
}

// Twelve models in proportion to their size, and twelve that scatter about it by a factor of 1.5:
// the intervals of an unseen model are as wide as the errors of models that were held out.
TEST(ScalingModel, TheWidthOfUnseenModelsIsLearned) {
  const auto width = [](double scatter) {
    std::vector<ScalingRow> rows;
    for (int i = 1; i <= 12; ++i) {
      ScalingRow& row = rows.emplace_back(scaling_row(std::to_string(i), 64, 128));
      row.parameters = i * 1e9;
      row.tokens = 4096;
      row.time = i * (i % 2 == 0 ? scatter : 1) * kSecond;
    }
    ScalingRow unseen = scaling_row("new", 64, 128);
    unseen.parameters = 5e9;
    unseen.tokens = 4096;
    const Forecast forecast = fitted(rows).estimate(unseen);
    CHECK(forecast.time.has_value());
    return std::log(*forecast.p90 / *forecast.p10);
  };
  EXPECT_LT(width(1), 0.5);
  EXPECT_GT(width(1.5), 1.5 * width(1));
}

}  // namespace
}  // namespace stint
