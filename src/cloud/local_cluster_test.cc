#include "cloud/local_cluster.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cloud/cluster_files.h"
#include "cloud/host_check.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

class LocalClusterTest : public testing::Test {
 protected:
  void SetUp() override {
    const HostSupport host = examine_host();
    for (const Status& status : {host.namespaces, host.network, host.shaping}) {
      if (!status.ok()) GTEST_SKIP() << "no emulated cloud here: " << status.error().message;
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  static ClusterSpec spec() {
    ClusterSpec it{.name = "t", .vms = {}};
    for (const char* name : {"vm1", "vm2"}) {
      it.vms.push_back({.name = name,
                        .type = "local.small",
                        .market = Market::kSpot,
                        .network = 100 * kMbit / kSecond,
                        .price = 0.03 * kDollar / kHour});
    }
    return it;
  }

  /// What `command` prints in the VM, and its exit code.
  static std::pair<std::string, int> run(const LocalCluster& cluster, const std::string& vm,
                                         const std::string& command) {
    auto pipe = make_pipe();
    const auto pid = cluster.spawn(vm, {.command = {"sh", "-c", command}, .out = pipe->to.get()});
    if (!pid.ok()) return {pid.error().message, -1};
    pipe->to.close();
    int status = 0;
    ::waitpid(*pid, &status, 0);
    return {read_line(pipe->from.get(), kSecond), exit_code_of(status)};
  }

  std::string root_ =
      fs::path(testing::TempDir()) / ("local_cluster_test" + std::to_string(::getpid()));
};

TEST_F(LocalClusterTest, ProgramsRunInTheirVmAndNothingIsLeft) {
  const auto cluster = LocalCluster::start(root_, spec());
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  const auto address = cluster->address("vm2");
  ASSERT_TRUE(address.ok());
  const auto own = run(*cluster, "vm2", "ip -4 -o addr show eth0 | grep -c " + *address);
  EXPECT_EQ(own, (std::pair<std::string, int>{"1", 0}));
  EXPECT_EQ(run(*cluster, "vm1", "echo $STINT_VM; exit 3"),
            (std::pair<std::string, int>{"vm1", 3}));
  const auto missing = cluster->spawn("vm1", {.command = {"stint-no-such-program"}});
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  const auto taken = LocalCluster::start(root_, spec());
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().kind, ErrorKind::kUsage);
  const auto ended = cluster->down();
  ASSERT_TRUE(ended.ok()) << ended.error().message;
  EXPECT_GT(ended->cost_spot, Dollars{});
  EXPECT_TRUE(cluster_names(root_).empty());
}

TEST_F(LocalClusterTest, AVmThatIsTakenBackLosesItsProcesses) {
  const auto cluster = LocalCluster::start(root_, spec());
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  const auto pid = cluster->spawn("vm2", {.command = {"sleep", "1000"}});
  ASSERT_TRUE(pid.ok()) << pid.error().message;
  ASSERT_TRUE(cluster->preempt("vm2", Seconds{}).ok());
  int status = 0;
  EXPECT_EQ(::waitpid(*pid, &status, 0), *pid);
  EXPECT_EQ(exit_code_of(status), 128 + SIGKILL);
  const auto after = cluster->status();
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->vms[0].phase, VmPhase::kRunning);
  EXPECT_EQ(after->vms[1].phase, VmPhase::kTaken);
  EXPECT_FALSE(cluster->spawn("vm2", {.command = {"true"}}).ok());
  EXPECT_FALSE(cluster->preempt("vm9", Seconds{}).ok());
  EXPECT_TRUE(cluster->down().ok());
}

TEST_F(LocalClusterTest, AClusterMayEndWithItsMaker) {
  ClusterSpec tied = spec();
  tied.ends_with_maker = true;
  {
    const auto cluster = LocalCluster::start(root_, tied);
    ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  }
  for (int i = 0; i < 500 && !cluster_names(root_).empty(); ++i) ::usleep(10000);
  EXPECT_TRUE(cluster_names(root_).empty());
}

TEST_F(LocalClusterTest, AClusterThatIsNotThereIsAUsageError) {
  const auto cluster = LocalCluster::open(root_, "nobody");
  ASSERT_FALSE(cluster.ok());
  EXPECT_EQ(cluster.error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace stint
