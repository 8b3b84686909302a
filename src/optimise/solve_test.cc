#include "optimise/solve.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>

#include "optimise/answer.h"
#include "optimise/policy_fixture.h"

namespace stint {
namespace {

TEST(Passes, AreTimedInTheOrderTheyRan) {
  FixedClock clock(100 * kSecond);
  const std::vector<std::string> disabled = {"mixed"};
  Passes passes(clock, disabled);
  passes.run("one", [&](PassReport& report) {
    clock.advance(2 * kSecond);
    report.kept = 7;
  });
  passes.run("two", [](PassReport&) {});
  ASSERT_EQ(passes.reports().size(), 2U);
  EXPECT_EQ(passes.reports()[0].name, "one");
  EXPECT_EQ(passes.reports()[0].kept, 7);
  EXPECT_EQ(passes.reports()[0].time, 2 * kSecond);
  EXPECT_EQ(passes.reports()[1].time, Seconds{});
  EXPECT_TRUE(passes.enabled("front"));
  EXPECT_FALSE(passes.enabled("mixed"));
}

const FixedClock kClock{Seconds{}};

std::unique_ptr<Solve> solved(const PlanQuestion& question,
                              const std::vector<std::string>& disabled = {}) {
  auto solve = std::make_unique<Solve>(question, *plan_space(question));
  Passes passes(kClock, disabled);
  solve->run(passes);
  return solve;
}

std::string cluster(const Solve& solve, const Found& found) {
  return to_text(cluster_of(solve.evaluator(), found.config));
}

bool listed(const std::vector<Found>& all, const Config& config) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Found& found) { return found.config == config; });
}

// One slow.1 on spot costs 0.776 USD, one fast.1 on spot 1.164 USD (see homogeneous_test.cc).
TEST(Solve, RowsByCostAreTheCheapestOfOtherVmsEach) {
  PolicyFixture fixture;
  fixture.question.rows = 2;
  const auto solve = solved(fixture.question);
  const std::vector<Found> rows = solve->rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(cluster(*solve, rows[0]), "1x slow.1:spot");
  EXPECT_EQ(cluster(*solve, rows[1]), "1x fast.1:spot");
}

// 16 T4s of four slow.4 take 14 ms; four fast.1 take 16 · 1.5 + 1 = 25 ms, and are cheaper on spot.
TEST(Solve, RowsByTimeAreTheFastest) {
  PolicyFixture fixture;
  fixture.question.objective = Objective::kTime;
  fixture.question.rows = 2;
  const auto solve = solved(fixture.question);
  const std::vector<Found> rows = solve->rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(cluster(*solve, rows[0]), "4x slow.4");
  EXPECT_EQ(cluster(*solve, rows[1]), "4x fast.1:spot");
  EXPECT_FALSE(solve->relaxed_bound());
}

TEST(Solve, RowsOfTheFrontAreItsPointsFromTheKneeOn) {
  PolicyFixture fixture;
  fixture.question.objective = Objective::kFront;
  fixture.question.rows = 100;
  const auto solve = solved(fixture.question);
  const std::vector<Found>& points = solve->front().points();
  const std::vector<Found> rows = solve->rows();
  ASSERT_GT(points.size(), 3U);
  ASSERT_EQ(rows.size(), points.size());
  EXPECT_EQ(rows[0].config, points[*knee(points)].config);
}

TEST(Solve, RowsByKneeStartThereAndGoOutwards) {
  PolicyFixture fixture;
  fixture.question.objective = Objective::kKnee;
  fixture.question.rows = 3;
  const auto solve = solved(fixture.question);
  const std::vector<Found>& points = solve->front().points();
  const std::size_t middle = *knee(points);
  ASSERT_GT(middle, 0U);
  ASSERT_LT(middle + 1, points.size());
  const std::vector<Found> rows = solve->rows();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].config, points[middle].config);
  EXPECT_EQ(rows[1].config, points[middle - 1].config);
  EXPECT_EQ(rows[2].config, points[middle + 1].config);
}

// One slow.1 on spot takes 1.94 h, so with less time the front starts to end earlier.
TEST(Solve, RowsOfTheFrontKeepTheDeadline) {
  PolicyFixture fixture;
  fixture.question.objective = Objective::kFront;
  fixture.question.constraints.deadline = 1.5 * kHour;
  const auto solve = solved(fixture.question);
  EXPECT_EQ(cluster(*solve, solve->rows().back()), "2x slow.1:spot");
}

TEST(Solve, ContendersAreTheRowsAndWhatIsNear) {
  PolicyFixture fixture;
  fixture.question.rows = 2;
  const auto solve = solved(fixture.question);
  const std::vector<Found> rows = solve->rows();
  std::vector<Found> contenders = solve->leaders();
  const std::vector<Found> others = solve->others();
  contenders.insert(contenders.end(), others.begin(), others.end());
  ASSERT_GT(contenders.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(contenders[i].config, rows[i].config);
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    EXPECT_FALSE(listed({contenders.begin(), contenders.begin() + static_cast<std::ptrdiff_t>(i)},
                        contenders[i].config));
  }
  for (const int vms : {2, 3}) {
    Config more = rows[1].config;
    more.parts[0].vms = vms;
    EXPECT_TRUE(listed(contenders, more)) << vms;
  }
}

TEST(Solve, HasNeitherRowsNorContendersWhereNothingIsInTime) {
  PolicyFixture fixture;
  fixture.question.constraints.deadline = 1 * kSecond;
  const auto solve = solved(fixture.question);
  EXPECT_TRUE(solve->rows().empty());
  EXPECT_TRUE(solve->leaders().empty());
}

// The work alone is 1.92 h of slow.1 at 0.4 USD/h (see relaxation_test.cc).
TEST(Solve, BoundsWhatAnyClusterCosts) {
  const PolicyFixture fixture;
  EXPECT_NEAR(solved(fixture.question)->relaxed_bound()->in(kDollar), 0.768, 1e-5);
  EXPECT_FALSE(solved(fixture.question, {kRelaxationPass})->relaxed_bound());
}

TEST(Solve, IsCompleteWhereMixesWereLookedAt) {
  const PolicyFixture fixture;
  EXPECT_TRUE(solved(fixture.question)->complete());
  EXPECT_TRUE(solved(fixture.question, {kBoundsPass, kDominancePass})->complete());
  EXPECT_FALSE(solved(fixture.question, {kMixedPass})->complete());
}

}  // namespace

}  // namespace stint
