#include "job/work.h"

#include <gtest/gtest.h>

#include "job/job.h"

namespace stint {
namespace {

// 10 runs of 2 Gflop, forward and twice as much backward: 60 Gflop; a frozen layer of 1 Gflop
// without backward pass: 1 Gflop more; and 5 Gflop of the backward pass alone.
TEST(JobWork, CountsForwardAndBackwardArithmetic) {
  const JobWork work{.operators = {{.count = 10, .flops = 2e9 * kFlop, .backward = 2},
                                   {.flops = 1e9 * kFlop, .backward = 0},
                                   {.flops = 5e9 * kFlop, .forward = 0, .backward = 1}}};
  EXPECT_NEAR(flops_per_sample(work).in(1e9 * kFlop), 66, 1e-9);
}

TEST(JobWork, SharesAnEvaluationOverTheSamplesBetweenTwo) {
  JobWork work;
  EXPECT_EQ(evaluation_share(work), 0);
  work.evaluation = {.samples = 50'000, .every = 1'000'000};
  EXPECT_NEAR(evaluation_share(work), 0.05, 1e-12);
}

TEST(JobWork, IsReadBackAsItWasWritten) {
  JobProfile job{.name = "a", .gradient_bytes = 1 * kMB};
  job.work = JobWork{.model = "resnet50",
                     .method = "full",
                     .precision = WorkPrecision::kFp16,
                     .operators = {{.kind = WorkKind::kConvolution,
                                    .name = "convolutions",
                                    .flops = 8e9 * kFlop,
                                    .backward = 2}},
                     .update_moved = 5 * kMB,
                     .activations = 40 * kMB,
                     .input = 4 * kMillisecond,
                     .spread = 0.2,
                     .accelerators = {"A100"}};
  const auto read = read_job(write_job(job), "test");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(write_job(read->noun), write_job(job));
  EXPECT_EQ(read->noun.work->operators.at(0).kind, WorkKind::kConvolution);
}

TEST(JobWork, RefusesAnUnknownPrecision) {
  const auto read = read_job(
      R"({"schema": "stint.job/1", "name": "a", "gradient_bytes": "1 MB", "work": {"model": "m",
          "precision": "fp12", "update_moved": "1 MB"}})",
      "test");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("precision"), std::string::npos);
}

}  // namespace
}  // namespace stint
