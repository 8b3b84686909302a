#include "app/run/run_market.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "run/run_fixture.h"

namespace stint {
namespace {

PreparedRun prepared() {
  PreparedRun run;
  run.record = small_record();
  return run;
}

TEST(RunMarket, ReadsHazardsAndSpells) {
  const auto hazard = parse_spells("hazard:90s", "--life");
  ASSERT_TRUE(hazard.ok());
  EXPECT_EQ(hazard->stay, 90 * kSecond);
  EXPECT_FALSE(hazard->away);
  const auto spells = parse_spells("spells:2min/0.5min", "--life");
  ASSERT_TRUE(spells.ok());
  EXPECT_EQ(spells->stay, 120 * kSecond);
  EXPECT_EQ(spells->away, 30 * kSecond);
}

TEST(RunMarket, RefusesAnythingElseByTheNameOfItsOption) {
  for (const char* text :
       {"", "hazard", "hazard:", "hazard:60", "hazard:0s", "hazard:-1s", "hazard:60s/20s",
        "spells:60s", "spells:/20s", "spells:60s/", "spells:60s/0s", "spells:60s/20s/5s",
        "spells:60/20", "trace:x", "Hazard:60s", "60s/20s", "hazard:60USD"}) {
    const auto spells = parse_spells(text, "--expect");
    ASSERT_FALSE(spells.ok()) << text;
    EXPECT_EQ(spells.error().kind, ErrorKind::kUsage) << text;
    EXPECT_NE(spells.error().message.find("--expect"), std::string::npos) << text;
  }
}

// Property: as a count of machines in a pool it never leaves the pool, whatever the seed.
TEST(RunMarket, CapacityStaysWithinThePool) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto changes =
        draw_capacity({.stay = 10 * kSecond, .away = 5 * kSecond}, 3, 1000 * kSecond, Random(seed));
    ASSERT_FALSE(changes.empty());
    EXPECT_EQ(changes[0].at, Seconds{});
    EXPECT_EQ(changes[0].machines, 3);
    for (std::size_t i = 1; i < changes.size(); ++i) {
      EXPECT_GE(changes[i].machines, 0) << seed;
      EXPECT_LE(changes[i].machines, 3) << seed;
      EXPECT_GE(changes[i].at, changes[i - 1].at) << seed;
      EXPECT_EQ(std::abs(changes[i].machines - changes[i - 1].machines), 1) << seed;
    }
    EXPECT_EQ(changes.back().machines, 3) << seed;  // Whoever went comes back in the end.
  }
}

// A place is there 30 s and away 10 s on average, so that it is there 3/4 of the time: 3 of 4. Over
// 40 000 s of 4 places there are about 4000 cycles of 40 s, whose share varies by about
// 2·(3/4)(1/4)/4000 → 1 %: 0.01 · 4 · 2.5 of leeway.
TEST(RunMarket, CapacityIsRightOnAverage) {
  const Seconds horizon = 40000 * kSecond;
  const auto changes =
      draw_capacity({.stay = 30 * kSecond, .away = 10 * kSecond}, 4, horizon, Random(3));
  Seconds machine_time;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Seconds end = i + 1 < changes.size() ? changes[i + 1].at : horizon;
    const Seconds within = std::min(end, horizon) - std::min(changes[i].at, horizon);
    machine_time += static_cast<double>(changes[i].machines) * within;
  }
  EXPECT_NEAR(machine_time / horizon, 3.0, 0.1);
  // Each place goes 1000 times; standard error √4000 ≈ 63.
  int losses = 0;
  for (std::size_t i = 1; i < changes.size(); ++i) {
    losses += changes[i].machines < changes[i - 1].machines ? 1 : 0;
  }
  EXPECT_NEAR(losses, 4000, 4 * 63);
}

TEST(RunMarket, TheSameSeedBringsTheSameMarket) {
  const SpotSpells spells{.stay = 10 * kSecond, .away = 5 * kSecond};
  const auto times = [&](std::uint64_t seed) {
    std::vector<double> at;
    for (const CapacityChange& one : draw_capacity(spells, 2, 100 * kSecond, Random(seed))) {
      at.push_back(one.at.in(kSecond));
    }
    return at;
  };
  EXPECT_EQ(times(7), times(7));
  EXPECT_NE(times(7), times(8));
}

TEST(RunMarket, WithoutALifeMachinesStay) {
  PreparedRun run = prepared();
  ASSERT_TRUE(set_market({.seed = 5}, run).ok());
  EXPECT_TRUE(run.record.pool.empty());
  EXPECT_FALSE(run.record.life);
  EXPECT_FALSE(run.record.expected);
  EXPECT_EQ(run.record.seed, 5);
}

