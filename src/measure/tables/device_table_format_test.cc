#include "measure/tables/device_table_format.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(DeviceTableFormat, HasTheNamesThatTheCommandLineTakes) {
  EXPECT_STREQ(name_of(DeviceTableFormat::kNeusight), "neusight");
  EXPECT_STREQ(name_of(DeviceTableFormat::kMlperf), "mlperf");
  EXPECT_EQ(names_of(DeviceTableFormat{}).size(), 4U);
}

}  // namespace
}  // namespace stint
