#include "app/risk/deadline_terms.h"

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
            "--deadline 24.1 h is too short: in ticks of 5 min the work and one changeover take "
            "24.25 h, which is the shortest deadline that can be kept");
  EXPECT_NE(complaint({.deadline = 12 * kHour}).find("24.25 h"), std::string::npos);
}

TEST(DeadlineTerms, RefuseNoWorkAndNoPrice) {
  EXPECT_EQ(complaint({.work = 1 * kMinute}),
            "--work 60 s is less than a tick of the trace, which lasts 5 min");
  EXPECT_EQ(complaint({.price_ratio = 0}), "--price-ratio must be above zero, not 0");
  EXPECT_EQ(complaint({.price_ratio = -1}), "--price-ratio must be above zero, not -1");
  EXPECT_NE(complaint({.deadline = 1e6 * kHour}).find("10000 ticks"), std::string::npos);
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

}  // namespace
}  // namespace stint
