#include "measure/tables/stint_steps.h"

#include <gtest/gtest.h>

#include "measure/measurement.h"

namespace stint {
namespace {

std::string start(const std::string& run, const std::string& cluster) {
  Layout layout{.cluster = *parse_cluster(cluster)};
  layout.setups.resize(layout.cluster.groups.size());
  return write_measurement({.run = run, .start = RunStart{.job = "probe", .layout = layout}});
}

std::string sum(const std::string& run, const std::vector<int>& vms, Bytes bytes, Seconds time) {
  return write_measurement(
      {.run = run, .reduction = ReductionRecord{.vms = vms, .bytes = bytes, .time = time}});
}

// Two times of the pair, one of three VMs, and the pair again: two rounds of the pair.
TEST(Reductions, TimesThatFollowEachOtherAreARound) {
  const std::string text =
      start("a", "2x local.small + 1x local.large") + sum("a", {0, 1}, 1 * kMB, 1 * kSecond) +
      sum("a", {0, 1}, 1 * kMB, 2 * kSecond) + sum("a", {0, 1, 2}, 1 * kMB, 3 * kSecond) +
      sum("a", {0, 1}, 1 * kMB, 4 * kSecond);
  const auto found = read_reductions(text, "probe.jsonl");
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  const std::vector<std::vector<Seconds>> rounds = {{1 * kSecond, 2 * kSecond}, {4 * kSecond}};
  EXPECT_EQ((*found)[0].rounds, rounds);
  EXPECT_EQ(times_of((*found)[0]).size(), 3U);
  EXPECT_EQ((*found)[1].vms, (std::vector<int>{0, 1, 2}));
  const auto vms = vms_of((*found)[1].cluster);
  ASSERT_EQ(vms.size(), 3U);
  EXPECT_EQ(vms[1].name, "local.small");
  EXPECT_EQ(vms[2].name, "local.large");
}

TEST(Reductions, RunsAndSizesAreKeptApart) {
  const std::string text =
      start("a", "2x local.small") + start("b", "2x local.small") +
      sum("a", {0, 1}, 1 * kMB, 1 * kSecond) + sum("b", {0, 1}, 1 * kMB, 1 * kSecond) +
      sum("b", {0, 1}, 2 * kMB, 1 * kSecond) + sum("c", {0, 1}, 2 * kMB, 1 * kSecond);
  const auto found = read_reductions(text, "probe.jsonl");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->size(), 3U);  // No line starts c.
}

TEST(Reductions, OnlyVmsOfTheClusterTakePart) {
  const auto problem = [](const std::vector<int>& vms) {
    const auto found = read_reductions(
        start("a", "2x local.small") + sum("a", vms, 1 * kMB, 1 * kSecond), "probe.jsonl");
    return found.ok() ? "" : found.error().message;
  };
  EXPECT_EQ(problem({0, 1}), "");
  EXPECT_EQ(problem({0}), "probe.jsonl: an all-reduce needs two VMs or more");
  EXPECT_EQ(problem({0, 0}), "probe.jsonl: a VM takes part twice");
  EXPECT_EQ(problem({0, 2}), "probe.jsonl: there is no VM 2: the cluster '2x local.small' has 2");
}

TEST(Reductions, AProbeIsNoRun) {
  const auto runs = read_measured_runs(
      start("a", "2x local.small") + sum("a", {0, 1}, 1 * kMB, 1 * kSecond), "probe.jsonl");
  ASSERT_TRUE(runs.ok());
  EXPECT_TRUE(runs->empty());
}

std::string start(const std::string& run, const std::string& cluster,
                  const std::vector<GroupSetup>& setups, int accumulation = 1,
                  Collective collective = Collective::kRing) {
  const Layout layout{.cluster = *parse_cluster(cluster),
                      .setups = setups,
                      .collective = collective,
                      .accumulation = accumulation};
  return write_measurement({.run = run, .start = RunStart{.job = "net", .layout = layout}});
}

std::string iterations(const std::string& run, const std::vector<double>& seconds) {
  std::string text;
  std::int64_t number = 0;
  for (const double time : seconds) {
    const IterationRecord record{.number = ++number, .time = time * kSecond};
    text += write_measurement({.run = run, .iteration = record});
  }
  return text;
}

std::vector<StepRow> rows_of(const std::string& text) {
  const auto rows = read_stint_steps(text, "m.jsonl");
  EXPECT_TRUE(rows.ok()) << rows.error().message;
  return *rows;
}

const std::vector<GroupSetup> kFourWorkers = {{.workers_per_vm = 4, .batch_per_worker = 32}};

// 3, 1 and 2 s have the median 2 s; with 4 s added it lies halfway from 2 to 3 s.
TEST(StintSteps, TheTimeIsTheMedianOfTheIterations) {
  const std::string begin = start("a", "2x g4dn.12xlarge", kFourWorkers);
  const auto rows = rows_of(begin + iterations("a", {3, 1, 2}));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].job, "net");
  EXPECT_EQ(rows[0].device, "g4dn.12xlarge");
  EXPECT_EQ(rows[0].servers, 0);
  EXPECT_EQ(rows[0].workers_by_vm, (std::vector<int>{4, 4}));
  EXPECT_EQ(rows[0].batch_per_worker, 32);
  EXPECT_EQ(rows[0].time, 2 * kSecond);
  EXPECT_EQ(rows[0].unusable, "");
  EXPECT_EQ(rows_of(begin + iterations("a", {3, 1, 2, 4}))[0].time, 2.5 * kSecond);
}

