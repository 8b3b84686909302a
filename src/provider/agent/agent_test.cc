#include "provider/agent/agent.h"

#include <csignal>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "provider/agent/agent_fixture.h"

namespace stint {
namespace {

/// An agent in a process of its own, which listens in a folder.
class AgentTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    auto listener = Listener::in_folder(folder_->path(), "sock");
    ASSERT_TRUE(listener.ok());
    listener_.emplace(std::move(*listener));
    const auto child = fork_child(
        [&](int) {
          auto guard = AgentGuard::start();
          Agent agent({.version = "test"}, std::move(*guard));
          agent.work(&*listener_);
          return 0;
        },
        {.group = ProcessGroup::kOwn, .death_signal = SIGKILL});
    ASSERT_TRUE(child.ok());
    agent_ = child->pid;
  }
  void TearDown() override {
    if (agent_ > 0) kill_group(agent_);
  }

  AgentTalk call() const {
    auto socket = connect_in_folder(folder_->path(), "sock");
    return AgentTalk(socket.ok() ? std::move(*socket) : Descriptor());
  }

  int exit_code() {
    const auto code = wait_for_exit(agent_, kTestPatience);
    if (code) agent_ = -1;
    return code.value_or(-1);
  }

  /// The agent goes once its last news is heard.
  void hear_leaving(AgentTalk& talk) {
    const auto leaving = talk.next([](const AgentNews& it) { return it.leaving.has_value(); });
    ASSERT_TRUE(leaving);
    talk.say({.heard = leaving->number});
    EXPECT_EQ(exit_code(), 0);
  }

  StopSignals signals_;
  std::optional<TemporaryFolder> folder_;
  std::optional<Listener> listener_;
  pid_t agent_ = -1;
};

bool is_end(const AgentNews& news) { return news.ended.has_value(); }

TEST_F(AgentTest, StartsAProcessAndTellsItsEnd) {
  AgentTalk talk = call();
  const auto joined = talk.join(test_hello());
  ASSERT_TRUE(joined && joined->joined);
  EXPECT_TRUE(joined->joined->processes.empty());
  talk.say({.number = 1, .start = test_shell("echo hello; exit 4")});
  const auto ended = talk.next(is_end);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->ended->code, 4);
  std::vector<std::string> kinds;
  for (const AgentNews& it : talk.skipped) {
    if (it.started) kinds.emplace_back("started");
    if (it.log) kinds.push_back(it.log->line);
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"started", "hello"}));
  talk.say({.number = 2, .start = ProcessStart{.process = 1, .attempt = 9, .words = {"/no/such"}}});
  const auto failed = talk.next(is_end);
  ASSERT_TRUE(failed && failed->ended->reason);
  EXPECT_EQ(*failed->ended->reason, "/no/such: No such file or directory");
  talk.say({.number = 3, .end = 7});
  const auto problem = talk.next([](const AgentNews& it) { return it.problem.has_value(); });
  ASSERT_TRUE(problem);
  EXPECT_EQ(*problem->problem, "there is no process 7");
  talk.say({.number = 4, .leave = true});
  hear_leaving(talk);
}

TEST_F(AgentTest, ACutLosesAndDoublesNothing) {
  AgentTalk first = call();
  ASSERT_TRUE(first.join(test_hello())->joined);
  const std::string file = folder_->path() + "/go";
  const AgentOrder start{.number = 1,
                         .start = test_shell("echo one; while ! test -e " + file +
                                             "; do sleep 0.01; done; echo two; exit 3")};
  first.say(start);
  const auto one = first.next([](const AgentNews& it) { return it.log.has_value(); });
  ASSERT_TRUE(one);
  first.close();
  ASSERT_TRUE(write_file(file, "").ok());
  // The order is said again, as who did not hear its acknowledgement does.
  AgentTalk second = call();
  AgentHello hello = test_hello();
  hello.agent = first.agent;
  hello.heard = one->number;
  const auto joined = second.join(hello);
  ASSERT_TRUE(joined && joined->joined);
  EXPECT_EQ(joined->joined->heard, 1);
  EXPECT_EQ(joined->joined->acknowledged, one->number);
  second.say(start);
  const auto ended = second.next(is_end);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->ended->code, 3);
  std::int64_t number = one->number;
  std::vector<std::string> lines;
  for (const AgentNews& it : second.skipped) {
    if (it.number > 0) EXPECT_EQ(it.number, ++number);
    if (it.log) lines.push_back(it.log->line);
    EXPECT_FALSE(it.started);
  }
  EXPECT_EQ(lines, std::vector<std::string>{"two"});
}

