#include "measure/tables/price_table.h"

#include <gtest/gtest.h>

#include "base/date.h"

namespace stint {
namespace {

constexpr const char* kAws = "instance_type,zone,time_utc,spot_usd_per_h\n";
constexpr const char* kAzure = "instance_type,region,date_mdy,spot_usd_per_h\n";

TEST(PriceTable, ReadsBothShapes) {
  const auto aws = read_price_rows(
      std::string(kAws) + "p3.2xlarge,us-east-1b,2020-01-02T03:04:05.000Z,0.9314\n", "a.csv");
  ASSERT_TRUE(aws.ok()) << aws.error().message;
  EXPECT_EQ(aws->front(),
            (PriceRow{"p3.2xlarge", "us-east-1b", *parse_instant("2020-01-02T03:04:05Z"),
                      0.9314 * kDollar / kHour}));
  const auto azure =
      read_price_rows(std::string(kAzure) + "Standard_NC6,us_east,2/4/2020,0.12\n", "z.csv");
  ASSERT_TRUE(azure.ok()) << azure.error().message;
  EXPECT_EQ(azure->front(), (PriceRow{"Standard_NC6", "us_east", *parse_instant("2020-02-04"),
                                      0.12 * kDollar / kHour}));
}

TEST(PriceTable, ZonesOfARegionShareIt) {
  EXPECT_EQ(region_of({.type = "t", .zone = "us-east-1b"}), "us-east-1");
  EXPECT_EQ(region_of({.type = "t", .zone = "us_east"}), "us_east");
  EXPECT_EQ(pool_of({.type = "t", .zone = "us_east"}), "t us_east");
}

TEST(PriceTable, SaysWhatIsWrongAndWhere) {
  const auto error = [](const std::string& text) {
    const auto rows = read_price_rows(text, "a.csv");
    return rows.ok() ? "" : rows.error().message;
  };
  EXPECT_EQ(error(std::string(kAws) + "t,z,yesterday,1\n"),
            "a.csv:2: column time_utc: must be a time such as 2020-01-31T23:47:44Z, not "
            "'yesterday'");
  EXPECT_EQ(error(std::string(kAzure) + "t,z,13/1/2020,1\n"),
            "a.csv:2: column date_mdy: must be a time such as 1/31/2020, not '13/1/2020'");
  EXPECT_EQ(error(std::string(kAzure) + "t,,1/1/2020,1\n"),
            "a.csv:2: column region: must not be empty");
  EXPECT_FALSE(read_price_rows(std::string(kAws) + "t,z,2020-01-01,-1\n", "a.csv").ok());
  EXPECT_EQ(error("a,b\n1,2\n"),
            "a.csv: its header has neither time_utc nor date_mdy, so it is not a table of dated "
            "prices");
}

}  // namespace
}  // namespace stint
