#include "app/local/local_cases.h"

#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"
#include "cloud/cluster_files.h"

namespace stint {
namespace {

ClusterSpec sample() {
  ClusterSpec spec{.name = "a", .vms = {}};
  for (const Market market : {Market::kOnDemand, Market::kSpot, Market::kSpot, Market::kSpot}) {
    spec.vms.push_back({.name = "vm", .type = "local.small", .market = market});
  }
  return spec;
}

TEST(LocalLife, WithoutOneNothingIsTakenBack) {
  ClusterSpec spec = sample();
  ASSERT_TRUE(set_lives(spec, "until-down", 1).ok());
  for (const VmSpec& vm : spec.vms) EXPECT_FALSE(vm.life.has_value());
}

TEST(LocalLife, AHazardIsTheSameForTheSameSeedAndSparesOnDemand) {
  ClusterSpec spec = sample();
  ClusterSpec again = sample();
  ClusterSpec other = sample();
  ASSERT_TRUE(set_lives(spec, "hazard:30m", 7).ok());
  ASSERT_TRUE(set_lives(again, "hazard:30m", 7).ok());
  ASSERT_TRUE(set_lives(other, "hazard:30m", 8).ok());
  EXPECT_FALSE(spec.vms[0].life.has_value());
  EXPECT_EQ(*spec.vms[1].life, *again.vms[1].life);
  EXPECT_NE(*spec.vms[1].life, *other.vms[1].life);
}

// The trace has 3 machines in its first tick of 60 s, then 1, then 2: the last two of the three go
// after 60 s, and the one that is left stays.
TEST(LocalLife, ATraceTakesTheLastOnesFirst) {
  const std::string file = testing::TempDir() + "/local_life_test.json";
  ASSERT_TRUE(write_file(file, R"({"metadata": {"gap_seconds": 60}, "data": [3, 1, 2]})").ok());
  ClusterSpec spec = sample();
  const Status status = set_lives(spec, "trace:" + file, 1);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_FALSE(spec.vms[1].life.has_value());
  EXPECT_EQ(*spec.vms[2].life, 60 * kSecond);
  EXPECT_EQ(*spec.vms[3].life, 60 * kSecond);
  std::remove(file.c_str());
}

TEST(LocalLife, RefusesWhatMakesNoSense) {
  ClusterSpec spec = sample();
  EXPECT_EQ(set_lives(spec, "forever", 1).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(set_lives(spec, "hazard:30", 1).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(set_lives(spec, "hazard:0s", 1).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(set_lives(spec, "trace:/nowhere", 1).error().kind, ErrorKind::kBadInput);
  spec.vms.resize(1);
  EXPECT_EQ(set_lives(spec, "hazard:30m", 1).error().kind, ErrorKind::kUsage);
}

namespace fs = std::filesystem;

class LocalCases : public testing::Test {
 protected:
  LocalCases() { fs::remove_all(*environment_.state_folder); }
  ~LocalCases() override { fs::remove_all(*environment_.state_folder); }

  ErrorKind refusal(const LocalUpRequest& request) const {
    const auto answer = local_up(environment_, request);
    EXPECT_FALSE(answer.ok());
    return answer.ok() ? ErrorKind::kFailed : answer.error().kind;
  }

  std::string root() const { return *environment_.state_folder + "/local"; }

  Environment environment_{.data_folder = testing::TempDir() + "/local_cases_test_data",
                           .state_folder = testing::TempDir() + "/local_cases_test",
                           .home = testing::TempDir(),
                           .shell = "sh",
                           .charset = "UTF-8",
                           .clock = std::make_shared<SystemClock>()};
};

TEST_F(LocalCases, RefusesBeforeAnythingIsMade) {
  EXPECT_EQ(refusal({.cluster = "4x local.huge"}), ErrorKind::kUsage);
  EXPECT_EQ(refusal({.cluster = "4x g4dn.xlarge"}), ErrorKind::kUsage);
  EXPECT_EQ(refusal({.cluster = "20x local.fast"}), ErrorKind::kUsage);
  EXPECT_EQ(refusal({.cluster = "2x local.small", .name = "../x"}), ErrorKind::kUsage);
  EXPECT_EQ(refusal({.cluster = "2x local.small", .life = "hazard:1h"}), ErrorKind::kUsage);
  EXPECT_EQ(refusal({.cluster = "2x local.small", .processors = 0.01}), ErrorKind::kUsage);
  EXPECT_EQ(refusal({.cluster = "local.small", .pool = "/no/such.csv"}), ErrorKind::kBadInput);
  EXPECT_FALSE(fs::exists(root()));
}

TEST_F(LocalCases, RefusesWhatCannotBeAdded) {
  const auto kind = [&](const LocalAddRequest& request) {
    return local_add(environment_, request).error().kind;
  };
  EXPECT_EQ(kind({.vm = "vm1", .type = "local.small"}), ErrorKind::kUsage);
  ASSERT_TRUE(make_cluster_files(root(), "one").ok());
  EXPECT_EQ(kind({.vm = "a b", .type = "local.small"}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.vm = "vm1", .type = "local.huge"}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.vm = "vm1", .type = "2x local.small"}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.vm = "vm1", .type = "local.small"}), ErrorKind::kFailed);
  EXPECT_EQ(local_release(environment_, "", "vm1").error().kind, ErrorKind::kFailed);
  EXPECT_EQ(local_reshape(environment_, "", "vm1", kGbit / kSecond).error().kind,
            ErrorKind::kFailed);
}

TEST_F(LocalCases, ATakenNameIsRefused) {
  ASSERT_TRUE(make_cluster_files(root(), "local").ok());
  EXPECT_EQ(refusal({.cluster = "local.small"}), ErrorKind::kUsage);
}

TEST_F(LocalCases, ClustersWithoutAKeeperAreDeadUntilTheyAreCleaned) {
  ASSERT_TRUE(make_cluster_files(root(), "one").ok());
  EXPECT_EQ(local_list(environment_)->dead, std::vector<std::string>{"one"});
  EXPECT_EQ(local_down(environment_, "").error().kind, ErrorKind::kFailed);
  EXPECT_EQ(local_clean(environment_)->removed, std::vector<std::string>{"one"});
  EXPECT_TRUE(local_list(environment_)->dead.empty());
  EXPECT_EQ(local_down(environment_, "").error().kind, ErrorKind::kUsage);
}

TEST_F(LocalCases, OfSeveralClustersOneMustBeNamed) {
  ASSERT_TRUE(make_cluster_files(root(), "one").ok());
  ASSERT_TRUE(make_cluster_files(root(), "two").ok());
  const auto answer = local_preempt(environment_, "", "vm1", Seconds{});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, "there are 2 clusters: choose one with --name, one or two");
}

TEST_F(LocalCases, WithoutAHomeThereIsNoPlace) {
  environment_.state_folder.reset();
  EXPECT_FALSE(local_list(environment_).ok());
  environment_.state_folder = testing::TempDir() + "/local_cases_test";
}

}  // namespace

}  // namespace stint
