#include "measure/tables/advisor_table.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr const char* kHead = "region,instance_type,savings_pct,interruption_monthly_pct_range\n";

TEST(AdvisorTable, ReadsBands) {
  const auto rows = read_advised_bands(
      std::string(kHead) + "r1,a.large,70,<5\nr1,b.large,60,5-10\nr2,a.large,50,>20\n", "a.csv");
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 3U);
  EXPECT_EQ((*rows)[0].band.monthly_min, 0);
  EXPECT_EQ((*rows)[0].band.monthly_max, 0.05);
  EXPECT_EQ((*rows)[1].vm, "b.large");
  EXPECT_EQ((*rows)[1].band.monthly_min, 0.05);
  EXPECT_EQ((*rows)[1].band.monthly_max, 0.1);
  EXPECT_EQ((*rows)[2].region, "r2");
  EXPECT_EQ((*rows)[2].band.monthly_min, 0.2);
  EXPECT_FALSE((*rows)[2].band.monthly_max);
}

TEST(AdvisorTable, SaysWhichRangeCannotBeRead) {
  for (const char* range : {"", "often", "10-5", ">200", "5-", "<x"}) {
    const auto rows =
        read_advised_bands(std::string(kHead) + "r1,a.large,70," + range + "\n", "a.csv");
    ASSERT_FALSE(rows.ok()) << range;
    EXPECT_NE(rows.error().message.find("must be a range like <5, 5-10 or >20"), std::string::npos);
  }
  EXPECT_FALSE(read_advised_bands("a,b\n1,2\n", "a.csv").ok());
}

}  // namespace
}  // namespace stint
