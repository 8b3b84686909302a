#include <cstdio>
#include <gtest/gtest.h>

#include "app/plan/plan_cases.h"
#include "base/terminal.h"
#include "cli/verbs/verb_list.h"
#include "plan/sharing.h"

namespace stint::cli {
namespace {

TogetherAnswer sample() {
  const auto hours = [](double mean) {
    return TimeRange{.mean = mean * kHour, .p10 = mean * kHour, .p90 = mean * kHour};
  };
  const CostRange cost{.mean = 10 * kDollar, .p10 = 9 * kDollar, .p90 = 11 * kDollar};
  TogetherAnswer it;
  for (const char* name : {"a", "b", "c"}) {
    it.jobs.push_back({.name = name,
                       .cluster = *parse_cluster("2x x"),
                       .time = hours(2),
                       .cost = cost,
                       .p_deadline = 0.97});
  }
  it.pairs = {
      {.cluster = *parse_cluster("3x y"),
       .sharing = {.choice = {.mode = SharingMode::kBucket,
                              .turns = {1, 2},
                              .members = {{.job = "a", .time = hours(3), .p_deadline = 0.96},
                                          {.job = "b", .time = hours(3.5)}}}},
       .cost = 15 * kDollar,
       .separate = 20 * kDollar}};
  it.alone = {"c"};
  it.separate = 30 * kDollar;
  it.cost = 25 * kDollar;
  it.notes = {"Think."};
  return it;
}

TEST(TogetherSheet, TellsOneBillForAll) {
  const std::string text = together_sheet(sample(), {.width = 0});
  EXPECT_NE(
      text.find("together        a + b on 3x y, bucket turns 1 : 2: $15.00 instead of $20.00"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("bill            $25.00 for all, $30.00 on separate clusters: $5.00 less"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("note            Think."), std::string::npos);
}

ExitCode run(std::map<std::string, std::vector<std::string>> options) {
  Invocation invocation{.options = std::move(options)};
  invocation.err = std::fopen("/dev/null", "w");
  const ExitCode code = plan_several(invocation, {.job = "a"});
  std::fclose(invocation.err);
  return code;
}

TEST(PlanSeveral, RefusesWhatIsForOneJob) {
  EXPECT_EQ(run({{"--job", {"a", "b"}}, {"--budget", {"10usd"}}}), kExitUsage);
  EXPECT_EQ(run({{"--job", {"a", "b"}}, {"--policy", {"deepvm"}}}), kExitUsage);
  EXPECT_EQ(run({{"--job", {"a", "b"}}, {"--output", {"csv"}}}), kExitUsage);
}

}  // namespace
}  // namespace stint::cli
