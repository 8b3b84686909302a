#include "calibrate/step_rows.h"

#include <gtest/gtest.h>
#include <vector>

namespace stint {
namespace {

StepRow one_worker_row() {
  return {.job = "net",
          .device = "T4",
          .workers_by_vm = {1},
          .batch_per_worker = 8,
          .time = 100 * kMillisecond};
}

StepRow cluster_row() {
  StepRow row = one_worker_row();
  row.workers_by_vm = {1, 4, 2};
  row.time = 250 * kMillisecond;
  return row;
}

JobFacts facts_of(Bytes gradients) {
  JobProfile profile;
  profile.name = "net";
  profile.gradient_bytes = gradients;
  return {{"net", profile}};
}

const OneWorkerTimes& alone() {
  static const OneWorkerTimes times(std::vector<StepRow>{one_worker_row()});
  return times;
}

TEST(LawRow, HoldsThePlacementAndTheTimeAlone) {
  StepRow row = cluster_row();
  row.servers = 2;
  row.asynchronous = true;
  const auto law = law_row(row, alone(), {});
  ASSERT_TRUE(law.ok());
  EXPECT_EQ(law->job, "net");
  EXPECT_NEAR(law->input.alone.in(kMillisecond), 100, 1e-9);
  EXPECT_EQ(law->input.jitter, 0);
  EXPECT_EQ(law->input.batch_per_worker, 8);
  EXPECT_EQ(law->input.vms, 3);
  EXPECT_EQ(law->input.workers, 7);
  EXPECT_EQ(law->input.workers_on_fullest_vm, 4);
  EXPECT_EQ(law->input.servers, 2);
  EXPECT_TRUE(law->input.asynchronous);
  EXPECT_NEAR(law->time.in(kMillisecond), 250, 1e-9);
}

// A table by sample: an iteration of eight samples takes eight of its times.
TEST(LawRow, CountsTheTimesOfAStep) {
  StepRow row = cluster_row();
  row.times_per_step = 8;
  const auto law = law_row(row, alone(), facts_of(40 * kMB));
  EXPECT_NEAR(law->time.in(kSecond), 2, 1e-12);
  EXPECT_EQ(law->scale, 1);
}

// Nobody says what a step of this table is. Alone it takes 100 ms, which is made 300 ms of 60
// samples; the scale is 300/100 = 3, so the 8 · 250 ms of the cluster become 6 s.
TEST(LawRow, TakesTimesOfAPrintedUnitInProportion) {
  StepRow row = cluster_row();
  row.times_per_step = 8;
  const auto law = law_row(row, alone(), {});
  ASSERT_TRUE(law.ok());
  EXPECT_NEAR(law->scale, 3, 1e-12);
  EXPECT_EQ(law->input.alone, kAssumedStep);
  EXPECT_EQ(law->input.batch_per_worker, kAssumedBatch);
  EXPECT_NEAR(law->time.in(kSecond), 6, 1e-12);
  EXPECT_FALSE(law->size_known);
}

TEST(LawRow, ATableOfStepsIsNotScaled) {
  const auto law = law_row(cluster_row(), alone(), {});
  EXPECT_EQ(law->scale, 1);
  EXPECT_EQ(law->input.batch_per_worker, 8);
}

TEST(LawRow, TheSizeMayStandInAnotherRowOfTheJob) {
  StepRow other = one_worker_row();
  other.gradient_bytes = 30 * kMB;
  const OneWorkerTimes times(std::vector<StepRow>{other});
  const auto law = law_row(cluster_row(), times, facts_of(40 * kMB));
  EXPECT_TRUE(law->size_known);
  EXPECT_EQ(law->input.gradients, 30 * kMB);
}

TEST(LawRow, TakesTheSizeFromTheRowThenTheProfileThenAssumesOne) {
  StepRow row = cluster_row();
  const auto assumed = law_row(row, alone(), {});
  EXPECT_FALSE(assumed->size_known);
  EXPECT_EQ(assumed->input.gradients, kAssumedGradients);

  const auto by_profile = law_row(row, alone(), facts_of(40 * kMB));
  EXPECT_TRUE(by_profile->size_known);
  EXPECT_EQ(by_profile->input.gradients, 40 * kMB);

  row.gradient_bytes = 30 * kMB;
  EXPECT_EQ(law_row(row, alone(), facts_of(40 * kMB))->input.gradients, 30 * kMB);
  const auto by_row = law_row(row, alone(), {});
  EXPECT_TRUE(by_row->size_known);
  EXPECT_EQ(by_row->input.gradients, 30 * kMB);
}

TEST(LawRow, IsNotMovedByWhatWasMeasured) {
  const auto measured = law_row(cluster_row(), alone(), facts_of(40 * kMB));
  StepRow blank = cluster_row();
  blank.time.reset();
  blank.synchronisation = 1 * kHour;
  blank.repeat = 1 * kHour;
  const auto law = law_row(blank, alone(), facts_of(40 * kMB));
  ASSERT_TRUE(law.ok());
  EXPECT_EQ(law->time, Seconds{});
  EXPECT_EQ(law->input.alone, measured->input.alone);
  EXPECT_EQ(law->input.jitter, measured->input.jitter);
  EXPECT_EQ(law->input.gradients, measured->input.gradients);
}

TEST(LawRow, SaysWhyNothingIsKnown) {
  StepRow row = cluster_row();
  row.unusable = "out of memory";
  EXPECT_EQ(law_row(row, alone(), {}).error().message, "out of memory");
  row = cluster_row();
  row.device = "V100";
  EXPECT_EQ(law_row(row, alone(), {}).error().message,
            "net was not measured on one worker of V100");
  row.device = "";
  const auto error = law_row(row, alone(), {}).error();
  EXPECT_EQ(error.message, "net was not measured on one worker");
  EXPECT_EQ(error.kind, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace stint
