#include "calibrate/mark_score.h"

#include <gtest/gtest.h>
#include <vector>

namespace stint {
namespace {

// Of four that fit three are found, of one that does not none: 3/5 right, and
// (3/4 + 0)/2 = 0.375 in balance.
TEST(MarkScore, CountsBothKindsAlikeInBalance) {
  const std::vector<ScoredMark> marks{{"a", true, true},
                                      {"a", true, true},
                                      {"a", true, true},
                                      {"a", false, true},
                                      {"a", true, false}};
  const Score score = score_marks(marks);
  EXPECT_EQ(score.n, 5);
  EXPECT_DOUBLE_EQ(*score.accuracy, 0.6);
  EXPECT_DOUBLE_EQ(*score.balanced_accuracy, 0.375);
  EXPECT_DOUBLE_EQ(score.mape, 0.4);
  EXPECT_DOUBLE_EQ(score.median_ape, 0);
  EXPECT_DOUBLE_EQ(score.p90_ape, 1);
}

TEST(MarkScore, HasNoBalanceOfOneKind) {
  const std::vector<ScoredMark> marks{{"a", true, true}};
  EXPECT_FALSE(score_marks(marks).balanced_accuracy.has_value());
  EXPECT_FALSE(score_marks({}).accuracy.has_value());
}

// Group a has accuracy 1 and balance 1, group b accuracy 0 and none: means 1/2 and 1.
TEST(MarkScore, GroupsCountAlikeInTheMean) {
  const std::vector<ScoredMark> marks{
      {"a", true, true}, {"a", false, false}, {"a", true, true}, {"b", false, true}};
  const auto groups = score_marks_by_group(marks);
  ASSERT_EQ(groups.size(), 2U);
  const Score mean = mean_mark_score(groups);
  EXPECT_EQ(mean.n, 4);
  EXPECT_DOUBLE_EQ(*mean.accuracy, 0.5);
  EXPECT_DOUBLE_EQ(*mean.balanced_accuracy, 1);
  EXPECT_DOUBLE_EQ(mean.mape, 0.5);
}

}  // namespace
}  // namespace stint
