#include "measure/sharded/sharded_table.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(ShardedTable, RefusesATableWithoutItsColumns) {
  const auto rows = read_sharded(ShardedFormat::kVtrain, "a,b\n1,2\n", "t.csv");
  ASSERT_FALSE(rows.ok());
  EXPECT_NE(rows.error().message.find("tp"), std::string::npos);
}

TEST(ShardedTable, EveryFormatHasAName) {
  const auto names = names_of(ShardedFormat{});
  EXPECT_EQ(names.size(), 10U);
  for (const auto& [format, name] : names) {
    EXPECT_FALSE(read_sharded(format, "a,b\n1,2\n", "t.csv").ok()) << name;
  }
}

}  // namespace
}  // namespace stint
