#include "app/run/run_logs.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "base/temporary_folder.h"
#include "run/run_fixture.h"
#include "run/worker_log.h"

namespace stint {
namespace {

using testing::ElementsAre;

/// The run of run_fixture.h, in which vm1 and vm2 train from the beginning as ranks 0 and 1, vm3
/// replaces vm2, and vm4 and vm5 train from 19 s on.
class RunLogsTest : public testing::Test {
 protected:
  RunLogsTest() {
    write_small_run(folder_, small_record(), small_events());
    std::filesystem::create_directories(log_folder(folder_));
  }

  void print(int vm, const std::string& text) {
    std::ofstream(worker_log_path(folder_, vm - 1), std::ios::app) << text;
  }

  std::vector<std::string> show(const LogsRequest& request) {
    std::vector<std::string> lines;
    LogListener listener;
    listener.line = [&](int rank, const std::string& line) {
      lines.push_back(fmt::format("{}: {}", rank, line));
    };
    listener.pause = [&] { return paused_(); };
    auto end = show_logs(environment_, request, listener);
    if (!end.ok()) return {end.error().message};
    EXPECT_EQ(end->lines, static_cast<std::int64_t>(lines.size()));
    interrupted_ = end->interrupted;
    return lines;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string folder_ = place_.path() + "/runs/small";
  std::function<bool()> paused_ = [] { return true; };
  bool interrupted_ = false;
  Environment environment_{.data_folder = {},
                           .state_folder = place_.path(),
                           .clock = std::make_shared<FixedClock>(1030 * kSecond)};
};

TEST_F(RunLogsTest, RanksAreMergedInTheOrderOfTheirTime) {
  print(1, "a1\na2\na3\n");
  print(2, "b1\nb2\n");
  print(4, "c1\n");
  print(5, "d1\n");
  const auto lines = show({});
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0], "0: a1");
  EXPECT_EQ(lines[1], "1: b1");
  // vm4 and vm5 were started after everything else; vm5 has the place of vm1.
  EXPECT_THAT(std::vector<std::string>(lines.end() - 2, lines.end()),
              ElementsAre("1: c1", "0: d1"));
}

TEST_F(RunLogsTest, OneRankAndTheLastLines) {
  print(1, "a1\na2\na3");
  print(2, "b1\nb2\n");
  EXPECT_THAT(show({.rank = 1}), ElementsAre("1: b1", "1: b2"));
  EXPECT_THAT(show({.rank = 0, .lines = 2}), ElementsAre("0: a2", "0: a3"));
  EXPECT_THAT(show({.run = "small", .rank = 2}),
              ElementsAre("the run small has ranks 0 to 1; there is no rank 2"));
}

TEST_F(RunLogsTest, UnknownRunsAndNoOutput) {
  EXPECT_THAT(show({.run = "large"}), ElementsAre("there is no run large; the runs are small"));
  EXPECT_THAT(show({}), ElementsAre());
}

TEST_F(RunLogsTest, MarksInTheLogSayWhichRankItIs) {
  print(1, "early\n[stint] rank 1 of 2\nlate\n");
  EXPECT_THAT(show({}), ElementsAre("0: early", "1: [stint] rank 1 of 2", "1: late"));
  EXPECT_THAT(show({.rank = 1}), ElementsAre("1: [stint] rank 1 of 2", "1: late"));
}

TEST_F(RunLogsTest, OtherFilesAreNoOutput) {
  std::ofstream(log_folder(folder_) + "/vm1-receiver.log") << "listening 29400\n";
  EXPECT_THAT(show({}), ElementsAre());
}

TEST_F(RunLogsTest, FollowsUntilTheRunEnds) {
  print(1, "a1\nhal");
  auto lock = std::make_unique<RunLock>(std::move(*lock_run(folder_)));
  int looks = 0;
  paused_ = [&] {
    ++looks;
    if (looks == 1) print(1, "f\n");
    if (looks == 2) print(2, "new\nend");
    if (looks == 3) lock.reset();
    EXPECT_LE(looks, 3);
    return looks < 9;
  };
  EXPECT_THAT(show({.follow = true}), ElementsAre("0: a1", "0: half", "1: new", "1: end"));
  EXPECT_EQ(looks, 3);
  EXPECT_FALSE(interrupted_);
}

TEST_F(RunLogsTest, FollowingIsInterrupted) {
  print(1, "a1\n");
  const auto lock = lock_run(folder_);
  paused_ = [] { return false; };
  EXPECT_THAT(show({.follow = true}), ElementsAre("0: a1"));
  EXPECT_TRUE(interrupted_);
}

}  // namespace
}  // namespace stint
