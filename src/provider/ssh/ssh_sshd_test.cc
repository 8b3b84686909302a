#include <cstdlib>
#include <gtest/gtest.h>
#include <poll.h>

#include "base/file.h"
#include "base/run_command.h"
#include "base/sha256.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "provider/agent/agent_link.h"
#include "provider/agent/machine_facts.h"
#include "provider/ssh/ssh_engine.h"

namespace stint {
namespace {

// With OpenSSH's client and servers; tests/e2e/ssh.py starts those and sets these variables:
// STINT_SSHD, the folder with "config" for ssh, and STINT_BINARY, the program to copy. The hosts
// are good; unknown and changed, by their keys; full, by their disk; other, by their architecture.
class SshSshdTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("STINT_SSHD");
    const char* binary = std::getenv("STINT_BINARY");
    if (folder == nullptr || binary == nullptr) GTEST_SKIP() << "skipped: STINT_SSHD is not set";
    auto own = TemporaryFolder::make();
    ASSERT_TRUE(own.ok());
    folder_.emplace(std::move(*own));
    const auto bytes = read_file(binary, kGiB);
    ASSERT_TRUE(bytes.ok()) << bytes.error().message;
    settings_ = {
        .folder = folder_->path(),
        .binary = binary,
        .hash = to_hex(sha256(*bytes)),
        .architecture = gather_facts("/bin/false").architecture,
        .client = {.control = folder_->path(), .options = {"-F", std::string(folder) + "/config"}},
        .look = 1 * kSecond};
  }
  void TearDown() override {
    if (link_) (void)link_->send({.leave = true});
    if (link_) turn_until([&] { return left_; });
    link_.reset();
  }

  /// Asks for the host; why it is refused.
  std::string request(const std::string& host) {
    settings_.hosts = {{.name = host}};
    engine_.emplace(settings_, clock_);
    const auto answer = engine_->request({.name = "vm1"});
    if (!answer.ok()) return answer.error().message;
    return *answer ? (*answer)->reason : "";
  }

  /// Turns engine and link until `enough`, for five minutes at most.
  template <class Enough>
  bool turn_until(Enough enough) {
    for (const Deadline limit(300 * kSecond); !limit.passed();) {
      std::vector<pollfd> polls;
      if (link_) link_->add_polls(polls);
      ::poll(polls.data(), polls.size(), 50);
      const auto list = engine_->look();
      if (list.ok() && !list->machines.empty()) state_ = list->machines.back();
      const LinkNews heard = link_ ? link_->turn(steady_now()) : LinkNews{};
      joins_ += heard.joined ? 1 : 0;
      for (const AgentNews& it : heard.news) {
        if (it.log) lines_.push_back(it.log->line);
        left_ = left_ || it.leaving;
      }
      if (enough()) return true;
    }
    return false;
  }

  bool join() {
    if (!turn_until([&] { return state_.phase == MachinePhase::kUp; })) return false;
    link_.emplace(AgentCall{.version = "test",
                            .run = "r",
                            .machine = "vm1",
                            .attempt = 1,
                            .secret = std::string(64, 'a'),
                            .trusted = true,
                            .terms = {.interpreter = "/bin/false"}},
                  [this] {
                    return AgentStream::open(
                        {.words = {"stint", "agent", "--attach", ".cache/stint/run-r-vm1"}},
                        [this](Command command) { return engine_->spawn("vm1", command); });
                  });
    return turn_until([&] { return joins_ == 1; });
  }

  StopSignals signals_;
  SystemClock clock_;
  std::optional<TemporaryFolder> folder_;
  SshSettings settings_;
  std::optional<SshEngine> engine_;
  std::optional<AgentLink> link_;
  MachineState state_;
  std::vector<std::string> lines_;
  int joins_ = 0;
  bool left_ = false;
};

TEST_F(SshSshdTest, AHostWorks) {
  ASSERT_EQ(request("good"), "");
  ASSERT_TRUE(join()) << state_.reason << link_->trouble();
  ASSERT_TRUE(
      link_->send({.start = ProcessStart{.attempt = 1, .words = {"/bin/echo", "on"}}}).ok());
  EXPECT_TRUE(turn_until([&] { return lines_ == std::vector<std::string>{"on"}; }));
}

TEST_F(SshSshdTest, WorkGoesOnThroughACutOfTwentySeconds) {
  ASSERT_EQ(request("good"), "");
  ASSERT_TRUE(join()) << state_.reason << link_->trouble();
  ASSERT_TRUE(
      link_
          ->send(
              {.start = ProcessStart{.attempt = 1,
                                     .words = {"/bin/sh", "-c",
                                               "i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo $i; "
                                               "sleep 0.1; done"}}})
          .ok());
  ASSERT_TRUE(turn_until([&] { return lines_.size() > 20; }));
  ASSERT_TRUE(run_command({"ip", "link", "set", "good", "down"}).ok());
  const std::size_t before = lines_.size();
  const Deadline cut(20 * kSecond);
  ASSERT_TRUE(turn_until([&] { return cut.passed(); }));
  EXPECT_LT(lines_.size(), before + 20);
  ASSERT_TRUE(run_command({"ip", "link", "set", "good", "up"}).ok());
  ASSERT_TRUE(turn_until([&] { return lines_.size() >= 400; }));
  EXPECT_EQ(joins_, 2);
  EXPECT_EQ(state_.phase, MachinePhase::kUp);
  for (std::size_t i = 0; i < lines_.size(); ++i) ASSERT_EQ(lines_[i], std::to_string(i + 1));
}

TEST_F(SshSshdTest, AProgramThatIsGoneIsCopiedAgain) {
  ASSERT_EQ(request("good"), "");
  ASSERT_TRUE(turn_until([&] { return state_.phase == MachinePhase::kUp; }));
  const Words remove =
      ssh_words(settings_.client, {.name = "good"}, "rm \"$HOME\"/.cache/stint/agent-*");
  ASSERT_TRUE(run_command(remove, kMinute).ok());
  EXPECT_TRUE(join()) << link_->trouble();
}

TEST_F(SshSshdTest, AnUnknownHostKeyIsRefused) {
  EXPECT_NE(request("unknown").find("the host key of unknown is not known"), std::string::npos);
}

TEST_F(SshSshdTest, AChangedHostKeyIsRefused) {
  EXPECT_NE(request("changed").find("the host key of changed has changed"), std::string::npos);
}

TEST_F(SshSshdTest, AnotherArchitectureIsRefused) {
  EXPECT_NE(request("other").find("it is riscv64"), std::string::npos);
}

TEST_F(SshSshdTest, AFullDiskIsTold) {
  ASSERT_EQ(request("full"), "");
  EXPECT_TRUE(turn_until([&] { return state_.phase == MachinePhase::kGone; }));
  EXPECT_NE(state_.reason.find("the disk of full is full"), std::string::npos) << state_.reason;
}

}  // namespace
}  // namespace stint
