#include "app/local/probe_plan.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(ProbePlan, CountsDoubleUpToTheWholeCluster) {
  EXPECT_EQ(usual_counts(2), (std::vector<int>{2}));
  EXPECT_EQ(usual_counts(3), (std::vector<int>{2, 3}));
  EXPECT_EQ(usual_counts(8), (std::vector<int>{2, 4, 8}));
}

// Three VMs have three pairs; the first of them is already there, with the middle size.
TEST(ProbePlan, EachPairIsTriedOnceAtTheMiddleSize) {
  const auto sums = planned_sums(3, {2, 3}, {25 * kMB, 1 * kMB, 5 * kMB});
  ASSERT_TRUE(sums.ok()) << sums.error().message;
  ASSERT_EQ(sums->size(), 6U + 2U);
  EXPECT_EQ((*sums)[0], (PlannedSum{{0, 1}, 1 * kMB, false}));
  EXPECT_EQ((*sums)[1], (PlannedSum{{0, 1}, 5 * kMB, true}));
  EXPECT_EQ((*sums)[5], (PlannedSum{{0, 1, 2}, 25 * kMB, false}));
  EXPECT_EQ((*sums)[6], (PlannedSum{{1, 2}, 5 * kMB, true}));
  EXPECT_EQ((*sums)[7], (PlannedSum{{0, 2}, 5 * kMB, true}));
}

// Eight VMs have 28 pairs, which is as many as are tried; nine have 36.
TEST(ProbePlan, ManyVmsAreNotAllPairedWithEachOther) {
  const auto pairs = [](int vms) {
    const auto sums = planned_sums(vms, {vms}, {1 * kMB});
    std::size_t count = 0;
    for (const PlannedSum& sum : *sums) count += sum.pair ? 1 : 0;
    return count;
  };
  EXPECT_EQ(pairs(2), 1U);
  EXPECT_EQ(pairs(8), 28U);
  EXPECT_EQ(pairs(9), kPairsMax);
}

TEST(ProbePlan, RefusesWhatCannotBeSummed) {
  EXPECT_FALSE(planned_sums(1, {1}, {1 * kMB}).ok());
  EXPECT_FALSE(planned_sums(4, {5}, {1 * kMB}).ok());
  EXPECT_FALSE(planned_sums(4, {1}, {1 * kMB}).ok());
  EXPECT_FALSE(planned_sums(4, {4}, {}).ok());
  EXPECT_FALSE(planned_sums(4, {4}, {3 * kByte}).ok());
}

TEST(ProbePlan, IsWrittenForTheWorkers) {
  const Json json = plan_json({{{0, 1}, 1 * kMB, true}});
  EXPECT_EQ(to_text(json, JsonStyle::kLine), R"([{"vms":[0,1],"bytes":1000000}])");
}

}  // namespace
}  // namespace stint
