#include "cli/render/render_interleave.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

TimeRange around(double seconds) {
  return {.mean = seconds * kSecond, .p10 = seconds * kSecond, .p90 = seconds * kSecond};
}

SharingAnswer sample() {
  SharingAnswer it{.cluster = *parse_cluster("2x a"), .alone = {"c"}, .speedup = 1.25};
  for (const char* name : {"a", "b", "c"}) {
    it.jobs.push_back({.name = name, .iteration = 100 * kMillisecond, .time = around(7200)});
  }
  it.pairs = {
      {.choice =
           {.mode = SharingMode::kBucket,
            .turns = {2, 1},
            .speedup = 1.5,
            .time = 9600 * kSecond,
            .cost = 8 * kDollar,
            .members =
                {{.job = "a", .slowdown = 1.3, .slowdown_together = 1.4, .time = around(9000)},
                 {.job = "b", .slowdown = 1.33, .slowdown_together = 1.4, .time = around(9600)}}},
       .saved = SavedRange{.mean = 4 * kDollar, .p10 = 3 * kDollar, .p90 = 5 * kDollar}}};
  it.considered = {{.jobs = {"a", "b"},
                    .recommended = SharingMode::kBucket,
                    .options = {it.pairs[0].choice,
                                {.mode = SharingMode::kFreely, .speedup = 1.2},
                                {.mode = SharingMode::kSeparately}}},
                   {.jobs = {"a", "c"}, .reason = "They do not fit."}};
  it.separate = 20 * kDollar;
  it.cost = 16 * kDollar;
  it.notes = {"Think."};
  it.assumptions = {"The moon is round."};
  return it;
}

TEST(SharingSheet, TellsPairsJobsAndBill) {
  EXPECT_EQ(sharing_sheet(sample(), {.width = 0}),
            "3 jobs on 2x a\n\njob  with  iteration   alone    time  slowdown  while shared\na    "
            "b        100 ms  2.00 h  2.50 h     1.30x         1.40x\nb    a        100 ms  2.00 h "
            " 2.67 h     1.33x         1.40x\nc    -        100 ms  2.00 h  2.00 h     1.00x       "
            "      -\n\ntogether        a + b: bucket turns 2 : 1, speedup 1.50x, makespan 2.67 h; "
            "$8.00 instead of $12.00, 33.3 % less (25.0 to 41.7)\n                alternatives: "
            "freely 1.20x, separately 1.00x\napart           a + c: They do not fit.\nbill         "
            "   $16.00 for all, $20.00 on separate clusters: $4.00 less (20 %)\nnote            "
            "Think.\nassumed         The moon is round.\n");
}

TEST(SharingSheet, ShowsDeadlinesWhereThereAreAny) {
  SharingAnswer it = sample();
  it.jobs[2].deadline = 10800 * kSecond;
  it.jobs[2].p_deadline = 0.97;
  const std::string text = sharing_sheet(it, {.width = 0});
  EXPECT_NE(text.find("P(deadline)"), std::string::npos);
  EXPECT_NE(text.find("97 %"), std::string::npos);
}

TEST(SharingSheet, SaysWhatIsNotKnown) {
  SharingAnswer it = sample();
  it.cost.reset();
  it.pairs.clear();
  const std::string text = sharing_sheet(it, {.width = 0});
  EXPECT_NE(text.find("no region has a price"), std::string::npos);
  EXPECT_EQ(text.find("a + b"), std::string::npos);
}

TEST(SharingSheet, SaysThatNothingIsSavedWithoutPairs) {
  SharingAnswer it = sample();
  it.pairs.clear();
  it.cost = it.separate;
  EXPECT_NE(
      sharing_sheet(it, {.width = 0}).find("$20.00 on separate clusters; sharing saves nothing"),
      std::string::npos);
}

TEST(SharingText, NamesEachWay) {
  EXPECT_EQ(sharing_text({.mode = SharingMode::kWhole, .turns = {1, 3}}), "whole turns 1 : 3");
  EXPECT_EQ(sharing_text({.mode = SharingMode::kFreely}), "freely");
  EXPECT_EQ(sharing_text({.mode = SharingMode::kSeparately}), "separately");
}

}  // namespace
}  // namespace stint::cli
