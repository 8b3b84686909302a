#include "calibrate/memory_mark_fit.h"

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

/// Marks of jobs that need 1 GB and 10 MB a sample, alone and in pairs, at batches up to 1,024.
std::vector<MemoryTrial> made_trials(const std::vector<Bytes>& memories) {
  const auto need = [](const SizedJob& job) { return 1 * kGB + job.batch * (10 * kMB); };
  std::vector<MemoryTrial> trials;
  for (const Bytes memory : memories) {
    for (int a = 16; a <= 1024; a *= 2) {
      trials.push_back({{{"net", a}}, memory, need({"net", a}) <= memory});
      for (int b = a; b <= 1024; b *= 2) {
        trials.push_back(
            {{{"net", a}, {"net", b}}, memory, need({"net", a}) + need({"net", b}) <= memory});
      }
    }
  }
  return trials;
}

// With 8 GB one net of 512 (6.1 GB) fits and two (12.2 GB) do not; two of 256 (7.1 GB) do.
TEST(LatentMemory, LearnsNeedsFromMarks) {
  const auto model = LatentMemory::fit(made_trials({4 * kGB, 12 * kGB}));
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_GT(model->probability_fits({{"net", 512}}, 8 * kGB), 0.5);
  EXPECT_LT(model->probability_fits({{"net", 512}, {"net", 512}}, 8 * kGB), 0.5);
  EXPECT_GT(model->probability_fits({{"net", 256}, {"net", 256}}, 8 * kGB), 0.5);
  EXPECT_NEAR(model->need({"net", 512}).in(kGB), 6.1, 1.2);
}

TEST(LatentMemory, MoreMemoryNeverFitsLess) {
  const auto model = LatentMemory::fit(made_trials({8 * kGB}));
  ASSERT_TRUE(model.ok());
  double last = 0;
  for (int memory = 1; memory <= 64; memory *= 2) {
    const double probability = model->probability_fits({{"net", 128}}, memory * kGB);
    EXPECT_GE(probability, last);
    last = probability;
  }
}

// Without marks a job needs 1 + 3 GB, which fits 12 GB and not 2 GB.
TEST(LatentMemory, TakesAnUnseenJobForAnAverageOne) {
  const auto model = LatentMemory::fit(made_trials({8 * kGB}));
  ASSERT_TRUE(model.ok());
  EXPECT_NEAR(model->need({"other", 7}).in(kGB), 4, 1e-9);
  EXPECT_GT(model->probability_fits({{"other", 7}}, 12 * kGB), 0.9);
  EXPECT_LT(model->probability_fits({{"other", 7}}, 2 * kGB), 0.1);
}

}  // namespace

}  // namespace stint
