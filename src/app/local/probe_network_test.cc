#include "app/local/probe_network.h"

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

Environment environment() {
  return {.data_folder = testing::TempDir() + "/probe_network_test",
          .state_folder = testing::TempDir() + "/probe_network_test",
          .home = testing::TempDir(),
          .shell = "sh",
          .charset = "UTF-8",
          .clock = std::make_shared<FixedClock>(1e9 * kSecond)};
}

// Two VMs at 100 Mbit/s, one sum of 10 MB, once after a warm-up: 10 MB / (0.96 · 12.5 MB/s) = 0.83
// s each, beside 2 s for each worker to start.
TEST(ProbeNetwork, AnOutlineTellsHowLongItTakes) {
  const auto outline = outline_probe(
      environment(), {.cluster = "2x local.small", .sizes = {10 * kMB}, .rounds = 1, .repeats = 1});
  ASSERT_TRUE(outline.ok()) << outline.error().message;
  EXPECT_EQ(outline->sums.size(), 1U);
  EXPECT_NEAR(outline->duration.in(kSecond), 4 + 2 * 0.83, 0.2);
}

TEST(ProbeNetwork, RoundsThatArePutApartTakeLonger) {
  const auto outline = outline_probe(environment(), {.cluster = "2x local.small",
                                                     .sizes = {10 * kMB},
                                                     .rounds = 3,
                                                     .repeats = 1,
                                                     .every = 100 * kSecond});
  ASSERT_TRUE(outline.ok());
  EXPECT_NEAR(outline->duration.in(kSecond), 4 + 200 + 2 * 0.83, 0.2);
}

// By a law of steps the same network: 10 MB at 100 Mbit/s are 0.8 s at line rate, and what TCP
// costs beyond it is a share.
TEST(ProbeNetwork, ALawOfStepsIsAskedToo) {
  const auto outline = outline_probe(environment(), {.cluster = "2x local.small",
                                                     .sizes = {10 * kMB},
                                                     .rounds = 1,
                                                     .repeats = 1,
                                                     .calibration = "aws-tcp"});
  ASSERT_TRUE(outline.ok()) << outline.error().message;
  EXPECT_GT(outline->duration.in(kSecond), 4 + 2 * 0.8);
  EXPECT_LT(outline->duration.in(kSecond), 4 + 2 * 8.0);
}

TEST(ProbeNetwork, RefusesBeforeAnythingIsMade) {
  const auto kind = [](const ProbeRequest& request) {
    const auto report = probe_network(environment(), request, [](double /*done*/) {});
    EXPECT_FALSE(report.ok());
    return report.ok() ? ErrorKind::kFailed : report.error().kind;
  };
  EXPECT_EQ(kind({.cluster = "1x local.small"}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.cluster = "2x local.none"}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.cluster = "2x local.small", .calibration = "nothing"}), ErrorKind::kBadInput);
  EXPECT_EQ(kind({.cluster = "2x local.small", .python = "/not/there"}), ErrorKind::kUnavailable);
}

}  // namespace

}  // namespace stint
