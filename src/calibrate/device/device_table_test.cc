#include "calibrate/device/device_table.h"

#include <gtest/gtest.h>
#include <set>

namespace stint {
namespace {

TEST(DeviceTable, EveryFormatHasATable) {
  const Catalog nothing;
  for (const auto& [format, name] : names_of(DeviceTableFormat{})) {
    const auto table = make_device_table(format, nothing);
    ASSERT_NE(table, nullptr) << name;
    EXPECT_TRUE(table->rows().empty()) << name;
  }
}

TEST(DeviceTable, ListsEachBaselineOnce) {
  const std::vector<std::string> all = device_baselines();
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_GE(all.size(), 4U);
}

}  // namespace
}  // namespace stint
