#include "app/calibrate/calibrate_prices.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>

#include "base/date.h"
#include "base/file.h"
#include "load/predict_inputs.h"
#include "risk/price_drift.h"

namespace stint {
namespace {

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_calibrate_prices";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

/// A price that rises by 1 % a day, for 40 days of 2020.
std::string rising() {
  std::string text = "instance_type,region,date_mdy,spot_usd_per_h\n";
  for (int day = 0; day < 40; ++day) {
    text += fmt::format("t,r,{}/{}/2020,{}\n", day < 31 ? 1 : 2, day < 31 ? day + 1 : day - 30,
                        std::pow(1.01, day));
  }
  return text;
}

Environment environment() {
  Environment it;
  it.clock = std::make_shared<FixedClock>(*parse_instant("2026-11-15"));
  return it;
}

TEST(CalibratePrices, KeepsPriorsAndSaysWhatWasFitted) {
  const CalibrateRequest request{.train = {file("rising.csv", rising())},
                                 .name = "mine",
                                 .provenance = "made up",
                                 .out = file("mine.json", "")};
  const auto calibration = calibrate_prices(environment(), request);
  ASSERT_TRUE(calibration.ok()) << calibration.error().message;
  EXPECT_EQ(calibration->name, "mine");
  EXPECT_EQ(to_text(calibration->date), "2026-11-15");
  EXPECT_EQ(calibration->data.front().provenance,
            "made up (1 pools, 2020-01-01 to 2020-02-09; changes over up to 10 days)");
  EXPECT_EQ(calibration->data.front().rows, 40);
  const auto kept = load_calibration(request.out);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  const auto law = read_price_law(kept->noun);
  ASSERT_TRUE(law.ok()) << law.error().message;
  const auto shipped = load_price_law();
  ASSERT_TRUE(shipped.ok()) << shipped.error().message;
  EXPECT_EQ(law->spot.limit, shipped->spot.limit);
  EXPECT_EQ(law->on_demand.variance_rate, shipped->on_demand.variance_rate);
  EXPECT_NE(law->spot.variance_rate, shipped->spot.variance_rate);
}

TEST(CalibratePrices, RefusesOtherTablesAndTooFewRows) {
  EXPECT_FALSE(
      calibrate_prices(environment(), {.train = {file("o.csv", "a\n1\n")}, .name = "x"}).ok());
  const auto few = calibrate_prices(
      environment(),
      {.train = {file("f.csv", "instance_type,region,date_mdy,spot_usd_per_h\nt,r,1/1/2020,1\n")},
       .name = "x"});
  ASSERT_FALSE(few.ok());
  EXPECT_NE(few.error().message.find("too few"), std::string::npos);
}

}  // namespace
}  // namespace stint
