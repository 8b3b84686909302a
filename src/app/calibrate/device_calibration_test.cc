// The shipped constants for devices are those that the fit finds in the published tables.
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

#include "base/file.h"
#include "calibrate/device_fit.h"
#include "load/catalog_cases.h"
#include "load/predict_inputs.h"
#include "measure/tables/step_formats.h"

namespace stint {
namespace {

std::vector<StepRow> rows_of(StepFormat format, const std::string& path) {
  const auto text = read_file(path);
  CHECK(text.ok());
  auto rows = read_steps(format, *text, path);
  CHECK(rows.ok());
  return std::move(*rows);
}

TEST(DeviceCalibration, IsWhatTheFitFindsInThePublishedTables) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set";
  const std::string folder = data;
  std::vector<StepRow> rows = rows_of(StepFormat::kGavel, folder + "/gavel/isolated.csv");
  for (const char* name : {"single_worker_base", "single_worker_speed"}) {
    const auto more = rows_of(StepFormat::kCmdare, folder + "/cmdare/" + name + ".csv");
    rows.insert(rows.end(), more.begin(), more.end());
  }
  const Catalog catalog = bundled_catalog();
  const auto pairs = device_pairs(rows, catalog);
  const auto fit = fit_devices(pairs);
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  const auto shipped = load_calibration("devices");
  ASSERT_TRUE(shipped.ok()) << shipped.error().message;
  const auto law = device_law(shipped->noun);
  ASSERT_TRUE(law.ok());
  const std::string found = write_calibration(to_calibration(*fit, "devices"));
  EXPECT_NEAR(law->compute_share, fit->law.compute_share, 0.005) << found;
  EXPECT_NEAR(law->spread, fit->law.spread, 0.005) << found;
  ASSERT_EQ(shipped->noun.accuracy.size(), 1U) << found;
  EXPECT_EQ(shipped->noun.accuracy[0].n, static_cast<int>(fit->pairs));
  EXPECT_NEAR(shipped->noun.accuracy[0].mape, fit->error_mean, 0.005) << found;
}

}  // namespace
}  // namespace stint
