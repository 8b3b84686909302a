#include "cli/render/render_replay.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>

namespace stint::cli {
namespace {

/// Two ticks of 30 min without spot, one of set-up, one of spot; then on demand.
DeadlineReplay sample() {
  DeadlineReplay replay{
      .game = {.work = 2, .deadline = 8, .changeover = 1, .machines = 1, .price_ratio = 3},
      .gap = 30 * kMinute,
      .start = 4,
      .zones = {"pool.json"}};
  replay.result.ticks = {{{}, {}, 0, 0},         {{}, {}, 0, 0},     {{1, 0}, {}, 0, 1},
                         {{1, 0}, {1, 0}, 0, 1}, {{0, 1}, {}, 0, 0}, {{0, 1}, {0, 1}, 0, 0}};
  replay.result.finished = 6;
  replay.result.spot_ticks = 2;
  replay.result.on_demand_ticks = 2;
  replay.result.set_up_ticks = 2;
  replay.result.cost = 8;
  replay.on_demand_cost = 9;
  replay.optimum_cost = 8;
  return replay;
}

TEST(RenderReplay, ShowsATickAsACharacter) {
  EXPECT_EQ(replay_timeline(sample(), {.width = 100}),
            "  0.00 h ..+S+D\n"
            "         xx  xx\n");
}

// 20 columns at least: 60 ticks of spot take three lines.
TEST(RenderReplay, WrapsToTheScreen) {
  DeadlineReplay replay = sample();
  replay.result.ticks.assign(60, {{1, 0}, {1, 0}, 0, 1});
  const std::string line(20, 'S');
  EXPECT_EQ(replay_timeline(replay, {.width = 20}),
            "  0.00 h " + line + "\n\n  10.0 h " + line + "\n\n  20.0 h " + line + "\n\n");
}

// 20 columns on at most 12 lines are 240 characters: of 480 ticks each shows two.
TEST(RenderReplay, ShowsWhatMostOfAGroupOfTicksWas) {
  DeadlineReplay replay = sample();
  replay.result.ticks.assign(480, {{1, 0}, {1, 0}, 0, 1});
  const std::string text = replay_timeline(replay, {.width = 20});
  EXPECT_EQ(std::count(text.begin(), text.end(), 'S'), 240);
}

TEST(RenderReplay, SaysWhatItCost) {
  EXPECT_EQ(replay_summary(sample()),
            "Done after 3.00 h, 1.00 h before the deadline.\nPaid for 1.00 h of spot and 1.00 h of "
            "on-demand time, 1.00 h of it for set-up.\nCost 0.889 relative to on-demand only, "
            "1.000 relative to the clairvoyant optimum.\n");
  DeadlineReplay late = sample();
  late.result.finished.reset();
  late.result.overdue = 3;
  EXPECT_TRUE(replay_summary(late).starts_with(
      "Missed the deadline of 4.00 h: on-demand, the rest takes 1.50 h more.\n"));
}

TEST(RenderReplay, ShowsTheZones) {
  DeadlineReplay replay = sample();
  replay.zones = {"one.json", "two.json"};
  replay.result.moves = 1;
  replay.result.ticks[3].zone = 1;
  EXPECT_EQ(replay_timeline(replay, {.width = 100}),
            "  0.00 h ..+S+D\n"
            "         xx  xx\n"
            "            b\n");
  EXPECT_NE(replay_summary(replay).find("Moved 1 time between zones: a one.json, b two.json.\n"),
            std::string::npos);
  const Json json = replay_json(replay, "stint");
  EXPECT_EQ(*json.find("moves")->as<std::int64_t>(), 1);
  EXPECT_EQ(*(*json.find("ticks")->as<Json::Array>())[3].find("zone")->as<std::int64_t>(), 1);
}

TEST(RenderReplay, AsJsonHasEveryTick) {
  const Json json = replay_json(sample(), "stint");
  EXPECT_EQ(*json.find("schema")->as<std::string>(), "stint.replay/1");
  const auto* ticks = json.find("ticks")->as<Json::Array>();
  ASSERT_EQ(ticks->size(), 6U);
  EXPECT_EQ(*(*ticks)[3].find("spot_working")->as<std::int64_t>(), 1);
  EXPECT_EQ(*(*ticks)[4].find("on_demand")->as<std::int64_t>(), 1);
}

}  // namespace
}  // namespace stint::cli
