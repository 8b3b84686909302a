#include "load/constant_reader.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Calibration sample() {
  Calibration calibration{.name = "sample"};
  calibration.constants = {{.name = "start", .scope = "vm", .value = 70, .unit = "s"},
                           {.name = "start_deviation", .scope = "vm", .value = 7, .unit = "s"},
                           {.name = "disk", .scope = "vm", .value = 3e8, .unit = "byte/s"},
                           {.name = "share", .scope = "link", .value = 0.8, .unit = "1"}};
  return calibration;
}

TEST(ConstantReader, TakesConstantsByScopeNameAndUnit) {
  const Calibration calibration = sample();
  ConstantReader read(calibration);
  EXPECT_EQ(read.random_time("vm", "start").mean, 70 * kSecond);
  EXPECT_EQ(read.random_time("vm", "start").deviation, 7 * kSecond);
  EXPECT_EQ(read.rate("vm", "disk"), 3e8 * kByte / kSecond);
  EXPECT_EQ(read.number("link", "share"), 0.8);
  EXPECT_TRUE(read.status().ok());
}

TEST(ConstantReader, RemembersTheFirstThatIsWrong) {
  const Calibration calibration = sample();
  ConstantReader read(calibration);
  read.time("vm", "share");  // Of another scope.
  read.time("vm", "disk");   // In another unit.
  ASSERT_FALSE(read.status().ok());
  EXPECT_EQ(read.status().error().message,
            "the calibration 'sample' needs a constant 'share' above zero in s of the scope 'vm'");
}

}  // namespace
}  // namespace stint