TEST_F(AgentTest, AHigherAttemptTakesOverWithAllThatWasNotHeard) {
  AgentTalk first = call();
  ASSERT_TRUE(first.join(test_hello("s", 1))->joined);
  first.say({.number = 1, .start = test_shell("echo one; sleep 1000")});
  ASSERT_TRUE(first.next([](const AgentNews& it) { return it.log.has_value(); }));
  AgentTalk second = call();
  const auto joined = second.join(test_hello("t", 2));
  ASSERT_TRUE(joined && joined->joined);
  EXPECT_EQ(joined->joined->heard, 0);
  ASSERT_EQ(joined->joined->processes.size(), 1U);
  EXPECT_EQ(joined->joined->processes[0].attempt, 9);
  EXPECT_TRUE(second.next([](const AgentNews& it) { return it.log.has_value(); }));
  EXPECT_FALSE(first.next(is_end));  // Its stream has ended.
  AgentTalk third = call();
  const auto refused = third.join(test_hello("s", 1));
  ASSERT_TRUE(refused && refused->refused);
  EXPECT_EQ(refused->refused->cause, AgentRefusal::kAttempt);
  ProcessStart old = test_shell("true", 1);
  old.attempt = 1;
  second.say({.number = 1, .start = old});
  const auto ended = second.next(is_end);
  ASSERT_TRUE(ended && ended->ended->reason);
  EXPECT_EQ(*ended->ended->reason, "attempt 2 has taken over");
}

TEST_F(AgentTest, RefusesWhoDoesNotKnowTheProtocol) {
  AgentTalk owner = call();
  ASSERT_TRUE(owner.join(test_hello())->joined);
  const auto cause = [&](const std::string& text) -> std::optional<AgentRefusal> {
    AgentTalk talk = call();
    talk.say_text(text);
    const auto news = talk.next();
    if (!news || !news->refused) return std::nullopt;
    EXPECT_FALSE(talk.next());
    return news->refused->cause;
  };
  EXPECT_EQ(cause("GET / HTTP/1.1\r\n"), AgentRefusal::kMalformed);
  EXPECT_EQ(cause(R"({"hello":{"protocol":"stint.agent/9"}})"
                  "\n"),
            AgentRefusal::kProtocol);
  EXPECT_EQ(cause(to_line(AgentOrder{.number = 1, .leave = true})), AgentRefusal::kSecret);
  EXPECT_EQ(cause(to_line(AgentOrder{.proof = "x"})), AgentRefusal::kSecret);
  AgentTalk talk = call();
  talk.say({.hello = test_hello()});
  ASSERT_TRUE(talk.next()->welcome);
  talk.say({.proof = std::string(64, '0')});
  EXPECT_EQ(talk.next()->refused->cause, AgentRefusal::kSecret);
  // The owner is not disturbed.
  owner.say({.number = 1, .start = test_shell("exit 5")});
  EXPECT_EQ(owner.next(is_end)->ended->code, 5);
}

