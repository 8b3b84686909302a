#include "provider/agent/agent_carrier.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "provider/agent/agent_fixture.h"
#include "provider/agent/agent_link.h"

namespace stint {
namespace {

/// Links that reach the agent of a folder through carriers, as over ssh.
class AgentCarrierTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
  }
  void TearDown() override {
    if (!link_) return;
    (void)link_->send({.leave = true});
    EXPECT_TRUE(turn_until([&](const LinkNews&) { return link_->state() == LinkState::kLeft; }));
    EXPECT_TRUE(has_left());
  }

  std::string place() const { return folder_->path() + "/agent"; }

  /// Whether the folder's lock gets free within a minute, as no agent has it then.
  bool has_left() const {
    const auto locked =
        start_process({.words = {"flock", "--timeout", "60", place() + "/agent.lock", "true"},
                       .kept = std::vector<int>{}});
    return locked.ok() && wait_for_exit(*locked) == 0;
  }

  void call(std::int64_t attempt = 1) {
    link_.emplace(AgentCall{.version = "test",
                            .run = "r",
                            .machine = "vm1",
                            .attempt = attempt,
                            .secret = kTestSecret,
                            .trusted = true,
                            .terms = {.interpreter = "/bin/false"}},
                  [this] { return reach(); });
  }

  Result<AgentStream> reach() {
    return AgentStream::open({.words = {"carrier"}}, [&](const Command& command) -> Result<pid_t> {
      const auto child = fork_child(
          [&](int) {
            return attach_agent(place(), {.version = "test"}, command.in, command.out).ok() ? 0 : 1;
          },
          {.group = ProcessGroup::kOwn, .death_signal = SIGKILL});
      if (!child.ok()) return child.error();
      carrier_ = child->pid;
      return child->pid;
    });
  }

  /// Turns until `enough`, for a minute at most; all news are kept.
  template <class Enough>
  bool turn_until(Enough enough) {
    for (const Deadline limit(kTestPatience); !limit.passed();) {
      std::vector<pollfd> polls;
      link_->add_polls(polls);
      ::poll(polls.data(), polls.size(), 20);
      const LinkNews heard = link_->turn(steady_now());
      for (const AgentNews& it : heard.news) news_.push_back(it);
      joins_ += heard.joined ? 1 : 0;
      replaced_ = replaced_ || heard.replaced;
      if (enough(heard)) return true;
    }
    return false;
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const AgentNews& it : news_) {
      if (it.log) all.push_back(it.log->line);
    }
    return all;
  }

  StopSignals signals_;
  std::optional<TemporaryFolder> folder_;
  std::optional<AgentLink> link_;
  std::vector<AgentNews> news_;
  int joins_ = 0;
  bool replaced_ = false;
  pid_t carrier_ = -1;
};

using Lines = std::vector<std::string>;

TEST_F(AgentCarrierTest, WorkersGoOnWhileCarriersDie) {
  call();
  // Counts to 400 in about two seconds.
  ASSERT_TRUE(link_
                  ->send({.start = test_shell("i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo $i; "
                                              "sleep 0.005; done; exit 6")})
                  .ok());
  int kills = 0;
  pid_t killed = -1;
  ASSERT_TRUE(turn_until([&](const LinkNews&) {
    const bool running = !news_.empty() && !news_.back().ended;
    if (link_->state() == LinkState::kJoined && running && carrier_ != killed && kills < 4 &&
        lines().size() > 30U * static_cast<std::size_t>(kills + 1)) {
      killed = carrier_;
      ::kill(killed, SIGKILL);
      ++kills;
    }
    return !news_.empty() && news_.back().ended.has_value();
  }));
  EXPECT_EQ(kills, 4);
  EXPECT_GE(joins_, 5);
  EXPECT_FALSE(replaced_);
  EXPECT_EQ(news_.back().ended->code, 6);
  Lines expected;
  for (int i = 1; i <= 400; ++i) expected.push_back(std::to_string(i));
  EXPECT_EQ(lines(), expected);
}

TEST_F(AgentCarrierTest, AnAgentThatIsKilledIsReplaced) {
  call();
  ASSERT_TRUE(link_->send({.start = test_shell("echo $PPID; sleep 1000")}).ok());
  ASSERT_TRUE(turn_until([&](const LinkNews&) { return !lines().empty(); }));
  ::kill(static_cast<pid_t>(std::stol(lines()[0])), SIGKILL);
  ASSERT_TRUE(turn_until([&](const LinkNews& heard) { return heard.joined.has_value(); }));
  EXPECT_TRUE(replaced_);
  news_.clear();
  ASSERT_TRUE(link_->send({.start = test_shell("echo again")}).ok());
  EXPECT_TRUE(turn_until([&](const LinkNews&) { return lines() == Lines{"again"}; }));
}

TEST_F(AgentCarrierTest, AFolderHasOneAgentAndIsPrivate) {
  call();
  ASSERT_TRUE(turn_until([&](const LinkNews& heard) { return heard.joined.has_value(); }));
  const Status second = serve_agent(place(), {.version = "test"});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, place() + " has an agent already");
  struct stat status {};
  ASSERT_EQ(::stat(place().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
}

TEST_F(AgentCarrierTest, ARunnerOfAHigherAttemptFindsWhatRuns) {
  call(1);
  ASSERT_TRUE(link_->send({.start = test_shell("echo up; sleep 1000")}).ok());
  ASSERT_TRUE(turn_until([&](const LinkNews&) { return !lines().empty(); }));
  link_.reset();  // As a runner that was killed.
  call(2);
  std::optional<AgentJoined> joined;
  ASSERT_TRUE(turn_until([&](const LinkNews& heard) {
    joined = heard.joined;
    return joined.has_value();
  }));
  ASSERT_EQ(joined->processes.size(), 1U);
  EXPECT_GT(joined->processes[0].pid, 1);
  ASSERT_TRUE(link_->send({.end = 0}).ok());
  ASSERT_TRUE(turn_until(
      [&](const LinkNews&) { return !news_.empty() && news_.back().ended.has_value(); }));
  EXPECT_EQ(news_.back().ended->code, 128 + SIGKILL);
}

TEST_F(AgentCarrierTest, AFolderThatCannotBeMadeIsAnError) {
  ASSERT_TRUE(write_file(folder_->path() + "/file", "").ok());
  EXPECT_FALSE(attach_agent(folder_->path() + "/file/x", {}, 0, 1).ok());
}

}  // namespace
}  // namespace stint
