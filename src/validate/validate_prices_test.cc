#include "validate/validate_prices.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/random.h"

namespace stint {
namespace {

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_prices_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

constexpr const char* kHeader = "instance_type,zone,time_utc,spot_usd_per_h\n";

/// Random walks of `pools` pools in a region, one price a day of January to March.
std::string walks(const std::string& region, int pools, std::uint64_t seed) {
  Random random(seed);
  std::string rows;
  for (int pool = 0; pool < pools; ++pool) {
    double log_price = 0;
    for (int day = 0; day < 84; ++day) {
      rows += fmt::format("t{},{}a,2019-{:02}-{:02}T00:00:00.000Z,{}\n", pool, region, day / 28 + 1,
                          day % 28 + 1, std::exp(log_price));
      log_price += 0.02 * random.normal();
    }
  }
  return rows;
}

// The middle of 1 January to 28 March, 86 days, is 13 February: 28 + 12 of the 84 prices of each of
// 40 pools are before it, and the other 44 are predicted from them; the law is that of the rows, so
// that its intervals hold four in five of them. Walks of one pool are correlated, so that the share
// is not sharp.
TEST(ValidatePrices, IntervalsHoldFourInFiveLaterPrices) {
  const auto report = validate_prices(
      {.train = {file("walks.csv", kHeader + walks("r-1", 40, 3))}, .split = "dates"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const Validation& found = report->validation;
  EXPECT_EQ(found.overall.n, 40 * 44);
  EXPECT_NEAR(*found.overall.coverage80, 0.8, 0.1);
  EXPECT_EQ(found.groups.size(), 3U);
  EXPECT_LT(found.groups.at("price up to a week old").median_ape,
            found.groups.at("price over four weeks old").median_ape);
  ASSERT_EQ(report->predictions.size(), 40U * 44);
  EXPECT_EQ(report->predictions.front().row, 40U);
}

TEST(ValidatePrices, TheFirstPriceOfAnUnknownPoolIsNotPredicted) {
  const auto report = validate_prices(
      {.train = {file("train.csv", kHeader + walks("r-1", 5, 3))},
       .test = {file("test.csv", std::string(kHeader) + "new,r-2a,2020-05-08T00:00:00Z,3\n"
                                                        "new,r-2a,2020-05-01T00:00:00Z,2\n"
                                                        "t0,r-1a,2019-04-01T00:00:00Z,1\n")}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->predictions.size(), 3U);
  EXPECT_EQ(report->predictions[0].predicted, 2);
  EXPECT_LT(*report->predictions[0].p10, 2);
  // Factors up and down are the same.
  EXPECT_NEAR(*report->predictions[0].p10 * *report->predictions[0].p90, 4, 1e-9);
  EXPECT_FALSE(report->predictions[1].predicted.has_value());
  EXPECT_EQ(report->predictions[1].note, "no earlier price of its pool is known");
  EXPECT_TRUE(report->predictions[2].predicted.has_value());
  EXPECT_EQ(report->validation.overall.n, 2);
  EXPECT_EQ(report->validation.overall.skipped, 1);
}

TEST(ValidatePrices, RegionsArePredictedFromEachOther) {
  const std::string table = file("two.csv", kHeader + walks("r-1", 5, 3) + walks("r-2", 5, 4));
  const auto report = validate_prices({.train = {table}, .split = "regions"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.skipped, 10);
  const auto one = validate_prices(
      {.train = {file("one.csv", kHeader + walks("r-1", 5, 3))}, .split = "regions"});
  ASSERT_FALSE(one.ok());
  EXPECT_NE(one.error().message.find("one region only"), std::string::npos);
}

TEST(ValidatePrices, RefusesWhatCannotBeSplit) {
  EXPECT_FALSE(validate_prices({.train = {}, .split = "dates"}).ok());
  EXPECT_FALSE(validate_prices({.train = {"nowhere.csv"}, .split = "dates"}).ok());
  EXPECT_FALSE(
      validate_prices({.train = {file("few.csv", std::string(kHeader) + "t,z,2020-01-01,1\n")},
                       .split = "dates"})
          .ok());
}

}  // namespace
}  // namespace stint
