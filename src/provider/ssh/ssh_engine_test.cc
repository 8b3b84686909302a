#include "provider/ssh/ssh_engine.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/sha256.h"
#include "base/temporary_folder.h"
#include "provider/asked_provider.h"

namespace stint {
namespace {

// In place of ssh: runs the script with a home folder for each host. A file of the host's name with
// .fails has the exit code and what ssh prints then.
constexpr const char* kFakeSsh = R"sh(#!/bin/sh
here=$(dirname "$0")
for last; do host=$before; before=$last; done
case " $* " in *" -O "*) exit 0 ;; esac
if test -e "$here/$host.fails"; then
  tail -n +2 "$here/$host.fails" >&2
  exit "$(head -n 1 "$here/$host.fails")"
fi
mkdir -p "$here/$host"
echo x >> "$here/$host.calls"
HOME="$here/$host" exec /bin/sh -c "$last"
)sh";

class SshEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    const std::string ssh = place("ssh");
    ASSERT_TRUE(write_file(ssh, kFakeSsh).ok());
    ASSERT_EQ(::chmod(ssh.c_str(), 0700), 0);
    const std::string program = "#!/bin/sh\nread line; echo heard $line by $1 with $A\n";
    ASSERT_TRUE(write_file(place("program"), program).ok());
    utsname system{};
    ::uname(&system);
    settings_ = {.folder = folder_->path(),
                 .binary = place("program"),
                 .hash = to_hex(sha256(program)),
                 .architecture = system.machine,
                 .client = {.program = ssh, .control = folder_->path()},
                 .hosts = {{.name = "a"}, {.name = "b"}},
                 .look = 10 * kMillisecond};
    open();
  }

  void open() { engine_.emplace(settings_, clock_); }

  std::string place(const std::string& name) const { return folder_->path() + "/" + name; }

  void fail(const std::string& host, const std::string& text) const {
    ASSERT_TRUE(write_file(place(host + ".fails"), text).ok());
  }
  void repair(const std::string& host) const { std::filesystem::remove(place(host + ".fails")); }

  /// Why an order is refused; empty: it is accepted.
  std::string refusal(const MachineOrder& order) {
    const auto answer = engine_->request(order);
    if (!answer.ok()) return "no answer: " + answer.error().message;
    if (!*answer) return "";
    again_ = (*answer)->again;
    return (*answer)->reason;
  }

  /// The latest machine of this name.
  MachineState state(const std::string& name) const {
    const auto list = engine_->look();
    MachineState found{.name = "none"};
    if (!list.ok()) return {.name = list.error().message};
    for (const MachineState& it : list->machines) found = it.name == name ? it : found;
    return found;
  }

  /// Looks until the machine is as `wanted`, for a minute at most.
  template <class Wanted>
  bool becomes(const std::string& name, Wanted wanted) const {
    for (const Deadline limit(kMinute); !limit.passed();) {
      if (wanted(state(name))) return true;
      ::poll(nullptr, 0, 5);
    }
    return false;
  }
  bool comes_up(const std::string& name) const {
    return becomes(name, [](const MachineState& it) { return it.phase == MachinePhase::kUp; });
  }

  std::optional<TemporaryFolder> folder_;
  FixedClock clock_{1000 * kSecond};
  SshSettings settings_;
  std::optional<SshEngine> engine_;
  bool again_ = false;
};

