#include "cloud/local_cluster.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "cloud/cluster_files.h"
#include "cloud/namespaces.h"

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

  static VmSpec spot(const std::string& name) {
    VmSpec it = spec().vms[0];
    it.name = name;
    return it;
  }

  /// The output of `command` in the VM, and its exit code.
  static std::pair<std::string, int> run(const LocalCluster& cluster, const std::string& vm,
                                         const std::string& command) {
    auto pipe = make_pipe();
    const auto pid = cluster.spawn(vm, {.words = {"sh", "-c", command}, .out = pipe->to.get()});
    if (!pid.ok()) return {pid.error().message, -1};
    pipe->to.close();
    const int code = wait_for_exit(*pid);
    return {read_line(pipe->from.get(), kSecond), code};
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
  const auto missing = cluster->spawn("vm1", {.words = {"stint-no-such-program"}});
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
  const auto pid = cluster->spawn("vm2", {.words = {"sleep", "1000"}});
  ASSERT_TRUE(pid.ok()) << pid.error().message;
  ASSERT_TRUE(cluster->preempt("vm2", Seconds{}).ok());
  EXPECT_EQ(wait_for_exit(*pid), 128 + SIGKILL);
  const auto after = cluster->status();
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->vms[0].phase, VmPhase::kRunning);
  EXPECT_EQ(after->vms[1].phase, VmPhase::kTaken);
  EXPECT_FALSE(cluster->spawn("vm2", {.words = {"true"}}).ok());
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
  for (int i = 0; i < 6000 && !cluster_names(root_).empty(); ++i) ::usleep(10000);
  EXPECT_TRUE(cluster_names(root_).empty());
}

TEST_F(LocalClusterTest, VmsComeAndGoInARunningCluster) {
  const auto cluster = LocalCluster::start(root_, {.name = "t", .vms = {}});
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  EXPECT_TRUE(cluster->status()->vms.empty());
  ASSERT_TRUE(cluster->add(spot("vm1")).ok());
  const auto added = cluster->add(spot("vm2"));
  ASSERT_TRUE(added.ok()) << added.error().message;
  const auto pid = cluster->spawn("vm1", {.words = {"sleep", "1000"}});
  ASSERT_TRUE(pid.ok()) << pid.error().message;
  const auto released = cluster->release("vm1");
  ASSERT_TRUE(released.ok()) << released.error().message;
  EXPECT_EQ(released->vms[0].phase, VmPhase::kTaken);
  EXPECT_EQ(released->vms[0].released, true);
  EXPECT_EQ(wait_for_exit(*pid), 128 + SIGKILL);
  const auto again = cluster->release("vm1");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->vms[0].cost, released->vms[0].cost);
  EXPECT_EQ(again->vms[0].age, released->vms[0].age);
  EXPECT_GT(again->vms[1].cost, released->vms[1].cost);
  for (const char* name : {"vm1", "vm2", "vm_3", "", "..", "a b", "-a"}) {
    const auto refused = cluster->add(spot(name));
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_EQ(refused.error().kind, ErrorKind::kUsage) << name;
  }
  EXPECT_FALSE(cluster->release("vm9").ok());
  const auto third = cluster->add(spot("vm3"));
  ASSERT_TRUE(third.ok()) << third.error().message;
  ASSERT_EQ(third->vms.size(), 3U);
  EXPECT_NE(third->vms[2].address, third->vms[0].address);
  EXPECT_EQ(cluster->down()->vms.size(), 3U);
  EXPECT_TRUE(cluster_names(root_).empty());
}

TEST_F(LocalClusterTest, ANicIsReshapedAtBothEnds) {
  const auto cluster = LocalCluster::start(root_, spec());
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  const auto reshaped = cluster->reshape("vm2", 30 * kMbit / kSecond);
  ASSERT_TRUE(reshaped.ok()) << reshaped.error().message;
  EXPECT_NEAR(reshaped->vms[1].network.in(kMbit / kSecond), 30, 1e-9);
  EXPECT_EQ(run(*cluster, "vm2", "tc class show dev eth0 | grep -c 'rate 30Mbit'").first, "1");
  EXPECT_EQ(run(*cluster, "vm1", "tc class show dev eth0 | grep -c 'rate 100Mbit'").first, "1");
  EXPECT_FALSE(cluster->reshape("vm2", BytesPerSecond{}).ok());
  EXPECT_FALSE(cluster->reshape("vm2", 100 * kGbit / kSecond).ok());
  EXPECT_FALSE(cluster->reshape("vm9", 1 * kMbit / kSecond).ok());
  ASSERT_TRUE(cluster->release("vm2").ok());
  EXPECT_FALSE(cluster->reshape("vm2", 1 * kMbit / kSecond).ok());
  EXPECT_TRUE(cluster->down().ok());
}

