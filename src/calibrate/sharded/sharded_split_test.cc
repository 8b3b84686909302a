#include "calibrate/sharded/sharded_split.h"

#include <gtest/gtest.h>

#include "calibrate/sharded/sharded_fixture.h"

namespace stint {
namespace {

std::vector<Fold> folds_of(const std::string& text, const std::vector<ShardedCase>& cases) {
  const auto split = parse_sharded_split(text);
  EXPECT_TRUE(split.ok()) << text;
  return folds(*split, cases);
}

TEST(ShardedSplit, HoldsOutEachValueInTurn) {
  auto cases = made_up_cases({}, 0);
  const auto by_layers = folds_of("leave-one-layers-out", cases);
  ASSERT_EQ(by_layers.size(), 4U);
  for (const Fold& fold : by_layers) {
    EXPECT_EQ(fold.test.size(), 16U);
    EXPECT_EQ(fold.train.size(), 48U);
    for (const std::size_t i : fold.test) {
      EXPECT_EQ(cases[i].row.job, cases[fold.test.front()].row.job);
    }
  }
  EXPECT_EQ(folds_of("leave-one-job-out", cases).size(), 4U);
  EXPECT_EQ(folds_of("folds=5", cases).size(), 5U);
  EXPECT_TRUE(folds_of("leave-one-hidden-out", cases).empty());  // There is one.
  cases[0].row.unusable = "broken";
  EXPECT_EQ(folds_of("leave-one-job-out", cases)[3].test.size() +
                folds_of("leave-one-job-out", cases)[3].train.size(),
            63U);
}

TEST(ShardedSplit, HoldsOutLargeOnes) {
  auto cases = made_up_cases({}, 0);
  cases[3].row.sequence = 8192;
  const auto large = folds_of("max-gpus=8", cases);
  ASSERT_EQ(large.size(), 1U);
  for (const std::size_t i : large[0].test) EXPECT_GT(cases[i].row.gpus, 8);
  for (const std::size_t i : large[0].train) EXPECT_LE(cases[i].row.gpus, 8);
  EXPECT_EQ(folds_of("max-seq=4096", cases)[0].test, std::vector<std::size_t>{3});
  const auto smallest = folds_of("smallest=2", cases);
  for (const std::size_t i : smallest[0].train) {
    EXPECT_LE(cases[i].row.gpus, 2);
  }
  EXPECT_EQ(folds_of("gpu=a100", cases).size(), 0U);  // Nothing is left to learn from.
}

TEST(ShardedSplit, QuotesWhatItCannotRead) {
  for (const char* text : {"", "max-gpus=", "max-gpus=0", "folds=1", "gpu=", "halves"}) {
    const auto split = parse_sharded_split(text);
    ASSERT_FALSE(split.ok()) << text;
    EXPECT_NE(split.error().message.find("--split must be"), std::string::npos);
  }
  EXPECT_TRUE(names_gpu("h100", "H100-SXM"));
  EXPECT_FALSE(names_gpu("", "H100-SXM"));
}

}  // namespace
}  // namespace stint