TEST_F(SshEngineTest, GivesAHostAndCopiesTheProgramOnce) {
  EXPECT_EQ(refusal({.name = "vm1", .type = "t"}), "");
  EXPECT_EQ(refusal({.name = "vm1", .type = "t"}), "");
  EXPECT_EQ(state("vm1").phase, MachinePhase::kPending);
  EXPECT_EQ(engine_->look()->machines.size(), 1U);
  ASSERT_TRUE(comes_up("vm1"));
  EXPECT_EQ(state("vm1").address, "a");
  EXPECT_EQ(state("vm1").type, "t");
  const std::string copy = place("a/.cache/stint/agent-") + settings_.hash;
  EXPECT_TRUE(read_file(copy).ok());
  const auto before = std::filesystem::last_write_time(copy);
  // It is looked at again, without another copy.
  EXPECT_TRUE(becomes(
      "vm1", [&](const MachineState&) { return read_file(place("a.calls"))->size() >= 10; }));
  EXPECT_EQ(std::filesystem::last_write_time(copy), before);
  EXPECT_EQ(refusal({.name = "vm2"}), "");
  ASSERT_TRUE(comes_up("vm2"));
  EXPECT_EQ(state("vm2").address, "b");
  EXPECT_EQ(refusal({.name = "vm3"}), "no on-demand host is free");
  EXPECT_TRUE(again_);
  clock_.advance(60 * kSecond);
  ASSERT_TRUE(engine_->release("vm1").ok());
  ASSERT_TRUE(engine_->release("vm1").ok());
  ASSERT_TRUE(engine_->release("never").ok());
  const MachineState released = state("vm1");
  EXPECT_EQ(released.phase, MachinePhase::kGone);
  EXPECT_TRUE(released.released);
  EXPECT_DOUBLE_EQ(released.paid.in(kSecond), 60);
  EXPECT_EQ(refusal({.name = "vm3"}), "");
  EXPECT_TRUE(comes_up("vm3"));
}

TEST_F(SshEngineTest, StartsProgramsOnMachines) {
  EXPECT_FALSE(engine_->spawn("vm1", {.words = {"true"}}).ok());
  ASSERT_EQ(refusal({.name = "vm1"}), "");
  ASSERT_TRUE(comes_up("vm1"));
  auto in = make_pipe();
  auto out = make_pipe();
  const auto pid = engine_->spawn("vm1", {.words = {"stint", "agent"},
                                          .variables = {"A=b c"},
                                          .in = in->from.get(),
                                          .out = out->to.get()});
  ASSERT_TRUE(pid.ok()) << pid.error().message;
  ASSERT_TRUE(write_all(in->to.get(), "hello\n"));
  EXPECT_EQ(read_line(out->from.get(), kMinute), "heard hello by agent with b c");
  EXPECT_EQ(wait_for_exit(*pid), 0);
  EXPECT_FALSE(engine_->spawn("vm1", {.words = {"true"}, .kept = std::vector<int>{5}}).ok());
}

TEST_F(SshEngineTest, ALaterProcessFindsTheHosts) {
  ASSERT_EQ(refusal({.name = "vm1"}), "");
  ASSERT_EQ(refusal({.name = "vm2"}), "");
  ASSERT_TRUE(engine_->release("vm1").ok());
  open();
  EXPECT_EQ(state("vm1").phase, MachinePhase::kGone);
  ASSERT_TRUE(comes_up("vm2"));
  EXPECT_EQ(state("vm2").address, "b");
  settings_.hosts = {{.name = "a"}};
  open();
  EXPECT_EQ(state("vm2").reason, "b is no longer in the list of hosts");
  EXPECT_EQ(state("vm2").phase, MachinePhase::kGone);
  ASSERT_TRUE(write_file(place("ssh.json"), "{").ok());
  EXPECT_FALSE(engine_->look().ok());
  EXPECT_FALSE(engine_->release("vm1").ok());
}

TEST_F(SshEngineTest, AShortCutIsNoLoss) {
  ASSERT_EQ(refusal({.name = "vm1"}), "");
  ASSERT_TRUE(comes_up("vm1"));
  fail("a", "255\nssh: connect to host a port 22: No route to host\n");
  ASSERT_TRUE(becomes("vm1", [](const MachineState& it) { return !it.reason.empty(); }));
  EXPECT_EQ(state("vm1").phase, MachinePhase::kUp);
  EXPECT_EQ(
      state("vm1").reason,
      "a cannot be reached (ssh: connect to host a port 22: No route to host); check 'ssh a'");
  repair("a");
  EXPECT_TRUE(becomes("vm1", [](const MachineState& it) { return it.reason.empty(); }));
  EXPECT_EQ(state("vm1").phase, MachinePhase::kUp);
}

