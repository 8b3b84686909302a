#include "calibrate/sharded/unseen_tables.h"

#include <cmath>
#include <gtest/gtest.h>

#include "calibrate/sharded/sharded_fixture.h"

namespace stint {
namespace {

// Two publishers measure the same trainings, the second 1.4 times as slow: held out, each is off by
// about ln 1.4 = 0.34, in opposite directions.
TEST(UnseenTables, FindsHowFarPublishersAreApart) {
  auto cases = made_up_cases({}, 0);
  const std::size_t own = cases.size();
  for (std::size_t i = 0; i < own; ++i) {
    ShardedCase slower = cases[i];
    slower.row.table = "another";
    slower.row.time = 1.4 * *slower.row.time;
    cases.push_back(std::move(slower));
  }
  const auto model = ShardedStepModel::fit(pointers_to(cases), physical_priors());
  ASSERT_TRUE(model.ok()) << model.error().message;
  const auto found = unseen_tables(pointers_to(cases), *model);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->tables, 2);
  EXPECT_NEAR(found->spread, std::log(1.4), 0.1);
  EXPECT_NEAR(found->mean, 0, 0.1);
}

TEST(UnseenTables, SayNothingOfASinglePublisher) {
  const auto cases = made_up_cases({}, 0);
  const auto model = ShardedStepModel::fit(pointers_to(cases), physical_priors());
  ASSERT_TRUE(model.ok()) << model.error().message;
  const auto found = unseen_tables(pointers_to(cases), *model);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->tables, 0);
}

}  // namespace
}  // namespace stint
