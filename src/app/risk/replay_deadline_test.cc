#include "app/risk/replay_deadline.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

constexpr Seconds kGap = 5 * kMinute;

std::string complaint(const DeadlineTerms& terms) {
  const auto game = game_in_ticks(terms, kGap);
  EXPECT_FALSE(game.ok());
  EXPECT_EQ(game.error().kind, ErrorKind::kUsage);
  return game.ok() ? "" : game.error().message;
}

// 24 h are 288 ticks of 5 min, 36 h are 432, and 13 min begin the third tick.
TEST(DeadlineTerms, AreRoundedToTicks) {
  const auto game = game_in_ticks({}, kGap);
  ASSERT_TRUE(game.ok());
  EXPECT_EQ(game->work, 288);
  EXPECT_EQ(game->deadline, 432);
  EXPECT_EQ(game->changeover, 3);
  EXPECT_EQ(game->machines, 1);
  EXPECT_DOUBLE_EQ(game->price_ratio, 3.3);
}

TEST(DeadlineTerms, AChangeoverOfWholeTicksIsNotRoundedUp) {
  EXPECT_EQ(game_in_ticks({}, 195 * kSecond)->changeover, 4);
  EXPECT_EQ(game_in_ticks({.changeover = {}}, kGap)->changeover, 0);
}

// 24 h and 3 ticks of 5 min.
TEST(DeadlineTerms, RefuseADeadlineThatCannotBeKept) {
  EXPECT_TRUE(game_in_ticks({.deadline = 24.25 * kHour}, kGap).ok());
  EXPECT_EQ(complaint({.deadline = 24.1 * kHour}),
            "--deadline 24.1 h is too short: in ticks of 5 min, the work and one changeover take "
            "24.25 h, the shortest feasible deadline");
  EXPECT_NE(complaint({.deadline = 12 * kHour}).find("24.25 h"), std::string::npos);
}

TEST(DeadlineTerms, RefuseNoWorkAndNoPrice) {
  EXPECT_EQ(complaint({.work = 1 * kMinute}),
            "--work 60 s is less than one tick of the trace, 5 min");
  EXPECT_EQ(complaint({.price_ratio = 0}), "--price-ratio must be above zero, not 0");
  EXPECT_EQ(complaint({.price_ratio = -1}), "--price-ratio must be above zero, not -1");
  EXPECT_NE(complaint({.deadline = 1e6 * kHour}).find("10000 ticks"), std::string::npos);
}

// 197² · 2 · 434 cells are 33.7 million, 196² · 2 · 434 are 33.3 million: the maximum is 195.
TEST(DeadlineTerms, RefuseMoreMachinesThanTheTableHolds) {
  EXPECT_TRUE(game_in_ticks({.machines = 195}, kGap).ok());
  EXPECT_EQ(complaint({.machines = 65'535}),
            "--machines 65535 is too many for a deadline of 36 h in ticks of 5 min: the maximum is "
            "195");
}

TEST(DeadlineTerms, WindowsBeginEveryHalfDeadlineOrAsIsSaid) {
  const DeadlineGame game = *game_in_ticks({}, kGap);
  EXPECT_EQ(window_step_in_ticks({}, game, kGap), 216);
  EXPECT_EQ(window_step_in_ticks(1 * kHour, game, kGap), 12);
  EXPECT_EQ(window_step_in_ticks(1 * kSecond, game, kGap), 1);
}

TEST(DeadlineTerms, TracesAreReadInOrderAndTheFirstBadOneIsTheError) {
  const auto folder = std::filesystem::path(testing::TempDir());
  const std::string good = (folder / "stint_deadline_good.csv").string();
  ASSERT_TRUE(write_file(good, "time_s,running_instances\n0,2\n600,2\n").ok());
  const auto traces = load_traces({good});
  ASSERT_TRUE(traces.ok());
  EXPECT_EQ(traces->at(0).counts, (std::vector<int>{2, 2}));
  EXPECT_EQ(load_traces({good, "nowhere.json"}).error().kind, ErrorKind::kBadInput);
}

/// Two machines for an hour, none for half an hour, two for an hour and a half.
std::string trace_file() {
  const auto path = std::filesystem::path(testing::TempDir()) / "stint_replay_deadline.csv";
  EXPECT_TRUE(
      write_file(path.string(), "time_s,running_instances\n0,2\n3600,0\n5400,2\n10800,2\n").ok());
  return path.string();
}

ReplayDeadlineRequest request(Player player) {
  return {.traces = {trace_file()},
          .terms = {.work = 1 * kHour, .deadline = 2 * kHour, .changeover = 10 * kMinute},
          .player = player};
}

// 12 ticks of work and 2 of set-up: 10 done in the first hour, then 6 ticks without, 2 of set-up
// and 2 of work.
TEST(ReplayDeadline, ShowsEveryTick) {
  const auto replay = replay_deadline(request(Player::kSpot));
  ASSERT_TRUE(replay.ok()) << replay.error().message;
  EXPECT_EQ(replay->result.ticks.front().available, 1);
  EXPECT_EQ(replay->result.finished, 22);
  EXPECT_DOUBLE_EQ(replay->result.cost, 16);
  EXPECT_DOUBLE_EQ(replay->optimum_cost, 16);
  EXPECT_DOUBLE_EQ(replay->on_demand_cost, 14 * 3.3);
  EXPECT_EQ(replay->result.ticks.size(), 22U);
}

TEST(ReplayDeadline, BeginsWhereItIsTold) {
  ReplayDeadlineRequest later = request(Player::kStint);
  later.start = 1 * kHour;
  const auto replay = replay_deadline(later);
  ASSERT_TRUE(replay.ok()) << replay.error().message;
  EXPECT_EQ(replay->start, 12);
  EXPECT_EQ(replay->result.ticks.front().available, 0);
  EXPECT_TRUE(replay->result.finished.has_value());
}

// The second zone is there when the first is not: after the hour it takes 2 ticks of set-up and the
// 2 of work that are left.
TEST(ReplayDeadline, MovesBetweenZones) {
  const auto path = std::filesystem::path(testing::TempDir()) / "stint_replay_second_zone.csv";
  ASSERT_TRUE(write_file(path.string(), "time_s,running_instances\n0,0\n3600,1\n10800,1\n").ok());
  ReplayDeadlineRequest zones = request(Player::kStint);
  zones.traces.push_back(path.string());
  const auto replay = replay_deadline(zones);
  ASSERT_TRUE(replay.ok()) << replay.error().message;
  EXPECT_EQ(replay->result.finished, 16);
  EXPECT_EQ(replay->result.moves, 1);
  EXPECT_DOUBLE_EQ(replay->result.cost, 16);
  EXPECT_DOUBLE_EQ(replay->optimum_cost, 16);
}

TEST(ReplayDeadline, RefusesAWindowOutsideTheTrace) {
  ReplayDeadlineRequest late = request(Player::kStint);
  late.start = 2 * kHour;
  EXPECT_EQ(replay_deadline(late).error().kind, ErrorKind::kUsage);
  late.start = -1 * kHour;
  EXPECT_EQ(replay_deadline(late).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(replay_deadline({}).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(replay_deadline({.traces = {"nowhere"}}).error().kind, ErrorKind::kBadInput);
}

}  // namespace

}  // namespace stint