TEST_F(AgentTest, RefusesNumbersThatCannotBe) {
  AgentTalk talk = call();
  ASSERT_TRUE(talk.join(test_hello())->joined);
  talk.say({.number = 2, .leave = true});
  auto refused = talk.next([](const AgentNews& it) { return it.refused.has_value(); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->refused->reason, "order 2 came after order 0");
  AgentTalk again = call();
  ASSERT_TRUE(again.join(test_hello())->joined);
  again.say({.heard = 1000});
  refused = again.next([](const AgentNews& it) { return it.refused.has_value(); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->refused->cause, AgentRefusal::kMalformed);
}

TEST_F(AgentTest, LogsGiveWayToASlowReader) {
  AgentTalk talk = call();
  ASSERT_TRUE(talk.join(test_hello())->joined);
  // 20 MB that nobody reads meanwhile; the file shows that all was printed.
  const std::string file = folder_->path() + "/printed";
  talk.say({.number = 1,
            .start = test_shell("yes $(head -c 1000 /dev/zero | tr '\\0' x) | head -n 20000; "
                                "echo x > " +
                                file)});
  for (const Deadline limit(kTestPatience); !limit.passed() && !read_file(file).ok();) {
    ::poll(nullptr, 0, 20);
  }
  ASSERT_TRUE(read_file(file).ok());
  std::int64_t lines = 0;
  std::int64_t lost = 0;
  std::int64_t next = 1;
  while (auto news = talk.next()) {
    if (news->number > 0) {
      EXPECT_EQ(news->number, next++);
      talk.say({.heard = news->number});
    }
    if (news->log) {
      lost += news->log->lost;
      lines += news->log->line.empty() ? 0 : 1;
    }
    if (news->ended) break;
  }
  EXPECT_EQ(lines + lost, 20000);
  EXPECT_GT(lost, 10000);
  EXPECT_GT(lines, 1000);
}

TEST_F(AgentTest, TheLeaseEndsTheWorkAndGivesTheMachineBack) {
  AgentTalk talk = call();
  ASSERT_TRUE(talk.join(test_hello())->joined);
  const std::string saved = folder_->path() + "/saved";
  const std::string released = folder_->path() + "/released";
  talk.say({.number = 1,
            .terms = AgentTerms{.lease = 1 * kSecond,
                                .grace = kTestPatience,
                                .release = {"/bin/sh", "-c", "echo x > " + released},
                                .interpreter = "/bin/false"}});
  talk.say({.number = 2,
            .start = test_shell("trap 'echo x > " + saved +
                                "; exit 0' TERM; while true; do sleep 0.01; done")});
  const auto leaving = talk.next([](const AgentNews& it) { return it.leaving.has_value(); });
  ASSERT_TRUE(leaving);
  EXPECT_EQ(*leaving->leaving, "no runner renewed the lease for 1 s");
  talk.close();
  EXPECT_EQ(exit_code(), 0);
  EXPECT_TRUE(read_file(saved).ok());
  EXPECT_TRUE(read_file(released).ok());
}

TEST_F(AgentTest, SigtermIsANotice) {
  AgentTalk talk = call();
  ASSERT_TRUE(talk.join(test_hello())->joined);
  ::kill(agent_, SIGTERM);
  const auto is_notice = [](const AgentNews& it) { return it.notice.has_value(); };
  const auto notice = talk.next(is_notice);
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->notice->source, "signal");
  // A runner that comes later hears it too.
  AgentTalk later = call();
  ASSERT_TRUE(later.join(test_hello("t", 2))->joined);
  EXPECT_TRUE(later.next(is_notice));
  ::kill(agent_, SIGINT);
  hear_leaving(later);
}

TEST_F(AgentTest, ProcessesEndWithAnAgentThatIsKilled) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  AgentTalk talk = call();
  ASSERT_TRUE(talk.join(test_hello())->joined);
  // The grandchild holds a file that is locked while it runs.
  const std::string file = folder_->path() + "/lock";
  talk.say({.number = 1,
            .start = test_shell("flock " + file + " -c 'echo locked; sleep 1000' & sleep 1000")});
  ASSERT_TRUE(talk.next([](const AgentNews& it) { return it.log.has_value(); }));
  ::kill(agent_, SIGKILL);
  const auto locked = start_process({.words = {"flock", file, "true"}});
  ASSERT_TRUE(locked.ok());
  EXPECT_EQ(wait_for_exit(*locked, kTestPatience), 0);
  kill_group(*locked);
}

}  // namespace
}  // namespace stint
