#include "cli/render/checkpoint_text.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace stint::cli {
namespace {

Plan spot_plan() {
  Plan plan{.cluster = *parse_cluster("2x p4d.24xlarge:spot"), .market = PlanMarket::kSpot};
  plan.losses = 0.02;
  plan.checkpoint = CheckpointSchedule{.interval = 3 * kHour,
                                       .stall = 0.27 * kSecond,
                                       .transfer = 72 * kSecond,
                                       .daly_interval = 3.2 * kHour,
                                       .fits_in_notice = true};
  return plan;
}

std::string text_of(const Plan& plan) { return join(checkpoint_lines(plan), "\n"); }

TEST(CheckpointLines, StateTheStallAndTheUpload) {
  EXPECT_EQ(text_of(spot_plan()),
            "Plan 1 writes a checkpoint to the object store every 3.00 h and at an interruption "
            "notice.\n"
            "One checkpoint stalls training for 270 ms (copy to host memory) and uploads for 72 s "
            "while training goes on.\n"
            "Expected interruptions: 0.02; a checkpoint fits into the notice; Daly's interval is "
            "3.20 h.");
}

TEST(CheckpointLines, NeverWriteAtANoticeThatIsTooShort) {
  Plan plan = spot_plan();
  plan.checkpoint->fits_in_notice = false;
  EXPECT_EQ(checkpoint_lines(plan)[0],
            "Plan 1 writes a checkpoint to the object store every 3.00 h.");
  EXPECT_NE(text_of(plan).find("does not fit into the notice, and work since the last one is "
                               "repeated"),
            std::string::npos);
  plan.checkpoint->interval.reset();
  EXPECT_EQ(text_of(plan),
            "Plan 1 writes no checkpoint: it would cost more than the work that interruptions "
            "repeat, and does not fit into the interruption notice (expected interruptions: "
            "0.02).");
}

TEST(CheckpointLines, NameTheirPlace) {
  Plan plan = spot_plan();
  plan.checkpoint->interval.reset();
  plan.checkpoint->place = CheckpointPlace::kTier;
  plan.checkpoint->receivers = 2;
  plan.checkpoint->receiver = "c5n.large";
  EXPECT_EQ(checkpoint_lines(plan)[0],
            "Plan 1 writes a checkpoint to 2x c5n.large on-demand at an interruption notice.");
  plan.checkpoint->place = CheckpointPlace::kAnchor;
  EXPECT_EQ(checkpoint_lines(plan)[0],
            "Plan 1 writes a checkpoint to an on-demand VM at an interruption notice.");
}

TEST(CheckpointLines, OnDemandPlansNeedNone) {
  EXPECT_TRUE(checkpoint_lines(Plan{.cluster = *parse_cluster("p4d.24xlarge")}).empty());
}

}  // namespace
}  // namespace stint::cli
