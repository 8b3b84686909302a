#include "optimise/next_move.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

/// Setups of one batch with 100 steps left, of which the first is the present one.
SearchQuestion question_of(const std::vector<double>& seconds, double move) {
  std::vector<double> logs;
  for (const double it : seconds) logs.push_back(std::log(it));
  SearchQuestion question{.step_time = LogBelief(logs),
                          .steps_left = LogBelief({std::log(100.0)}),
                          .batch = std::vector<std::size_t>(seconds.size(), 0),
                          .rate = std::vector<double>(seconds.size(), 1.0),
                          .move = std::vector<double>(seconds.size(), move)};
  return question;
}

TEST(NextMove, GoesWhereTheRestIsLeast) {
  const SearchMove move = next_move(question_of({1, 0.6, 0.5}, 20));
  EXPECT_EQ(move.to, 2U);
  EXPECT_NEAR(move.stay, 100, 1e-9);
  EXPECT_NEAR(move.rest, 70, 1e-9);
  EXPECT_NEAR(move.plain, 70, 1e-9);
}

TEST(NextMove, StaysWhereTheMoveCostsMoreThanItGains) {
  EXPECT_EQ(next_move(question_of({1, 0.6, 0.5}, 51)).to, 0U);
  SearchQuestion hardly = question_of({1, 0.49}, 50.5);
  hardly.worth = 0;
  EXPECT_EQ(next_move(hardly).to, 0U);
  hardly.least_gain = 0.001;
  EXPECT_EQ(next_move(hardly).to, 1U);
  hardly.worth = 0.5;
  EXPECT_EQ(next_move(hardly).to, 0U) << "half a second for one of 50 s is not worth it";
}

TEST(NextMove, CountsWhatASecondCosts) {
  SearchQuestion question = question_of({1, 0.5}, 0);
  question.rate = {1, 3};
  EXPECT_EQ(next_move(question).to, 0U);
}

TEST(NextMove, CountsTheStepsOfItsBatch) {
  SearchQuestion question = question_of({1, 1.5}, 0);
  question.steps_left = LogBelief({std::log(100.0), std::log(50.0)});
  question.batch = {0, 1};
  EXPECT_EQ(next_move(question).to, 1U);
}

TEST(NextMove, GoesOnlyWhereItMay) {
  SearchQuestion question = question_of({1, 0.5, 0.6}, 0);
  question.allowed = {true, false, true};
  EXPECT_EQ(next_move(question).to, 2U);
  question.allowed = {false, false, true};
  question.step_time.mean[2] = std::log(9.0);
  EXPECT_EQ(next_move(question).to, 2U) << "what it is on may not go on";
}

// Both are as long on average, but one may turn out to be half as long, and otherwise there is a
// way back.
TEST(NextMove, PrefersWhatMayTurnOutWell) {
  SearchQuestion question = question_of({1, 1, 1}, 1);
  question.step_time.between(2, 2) = 0.25;
  question.step_time.mean[2] -= 0.125;
  const SearchMove move = next_move(question);
  EXPECT_EQ(move.to, 2U);
  EXPECT_NEAR(move.plain, 101, 1e-6);
  EXPECT_LT(move.rest, 90);
}

// The third may be much faster, but is not worth trying for its cost; the second, which is slow,
// tells of it.
TEST(NextMove, ValuesWhatOneSetupTellsOfAnother) {
  SearchQuestion question = question_of({1, 1.2, 0.58}, 5);
  question.worth = 0;
  question.move[2] = 40;
  question.step_time.between(1, 1) = 0.04;
  question.step_time.between(2, 2) = 0.64;
  EXPECT_EQ(next_move(question).to, 0U);
  question.step_time.between(1, 2) = question.step_time.between(2, 1) = 0.152;
  EXPECT_EQ(next_move(question).to, 1U);
}

// The second is known to be faster: 65 s with the move. The third is believed to be slower, 68 s,
// but may be faster; a look and the way on take 64 s on average, which is less by one second, for
// another move of 5 s.
TEST(NextMove, AProbeMustBeWorthTheMoveThatItAdds) {
  SearchQuestion question = question_of({1, 0.6, 0.62}, 5);
  question.step_time.between(2, 2) = 0.04;
  question.worth = 0;
  const SearchMove probe = next_move(question);
  EXPECT_EQ(probe.to, 2U);
  EXPECT_NEAR(probe.plain, 68, 0.5);
  EXPECT_NEAR(probe.rest, 64, 0.5);
  question.worth = 0.5;
  EXPECT_EQ(next_move(question).to, 1U);
}

// V(c) against the mean over a million draws of what would be seen and done.
TEST(NextMove, IsTheMeanOverWhatMayBeSeen) {
  SearchQuestion question = question_of({1, 0.95, 1.05}, 4);
  question.step_time.between(1, 1) = 0.09;
  question.step_time.between(2, 2) = 0.16;
  question.step_time.between(1, 2) = question.step_time.between(2, 1) = 0.06;
  question.worth = 0;
  const SearchMove move = next_move(question);
  ASSERT_EQ(move.to, 1U);
  Random random(3);
  double sum = 0;
  constexpr int kDraws = 200000;
  const double at_two = 100 * question.step_time.expected(2);
  for (int i = 0; i < kDraws; ++i) {
    const double z = random.normal();
    const double one = 100 * question.step_time.expected(1) * std::exp(0.3 * z - 0.045);
    const double two = at_two * std::exp(0.2 * z - 0.02);
    sum += 4 + std::min({one, 4 + 100.0, 4 + two});
  }
  EXPECT_NEAR(move.rest, sum / kDraws, 0.6);
}

}  // namespace
}  // namespace stint
