#include "run/worker_layout.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(WorkerLayout, HasDegreesAndKeepsTheOtherWords) {
  const auto layout = parse_worker_layout("dp16 tp4 pp2 zero1 mb2 recompute:full");
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->degrees.data, 16);
  EXPECT_EQ(layout->model(), 8);
  EXPECT_EQ(layout->workers(), 128);
  EXPECT_EQ(to_text(*layout), "dp16 tp4 pp2 zero1 mb2 recompute:full");
  EXPECT_EQ(parse_worker_layout("")->workers(), 1);
  EXPECT_EQ(to_text(*parse_worker_layout("  sp  tp2 ")), "sp tp2");
}

TEST(WorkerLayout, RefusesOtherWordsAndWordsThatComeTwice) {
  for (const char* text : {"dp0", "tp", "zero4", "recompute:all", "xp8", "dp-1", "dp2 dp4",
                           "zero1 zero2", "dp99999999999", "dp1048576 tp2", "mb0", "tp2x"}) {
    const auto layout = parse_worker_layout(text);
    ASSERT_FALSE(layout.ok()) << text;
    EXPECT_EQ(layout.error().kind, ErrorKind::kUsage) << text;
  }
  EXPECT_NE(parse_worker_layout("dp2 xp8").error().message.find("'xp8' is no word of a layout"),
            std::string::npos);
}

TEST(WorkerLayout, KeepsTheModelOnFewerWorkers) {
  const WorkerLayout layout = *parse_worker_layout("dp3 tp2 zero3");
  EXPECT_EQ(to_text(fitted(layout, 5)), "dp2 tp2 zero3");  // One is left over.
  EXPECT_EQ(to_text(fitted(layout, 2)), "tp2 zero3");
  EXPECT_EQ(to_text(fitted(layout, 8)), "dp4 tp2 zero3");
}

TEST(WorkerLayout, SharesSamplesOverDataParallelRanks) {
  // Ranks of a pair that splits layers have the same samples: 8 over 3 are 2, 3 and 3.
  EXPECT_EQ(shares_of(*parse_worker_layout("dp3 tp2"), 8), (std::vector<int>{2, 2, 3, 3, 3, 3}));
  EXPECT_EQ(shares_of(*parse_worker_layout("pp2"), 8), (std::vector<int>{8, 8}));
}

}  // namespace
}  // namespace stint
