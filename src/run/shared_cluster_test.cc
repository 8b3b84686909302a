#include "run/shared_cluster.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "cloud/host_check.h"

namespace stint {
namespace {

using testing::HasSubstr;

class SharedClusterTest : public testing::Test {
 protected:
  void SetUp() override {
    const HostSupport host = examine_host();
    for (const Status& status : {host.namespaces, host.network, host.shaping}) {
      if (!status.ok()) GTEST_SKIP() << "no emulated cloud here: " << status.error().message;
    }
    auto made = LocalCluster::start(place_.path() + "/clusters",
                                    {.name = fmt::format("s{}", ::getpid()), .vms = {}});
    ASSERT_TRUE(made.ok()) << made.error().message;
    cluster_ = std::move(*made);
  }
  void TearDown() override {
    if (cluster_) (void)cluster_->down();
  }

  SharedCluster member(int number) {
    return {*cluster_,
            {.folder = place_.path(),
             .member = number,
             .variables = {fmt::format("MEMBER={}", number)},
             .log_folder = place_.path()}};
  }
  static VmSpec wanted(const std::string& name) {
    return {.name = name,
            .type = "local.small",
            .network = kGbit / kSecond,
            .price = 1 * kDollar / kHour};
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::optional<LocalCluster> cluster_;
};

TEST_F(SharedClusterTest, TheSecondRunJoinsTheMachineOfTheFirstAndTheLastGivesItBack) {
  const SharedCluster a = member(0);
  const SharedCluster b = member(1);
  ASSERT_TRUE(a.add(wanted("vm1")).ok());
  ASSERT_TRUE(b.add(wanted("vm5")).ok());
  ASSERT_EQ(cluster_->status()->vms.size(), 1u);
  EXPECT_DOUBLE_EQ(cluster_->status()->vms[0].price.in(kDollar / kHour), 2);
  EXPECT_DOUBLE_EQ(a.status()->vms[0].price.in(kDollar / kHour), 1);
  EXPECT_EQ(b.status()->vms[0].name, "vm5");

  ASSERT_TRUE(a.release("vm1").ok());
  EXPECT_EQ(a.status()->vms[0].phase, VmPhase::kTaken);
  EXPECT_EQ(b.status()->vms[0].phase, VmPhase::kRunning);
  EXPECT_EQ(cluster_->status()->vms[0].phase, VmPhase::kRunning);
  ASSERT_TRUE(b.release("vm5").ok());
  const ClusterStatus status = *cluster_->status();
  EXPECT_EQ(status.vms[0].phase, VmPhase::kTaken);
  const double paid = (a.status()->vms[0].cost + b.status()->vms[0].cost).in(kDollar);
  EXPECT_NEAR(paid, status.vms[0].cost.in(kDollar), 1e-12);
}

TEST_F(SharedClusterTest, AnotherKindOfMachineIsRentedAnew) {
  const SharedCluster a = member(0);
  const SharedCluster b = member(1);
  ASSERT_TRUE(a.add(wanted("vm1")).ok());
  VmSpec other = wanted("vm1");
  other.type = "local.large";
  ASSERT_TRUE(b.add(other).ok());
  EXPECT_EQ(cluster_->status()->vms.size(), 2u);
  EXPECT_EQ(b.status()->vms.size(), 1u);
  EXPECT_EQ(b.status()->vms[0].type, "local.large");
}

TEST_F(SharedClusterTest, ProgramsAreToldWhereTheTurnstileOfTheirMachineIs) {
  const SharedCluster a = member(0);
  ASSERT_TRUE(a.add(wanted("vm7")).ok());
  const std::string path = place_.path() + "/out";
  const int out = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(out, 0);
  const auto pid = a.spawn(
      "vm7",
      {.command = {"/bin/sh", "-c", "echo $STINT_TURNSTILE $STINT_TURNS_LOG $MEMBER"}, .out = out});
  ASSERT_TRUE(pid.ok()) << pid.error().message;
  int status = 0;
  ::waitpid(*pid, &status, 0);
  ::close(out);
  EXPECT_EQ(*read_file(path),
            fmt::format("{0}/vm1.turnstile {0}/vm1-turns.jsonl 0\n", place_.path()));
}

TEST_F(SharedClusterTest, AMachineThatARunNeverHadIsNotItsToGiveBack) {
  const auto given = member(0).release("vm1");
  ASSERT_FALSE(given.ok());
  EXPECT_THAT(given.error().message, HasSubstr("no machine called vm1"));
  EXPECT_FALSE(member(0).spawn("vm1", {.command = {"true"}}).ok());
}

}  // namespace
}  // namespace stint
