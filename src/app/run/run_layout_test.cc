#include "app/run/run_layout.h"

#include <gtest/gtest.h>
#include <utility>

namespace stint {
namespace {

/// A run of a plain script on two machines of one kind and one of another.
PreparedRun three_machines() {
  PreparedRun run;
  run.cluster = *parse_cluster("2x local.large:spot + 1x local.small");
  run.record.plain = true;
  run.record.compute = RunCompute::kPacedReal;
  return run;
}

std::string refusal(const RunRequest& request, PreparedRun run = three_machines()) {
  const Status set = set_layout(request.layout, request.compute, run);
  EXPECT_FALSE(set.ok());
  EXPECT_FALSE(run.record.layout);
  return set.ok() ? "" : set.error().message;
}

TEST(RunLayout, IsWrittenInOneFormAndComputesAsFastAsItCan) {
  PreparedRun run = three_machines();
  ASSERT_TRUE(set_layout("recompute:full dp3", {}, run).ok());
  EXPECT_EQ(run.record.layout, "dp3 recompute:full");
  EXPECT_EQ(run.record.compute, RunCompute::kReal);
  ASSERT_EQ(run.warnings.size(), 1U);
  EXPECT_NE(run.warnings[0].find("--layout"), std::string::npos);
}

TEST(RunLayout, IsAbsentWhereNobodyAsksForOne) {
  PreparedRun run = three_machines();
  ASSERT_TRUE(set_layout("", {}, run).ok());
  EXPECT_FALSE(run.record.layout);
  EXPECT_EQ(run.record.compute, RunCompute::kPacedReal);
}

TEST(RunLayout, IsRefusedWhereItDoesNotFitTheMachinesOrTheScript) {
  EXPECT_EQ(refusal({.layout = "dp2 tp2"}),
            "--layout 'dp2 tp2' is for 4 workers (data 2 x tensor 2 x pipeline 1), but the cluster "
            "has 3; change a degree or the cluster");
  EXPECT_NE(refusal({.layout = "dp3 xp2"}).find("'xp2' is no word"), std::string::npos);
  EXPECT_NE(refusal({.layout = "dp3", .compute = RunCompute::kPacedReal})
                .find("--compute paced-real follows the profile"),
            std::string::npos);
  PreparedRun ordered = three_machines();
  ordered.record.plain.reset();
  EXPECT_NE(refusal({.layout = "dp3"}, std::move(ordered)).find("stint.Job"), std::string::npos);
}

}  // namespace
}  // namespace stint
