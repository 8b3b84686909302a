#include "calibrate/sharded/layout_choice.h"

#include <gtest/gtest.h>

#include "calibrate/sharded/sharded_fixture.h"

namespace stint {
namespace {

/// Three layouts of one model that took 2, 1 and 4 seconds.
std::vector<ShardedCase> three_layouts() {
  auto cases = sharded_cases(
      std::vector{sharded_row(8, {.data = 8}, 16), sharded_row(8, {.data = 4, .tensor = 2}, 16),
                  sharded_row(8, {.data = 2, .tensor = 4}, 16)},
      sharded_catalog());
  cases[0].row.time = 2 * kSecond;
  cases[1].row.time = 1 * kSecond;
  cases[2].row.time = 4 * kSecond;
  return cases;
}

TEST(LayoutChoice, RegretIsTheTimeOverTheFastest) {
  const auto cases = three_layouts();
  std::vector<LayoutOption> options{
      {&cases[0], 3 * kSecond}, {&cases[1], 5 * kSecond}, {&cases[2], 2 * kSecond}};
  EXPECT_DOUBLE_EQ(*layout_regret(LayoutPolicy::kStint, options), 3);  // The third, of 4 s.
  EXPECT_DOUBLE_EQ(*layout_regret(LayoutPolicy::kLeastParallel, options), 1);
  EXPECT_DOUBLE_EQ(*layout_regret(LayoutPolicy::kMedian, options), 1);
  options[1].predicted = 1 * kSecond;
  EXPECT_DOUBLE_EQ(*layout_regret(LayoutPolicy::kStint, options), 0);
  options.resize(1);
  EXPECT_FALSE(layout_regret(LayoutPolicy::kStint, options));
}

TEST(LayoutChoice, LayoutsWithoutPredictionAreNotChosen) {
  const auto cases = three_layouts();
  std::vector<LayoutOption> options{{&cases[0], std::nullopt}, {&cases[2], 9 * kSecond}};
  EXPECT_DOUBLE_EQ(*layout_regret(LayoutPolicy::kStint, options), 1);
  options[1].predicted.reset();
  EXPECT_FALSE(layout_regret(LayoutPolicy::kStint, options));
}

TEST(LayoutChoice, ScoresChoicesByModel) {
  const auto cases = made_up_cases({}, 0);
  std::vector<LayoutOption> options;
  for (const ShardedCase& it : cases) options.push_back({&it, it.row.time});
  const LayoutScores scores = score_layouts(LayoutPolicy::kStint, options);
  EXPECT_EQ(scores.groups.size(), 4U);
  EXPECT_EQ(scores.overall.mean_regret, 0);
  EXPECT_EQ(scores.overall.top1, 1);
  const LayoutScores median = score_layouts(LayoutPolicy::kMedian, options);
  EXPECT_EQ(median.overall.n, scores.overall.n);
  EXPECT_GT(median.overall.mean_regret, 0);
  EXPECT_GE(median.overall.worst_regret, median.overall.mean_regret);
  EXPECT_EQ(layout_score({}).n, 0);
}

}  // namespace
}  // namespace stint
