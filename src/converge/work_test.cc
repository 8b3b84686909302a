#include "converge/work.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(Work, CountsTheIterationsOfAllEpochsAtTheReferenceBatch) {
  JobProfile job{.name = "j"};
  job.samples_per_epoch = 1000;
  job.goal = Goal{.epochs = 3};
  job.batch = BatchRange{.reference = 64};
  const auto work = work_to_goal(job);
  ASSERT_TRUE(work.ok());
  ASSERT_EQ(work->choices.size(), 1U);
  // 3000 samples in steps of 64: 46.875, so the last one is not full.
  EXPECT_EQ(work->choices[0].iterations, 47);
}

}  // namespace
}  // namespace stint
