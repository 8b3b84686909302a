#include "app/local/local_cases.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "cloud/cluster_files.h"

namespace stint {
namespace {

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
  EXPECT_EQ(answer.error().message, "there are 2 clusters: say which with --name, one or two");
}

TEST_F(LocalCases, WithoutAHomeThereIsNoPlace) {
  environment_.state_folder.reset();
  EXPECT_FALSE(local_list(environment_).ok());
  environment_.state_folder = testing::TempDir() + "/local_cases_test";
}

}  // namespace
}  // namespace stint