// Of six the first two go: the median of 1, 1, 3 and 3 is 2. Of five none goes: 9.
TEST(StintSteps, LeavesOutTheWarmUpOfLongRuns) {
  const std::string begin = start("a", "g4dn.xlarge", kFourWorkers);
  EXPECT_EQ(rows_of(begin + iterations("a", {9, 9, 1, 1, 3, 3}))[0].time, 2 * kSecond);
  EXPECT_EQ(rows_of(begin + iterations("a", {9, 9, 9, 1, 1}))[0].time, 9 * kSecond);
}

TEST(StintSteps, EveryStartOfARunIsARow) {
  const auto rows = rows_of(iterations("a", {7}) + start("a", "2x g4dn.xlarge", kFourWorkers) +
                            start("b", "g4dn.xlarge", kFourWorkers) + iterations("a", {1}) +
                            iterations("b", {2}) + start("a", "3x g4dn.xlarge", kFourWorkers) +
                            iterations("a", {3}) + start("c", "g4dn.xlarge", kFourWorkers));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].time, 1 * kSecond);
  EXPECT_EQ(rows[1].time, 2 * kSecond);
  EXPECT_EQ(rows[2].time, 3 * kSecond);
  EXPECT_EQ(rows[2].workers_by_vm.size(), 3U);
  EXPECT_FALSE(rows[3].time.has_value());
}

TEST(StintSteps, SaysWhyAStartIsOfNoUse) {
  const std::vector<GroupSetup> two = {{.workers_per_vm = 1, .batch_per_worker = 8},
                                       {.workers_per_vm = 2, .batch_per_worker = 8}};
  const std::vector<GroupSetup> uneven = {{.batch_per_worker = 8}, {.batch_per_worker = 4}};
  const auto reason = [](const std::string& line) { return rows_of(line)[0].unusable; };
  EXPECT_EQ(reason(start("a", "1x p3.2xlarge + 2x g4dn.xlarge", two)), "mixed cluster");
  const auto same = rows_of(start("a", "1x p3.2xlarge:spot + 2x p3.2xlarge", two));
  EXPECT_EQ(same[0].unusable, "");
  EXPECT_EQ(same[0].workers_by_vm, (std::vector<int>{1, 2, 2}));
  EXPECT_EQ(reason(start("a", "1x p3.2xlarge:spot + 2x p3.2xlarge", uneven)),
            "batches differ between groups");
  EXPECT_EQ(reason(start("a", "p3.2xlarge", kFourWorkers, 2)), "accumulates gradients");
  EXPECT_EQ(reason(start("a", "200x p3.2xlarge", {{.workers_per_vm = 1000}})), "too many workers");
}

TEST(StintSteps, ATypeIsTheSameWhicheverWayItIsCalled) {
  const auto rows = rows_of(start("a", "aws/g4dn.xlarge", kFourWorkers) +
                            start("b", "2x g4dn.xlarge:spot", kFourWorkers));
  EXPECT_EQ(rows[0].device, "g4dn.xlarge");
  EXPECT_EQ(rows[1].device, "g4dn.xlarge");
}

TEST(StintSteps, ThereIsAParameterServerOnEachVm) {
  const auto rows =
      rows_of(start("a", "3x g4dn.12xlarge", kFourWorkers, 1, Collective::kParameterServer));
  EXPECT_EQ(rows[0].servers, 3);
  EXPECT_EQ(rows[0].unusable, "");
}

TEST(StintSteps, OtherCollectivesAreNotLearnedFrom) {
  const auto reason = [](Collective collective) {
    return rows_of(start("a", "2x g4dn.12xlarge", kFourWorkers, 1, collective))[0].unusable;
  };
  EXPECT_EQ(reason(Collective::kTopK), "the collective top-k is not supported for training yet");
  EXPECT_EQ(reason(Collective::kHierarchical),
            "the collective hierarchical is not supported for training yet");
}

TEST(StintSteps, ABadLineIsBadInput) {
  const auto rows = read_stint_steps("{}\n{}\n", "m.jsonl");
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind, ErrorKind::kBadInput);
}

}  // namespace

}  // namespace stint
