#include "plan/calibration.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Calibration sample() {
  Calibration calibration{.name = "g4dn", .date = {.year = 2026, .month = 11, .day = 1}};
  calibration.constants = {
      {.name = "latency", .scope = "fabric", .value = 2.5e-5, .unit = "s", .deviation = 1e-6},
      {.name = "straggling",
       .scope = "population",
       .value = 0.1,
       .unit = "1",
       .identified = false}};
  calibration.covariance = {{1e-12}};
  return calibration;
}

TEST(Calibration, ReadsWhatItWrites) {
  const std::string text = write_calibration(sample());
  const auto loaded = read_calibration(text, "c.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(write_calibration(loaded->noun), text);
  EXPECT_EQ(loaded->noun.constants[0].value, 2.5e-5);
}

TEST(Calibration, RefusesWhatContradictsItself) {
  Calibration wrong = sample();
  wrong.covariance = {{1, 2}, {3, 4}};
  EXPECT_EQ(validate(wrong).error().message,
            "calibration: covariance must have 1 rows of 1 numbers, one for each identified "
            "constant that is not of a single job");
  wrong = sample();
  wrong.constants.push_back(wrong.constants[0]);
  EXPECT_EQ(validate(wrong).error().message,
            "calibration: the constant latency of fabric appears twice");
}

}  // namespace
}  // namespace stint