TEST_F(LocalClusterTest, SpotVmsAreRefusedBeyondThePool) {
  const auto cluster =
      LocalCluster::start(root_, {.name = "t", .vms = {}, .pool = {{.at = {}, .spot = 1}}});
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  ASSERT_TRUE(cluster->add(spot("vm1")).ok());
  const auto refused = cluster->add(spot("vm2"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(refused.error().message,
            "there is no spot capacity for vm2: the pool has 1 VM, and 1 is in use");
  VmSpec on_demand = spot("vm2");
  on_demand.market = Market::kOnDemand;
  EXPECT_TRUE(cluster->add(on_demand).ok());
  ASSERT_TRUE(cluster->release("vm1").ok());
  EXPECT_TRUE(cluster->add(spot("vm3")).ok());
  EXPECT_EQ(cluster->status()->spot_capacity, 1);
  EXPECT_TRUE(cluster->down().ok());
}

// The pool has capacity for one from a moment on, without a notice: the younger VM is lost. If the
// computer is so busy that the moment passes before both are up, a later one is tried.
TEST_F(LocalClusterTest, ThePoolTakesTheYoungest) {
  ClusterSpec falling = spec();
  Result<LocalCluster> cluster = failed("it was not tried");
  Result<pid_t> pid = failed("it was not tried");
  Seconds moment;
  for (const double seconds : {1, 5, 25, 125}) {
    moment = seconds * kSecond;
    falling.pool = {{.at = moment, .spot = 1, .unannounced = true}};
    cluster = LocalCluster::start(root_, falling);
    if (!cluster.ok()) continue;
    pid = cluster->spawn("vm2", {.words = {"sleep", "1000"}});
    if (pid.ok()) break;
    ASSERT_TRUE(cluster->down().ok());
  }
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  ASSERT_TRUE(pid.ok()) << pid.error().message;
  wait_for_exit(*pid);
  const auto after = cluster->status();
  ASSERT_TRUE(after.ok());
  EXPECT_GE(after->age, moment);
  EXPECT_EQ(after->vms[0].phase, VmPhase::kRunning);
  EXPECT_EQ(after->vms[1].phase, VmPhase::kTaken);
  EXPECT_FALSE(after->vms[1].released.has_value());
  EXPECT_TRUE(cluster->down().ok());
}

TEST_F(LocalClusterTest, AClusterOutlivesAMakerThatIsKilled) {
  const auto maker = fork_child([&](int) {
    const auto cluster = LocalCluster::start(root_, spec());
    return ::kill(::getpid(), SIGKILL);
  });
  ASSERT_TRUE(maker.ok());
  ASSERT_EQ(wait_for_exit(maker->pid), 128 + SIGKILL);
  const auto found = LocalCluster::open(root_, "t");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(run(*found, "vm1", "echo $STINT_VM").first, "vm1");
  EXPECT_TRUE(found->add(spot("vm3")).ok());
  EXPECT_TRUE(found->down().ok());
}

// A VM's namespace, and with it the keeper, stays until the process that started a program there
// has read that program's status. Here nothing reads it, so that the killed keeper stays for the
// whole test.
TEST_F(LocalClusterTest, CleaningRemovesAClusterWhoseKeeperIsKilledButNotGone) {
  const auto cluster = LocalCluster::start(root_, spec());
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  const auto journal = read_journal(*read_file(journal_path(cluster_folder(root_, "t"))), "t");
  ASSERT_TRUE(journal.ok()) << journal.error().message;
  const ProcessId keeper = journal->processes.back();
  const auto pid = cluster->spawn("vm1", {.words = {"sleep", "1000"}});
  ASSERT_TRUE(pid.ok()) << pid.error().message;
  EXPECT_EQ(clean_clusters(root_).alive, std::vector<std::string>{"t"});
  ::kill(static_cast<pid_t>(keeper.pid), SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(*pid), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(is_alive(keeper));
  const Cleaning cleaning = clean_clusters(root_);
  EXPECT_EQ(cleaning.removed, std::vector<std::string>{"t"});
  EXPECT_TRUE(cluster_names(root_).empty());
  ::waitpid(*pid, nullptr, 0);
}

TEST_F(LocalClusterTest, AProgramKeepsTheDescriptorsThatAreGiven) {
  const auto cluster = LocalCluster::start(root_, {.name = "t", .vms = {spot("vm1")}});
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  auto control = make_pipe();
  auto other = make_pipe();
  auto input = make_pipe();
  write_all(input->to.get(), "secret\n");
  input->to.close();
  const std::string kept = std::to_string(control->to.get());
  const std::string closed = std::to_string(other->to.get());
  const auto pid = cluster->spawn(
      "vm1", {.words = {"sh", "-c",
                        "test -e /proc/self/fd/" + closed + " && exit 4; read word; echo $word " +
                            "$(pwd) >&" + kept},
              .in = input->from.get(),
              .folder = "/proc",
              .kept = std::vector<int>{control->to.get()}});
  ASSERT_TRUE(pid.ok()) << pid.error().message;
  control->to.close();
  EXPECT_EQ(read_line(control->from.get(), kMinute), "secret /proc");
  EXPECT_EQ(wait_for_exit(*pid), 0);
  const auto nowhere = cluster->spawn("vm1", {.words = {"true"}, .folder = "/no/such/folder"});
  EXPECT_FALSE(nowhere.ok());
  EXPECT_TRUE(cluster->down().ok());
}

TEST_F(LocalClusterTest, AClusterThatIsNotThereIsAUsageError) {
  const auto cluster = LocalCluster::open(root_, "nobody");
  ASSERT_FALSE(cluster.ok());
  EXPECT_EQ(cluster.error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace stint
