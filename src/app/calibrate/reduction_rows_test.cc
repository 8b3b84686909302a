#include "app/calibrate/reduction_rows.h"

#include <gtest/gtest.h>

#include "load/bundled.h"
#include "load/catalog_cases.h"

namespace stint {
namespace {

Catalog catalog() { return load_catalog({})->noun; }

// local.small has 100 Mbit/s and local.large 500: the slowest is the former. The median of 1, 2 and
// 4 s is 2 s; the deviations from it are 1, 0 and 2 s, the middle one of which is 1 s.
TEST(ReductionRows, KnowTheNicsOfTheVmsThatTookPart) {
  const MeasuredReduction reduction{.cluster = *parse_cluster("2x local.small + 2x local.large"),
                                    .vms = {1, 2},
                                    .bytes = 5 * kMB,
                                    .rounds = {{1 * kSecond, 2 * kSecond}, {4 * kSecond}}};
  const auto rows = reduction_rows({reduction}, catalog());
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 1U);
  const ReductionRow& row = rows->front();
  EXPECT_EQ(row.vms, 2);
  EXPECT_EQ(row.bytes, 5 * kMB);
  EXPECT_DOUBLE_EQ(row.slowest.in(kMbit / kSecond), 100);
  EXPECT_DOUBLE_EQ(row.total.in(kMbit / kSecond), 600);
  EXPECT_EQ(row.time, 2 * kSecond);
  EXPECT_NEAR(row.deviation, 1.4826 / 2, 1e-9);
}

TEST(ReductionRows, ATypeMustBeInTheCatalogue) {
  const MeasuredReduction reduction{.cluster = *parse_cluster("2x local.nothing"),
                                    .vms = {0, 1},
                                    .bytes = 5 * kMB,
                                    .rounds = {{1 * kSecond}}};
  EXPECT_FALSE(reduction_rows({reduction}, catalog()).ok());
}

}  // namespace
}  // namespace stint