TEST_F(SshEngineTest, ALongOneIs) {
  settings_.patience = 100 * kMillisecond;
  open();
  ASSERT_EQ(refusal({.name = "vm1"}), "");
  ASSERT_TRUE(comes_up("vm1"));
  fail("a", "255\nTimeout, server a not responding.\n");
  ASSERT_TRUE(
      becomes("vm1", [](const MachineState& it) { return it.phase == MachinePhase::kGone; }));
  EXPECT_FALSE(state("vm1").released);
  // The next one gets another host, and later ones this one again.
  ASSERT_EQ(refusal({.name = "vm2"}), "");
  EXPECT_EQ(state("vm2").address, "b");
  EXPECT_NE(refusal({.name = "vm3"}).find("a cannot be reached"), std::string::npos);
  repair("a");
  clock_.advance(301 * kSecond);
  EXPECT_EQ(refusal({.name = "vm3"}), "");
}

TEST_F(SshEngineTest, AHostThatCannotBeUsedIsPassedOver) {
  fail("a", "255\nHost key verification failed.\n");
  ASSERT_EQ(refusal({.name = "vm1"}), "");
  EXPECT_EQ(state("vm1").address, "b");
  ASSERT_TRUE(engine_->release("vm1").ok());
  fail("b", "255\nme@b: Permission denied (publickey).\n");
  EXPECT_EQ(refusal({.name = "vm2"}),
            "no on-demand host is free; the host key of a is not known; check it with 'ssh a'; b "
            "refuses the login (me@b: Permission denied (publickey).); make 'ssh b' work without a "
            "password");
  EXPECT_FALSE(again_);
  EXPECT_EQ(engine_->look()->machines.size(), 1U);  // The one that was released.
}

TEST_F(SshEngineTest, AFullDiskLosesTheMachine) {
  ASSERT_EQ(refusal({.name = "vm1"}), "");
  fail("a", "1\ncat: write error: No space left on device\n");
  ASSERT_TRUE(
      becomes("vm1", [](const MachineState& it) { return it.phase == MachinePhase::kGone; }));
  EXPECT_NE(state("vm1").reason.find("the disk of a is full"), std::string::npos);
}

TEST_F(SshEngineTest, AnotherArchitectureIsRefused) {
  settings_.architecture = "pdp11";
  settings_.hosts = {{.name = "a"}};
  open();
  EXPECT_NE(refusal({.name = "vm1"}).find("this stint is for pdp11"), std::string::npos);
  EXPECT_FALSE(again_);
}

TEST_F(SshEngineTest, AnEngineThatIsAskedByOtherProcessesWorks) {
  AskedProvider provider(*engine_);
  provider.request({.name = "vm1"});
  provider.request({.name = "vm2"});
  MachineList list;
  const auto up = [&] {
    return std::count_if(list.machines.begin(), list.machines.end(),
                         [](const MachineState& it) { return it.phase == MachinePhase::kUp; });
  };
  for (const Deadline limit(kMinute); up() < 2 && !limit.passed();) {
    pollfd waiting{.fd = provider.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&waiting, 1, 20);
    auto news = provider.observe();
    if (news.list) list = std::move(*news.list);
    EXPECT_FALSE(news.trouble);
  }
  EXPECT_EQ(up(), 2);
}

TEST_F(SshEngineTest, HostsHaveTypesMarketsAndPrices) {
  settings_.hosts = {
      {.name = "a", .type = "large", .market = Market::kSpot, .price = 0.36 * kDollar / kHour},
      {.name = "b", .type = "small"}};
  open();
  EXPECT_EQ(refusal({.name = "vm1", .type = "large"}), "no on-demand host of type large is free");
  ASSERT_EQ(refusal({.name = "vm1", .type = "large", .market = Market::kSpot}), "");
  EXPECT_EQ(state("vm1").address, "a");
  EXPECT_EQ(state("vm1").price, 0.36 * kDollar / kHour);
}

}  // namespace
}  // namespace stint
