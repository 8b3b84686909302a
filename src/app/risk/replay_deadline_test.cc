#include "app/risk/replay_deadline.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

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
