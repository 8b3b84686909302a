#include "load/sharded_tables.h"

#include <gtest/gtest.h>

#include "load/catalog_cases.h"

namespace stint {
namespace {

TEST(ShardedTables, WordsNameAFormat) {
  const auto found = read_sharded_words("--prior", {"steps.csv"}, bundled_catalog());
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("--prior must be FORMAT=FILE"), std::string::npos);
  EXPECT_FALSE(read_sharded_words("--prior", {"vtrain=/nowhere.csv"}, bundled_catalog()).ok());
}

TEST(ShardedTables, WithoutRowsThereIsPhysicsAlone) {
  const auto priors = learned_priors({});
  ASSERT_TRUE(priors.ok());
  EXPECT_EQ(priors->constants.size(), physical_priors().constants.size());
}

}  // namespace
}  // namespace stint