TEST(RunMarket, AHazardIsDrawnForEachMachineAndBelieved) {
  PreparedRun run = prepared();
  ASSERT_TRUE(set_market({.life = "hazard:60s"}, run).ok());
  EXPECT_TRUE(run.record.pool.empty());
  EXPECT_EQ(run.record.life, 60 * kSecond);
  ASSERT_TRUE(run.record.expected);
  EXPECT_EQ(run.record.expected->stay, 60 * kSecond);
}

TEST(RunMarket, SpellsBecomeAPoolAndMayBeBelievedOtherwise) {
  PreparedRun run = prepared();
  ASSERT_TRUE(set_market({.life = "spells:60s/20s", .expect = "hazard:30s"}, run).ok());
  ASSERT_GT(run.record.pool.size(), 10U);
  EXPECT_EQ(run.record.pool[0].at, Seconds{});
  EXPECT_EQ(run.record.pool[0].spot, 2);
  EXPECT_FALSE(run.record.life);
  ASSERT_TRUE(run.record.expected);
  EXPECT_EQ(run.record.expected->stay, 30 * kSecond);
  EXPECT_FALSE(run.record.expected->away);
}

TEST(RunMarket, BadTextsAreUsageErrors) {
  for (const RunRequest& request :
       {RunRequest{.life = "forever"}, RunRequest{.life = "hazard:60s", .expect = "trace:x"}}) {
    PreparedRun run = prepared();
    const Status status = set_market(request, run);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().kind, ErrorKind::kUsage);
  }
}

class RunMarketTraceTest : public testing::Test {
 protected:
  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string file_ = place_.path() + "/trace.json";
};

// Ticks of 100 s, ten times faster: changes at 0, 20 and 30 s. Ticks without a change are none.
TEST_F(RunMarketTraceTest, ATraceIsPlayedAsFastAsIsAskedFor) {
  ASSERT_TRUE(
      write_file(file_, R"({"metadata": {"gap_seconds": 100}, "data": [2, 2, 0, 1, 1]})").ok());
  PreparedRun run = prepared();
  const Status status = set_market({.life = "trace:" + file_, .trace_speed = 10}, run);
  ASSERT_TRUE(status.ok()) << status.error().message;
  ASSERT_EQ(run.record.pool.size(), 3U);
  EXPECT_EQ(run.record.pool[1].at, 20 * kSecond);
  EXPECT_EQ(run.record.pool[1].spot, 0);
  EXPECT_EQ(run.record.pool[2].at, 30 * kSecond);
  EXPECT_EQ(run.record.pool[2].spot, 1);
  EXPECT_FALSE(run.record.expected);  // Nobody knows what will come.
}

// A table is cut to ticks of one second of the run: of 60 s where it is played 60 times faster.
TEST_F(RunMarketTraceTest, ATableIsCutToSecondsOfTheRun) {
  ASSERT_TRUE(write_file(file_, "time_s,running_instances\n0,3\n120,1\n300,2\n360,2\n").ok());
  PreparedRun run = prepared();
  ASSERT_TRUE(set_market({.life = "trace:" + file_, .trace_speed = 60}, run).ok());
  ASSERT_EQ(run.record.pool.size(), 3U);
  EXPECT_EQ(run.record.pool[1].at, 2 * kSecond);
  EXPECT_EQ(run.record.pool[1].spot, 1);
  EXPECT_EQ(run.record.pool[2].at, 5 * kSecond);
}

TEST_F(RunMarketTraceTest, ATraceThatCannotBeReadIsBadInput) {
  PreparedRun run = prepared();
  EXPECT_EQ(set_market({.life = "trace:" + file_}, run).error().kind, ErrorKind::kBadInput);
  ASSERT_TRUE(write_file(file_, "{").ok());
  const Status status = set_market({.life = "trace:" + file_}, run);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(status.error().message.find(file_), std::string::npos);
}

TEST(RunMarket, RefusesMeansInWhichNoMachineStarts) {
  EXPECT_TRUE(parse_spells("spells:1s/1s", "--life").ok());
  EXPECT_EQ(parse_spells("spells:1ms/1ms", "--life").error().message,
            "--life: a mean of 1 ms is shorter than 1 s, in which no machine starts");
  EXPECT_FALSE(parse_spells("hazard:1e-300s", "--life").ok());
  EXPECT_FALSE(parse_spells("hazard:1e300s", "--life").ok());
}

// Ten thousand years of spells of a second would be 10^11 changes.
TEST(RunMarket, DrawsAtMostAHundredThousandChanges) {
  const auto changes =
      draw_capacity({.stay = 1 * kSecond, .away = 1 * kSecond}, 64, 3'650'000 * kDay, Random(1));
  EXPECT_GT(changes.size(), 90'000U);
  EXPECT_LT(changes.size(), 110'000U);
}

}  // namespace
}  // namespace stint
