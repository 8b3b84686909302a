#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/device/device_table.h"

namespace stint {

/// Two GPUs, of which the second has twice of everything.
inline Catalog two_gpus() {
  const auto gpu = [](const char* name, double times) {
    return Gpu{.name = name,
               .architecture = "Ampere",
               .memory = 24 * kGB,
               .memory_bandwidth = times * 500 * kGB / kSecond,
               .fp32 = times * 10 * kTeraflop / kSecond,
               .fp16 = times * 100 * kTeraflop / kSecond};
  };
  return {.gpus = {gpu("A10", 1), gpu("A40", 2)}};
}

inline void add_text(DeviceTable& table, const std::string& text, TableRole role) {
  const auto csv = Csv::parse(text, "t.csv");
  ASSERT_TRUE(csv.ok()) << csv.error().message;
  const Status added = table.add(*csv, "t.csv", role);
  ASSERT_TRUE(added.ok()) << added.error().message;
}

/// Training on all rows but those of test files, which are predicted.
inline std::vector<DeviceForecast> forecast_tests(const DeviceTable& table,
                                                  const std::string& model = "") {
  Fold fold;
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    (table.rows()[i].role == TableRole::kTest ? fold.test : fold.train).push_back(i);
  }
  const auto forecasts = table.forecast(fold, model);
  EXPECT_TRUE(forecasts.ok()) << forecasts.error().message;
  return forecasts.ok() ? *forecasts : std::vector<DeviceForecast>(fold.test.size());
}

}  // namespace stint
