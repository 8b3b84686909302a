#include "measure/tables/reductions.h"

#include <gtest/gtest.h>

#include "measure/measurement.h"
#include "measure/tables/stint_steps.h"

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
  EXPECT_EQ(found->size(), 3U);  // Nothing starts c.
}

TEST(Reductions, OnlyVmsOfTheClusterTakePart) {
  const auto problem = [](const std::vector<int>& vms) {
    const auto found = read_reductions(
        start("a", "2x local.small") + sum("a", vms, 1 * kMB, 1 * kSecond), "probe.jsonl");
    return found.ok() ? "" : found.error().message;
  };
  EXPECT_EQ(problem({0, 1}), "");
  EXPECT_EQ(problem({0}), "probe.jsonl: a sum needs two VMs or more");
  EXPECT_EQ(problem({0, 0}), "probe.jsonl: a VM takes part twice");
  EXPECT_EQ(problem({0, 2}), "probe.jsonl: there is no VM 2: the cluster '2x local.small' has 2");
}

TEST(Reductions, AProbeIsNoRun) {
  const auto runs = read_measured_runs(
      start("a", "2x local.small") + sum("a", {0, 1}, 1 * kMB, 1 * kSecond), "probe.jsonl");
  ASSERT_TRUE(runs.ok());
  EXPECT_TRUE(runs->empty());
}

}  // namespace
}  // namespace stint
