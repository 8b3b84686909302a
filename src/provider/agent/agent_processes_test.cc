#include "provider/agent/agent_processes.h"

#include <csignal>
#include <gtest/gtest.h>

namespace stint {
namespace {

class AgentProcessesTest : public testing::Test {
 protected:
  static ProcessStart shell(const std::string& script, int process = 0) {
    return {.process = process,
            .attempt = 3,
            .rank = 1,
            .words = {"/bin/sh", "-c", script},
            .mark = "mark"};
  }

  static ProcessStart python(const std::string& script) {
    return {.words = {"/usr/bin/python3", "-c",
                      "import json, os, socket, sys, time\n"
                      "control = socket.socket(fileno=int(os.environ['STINT_CONTROL']))\n" +
                          script}};
  }

  /// Collects until `enough`, or for a minute.
  template <class Enough>
  void collect(Enough enough, bool messages = true) {
    for (const Deadline limit(60 * kSecond); !enough() && !limit.passed();) {
      std::vector<pollfd> polls;
      processes_.add_polls(polls, messages);
      ::poll(polls.data(), polls.size(), 100);
      processes_.collect([&] { return messages; },
                         [&](AgentNews news) { news_.push_back(std::move(news)); });
    }
  }

  void collect_end() {
    collect([&] { return !news_.empty() && news_.back().ended.has_value(); });
    ASSERT_FALSE(news_.empty());
    ASSERT_TRUE(news_.back().ended);
  }

  std::vector<std::string> logs(bool error) const {
    std::vector<std::string> lines;
    for (const AgentNews& it : news_) {
      if (it.log && it.log->error == error) lines.push_back(it.log->line);
    }
    return lines;
  }

  AgentProcesses processes_{
      {.program = "/bin/echo", .inherits = [](std::string_view name) { return name == "PATH"; }},
      std::nullopt};
  std::vector<AgentNews> news_;
};

using Lines = std::vector<std::string>;

TEST_F(AgentProcessesTest, CarryLinesAndTheEndAfterThem) {
  const auto standing = processes_.start(shell("echo one; echo two >&2; printf three; exit 7"));
  ASSERT_TRUE(standing.ok()) << standing.error().message;
  EXPECT_EQ(standing->attempt, 3);
  EXPECT_EQ(standing->mark, "mark");
  EXPECT_TRUE(processes_.has_workers());
  EXPECT_FALSE(processes_.start(shell("true")).ok());  // The number is taken.
  collect_end();
  EXPECT_EQ(logs(false), (Lines{"one", "three"}));
  EXPECT_EQ(logs(true), Lines{"two"});
  EXPECT_EQ(news_.back().ended->code, 7);
  EXPECT_EQ(news_.back().ended->attempt, 3);
  EXPECT_TRUE(processes_.standing().empty());
  EXPECT_TRUE(processes_.start(shell("true")).ok());
}

TEST_F(AgentProcessesTest, LongAndBrokenLinesCanBeCarried) {
  ASSERT_TRUE(processes_
                  .start(shell("head -c 100000 /dev/zero | tr '\\0' x; echo; "
                               "printf 'a\\377b\\n'"))
                  .ok());
  collect_end();
  const Lines lines = logs(false);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].size(), kLogLineMax);
  EXPECT_EQ(lines[0].size() + lines[1].size(), 100000U);
  EXPECT_EQ(lines[2], "a?b");
}

TEST_F(AgentProcessesTest, GetTheirVariablesAndTheirInput) {
  ::setenv("STINT_TEST_NAMED", "named", 1);
  ::setenv("STINT_TEST_OTHER", "other", 1);
  ProcessStart order = shell(
      "read line; echo $line $A $STINT_TEST_NAMED $STINT_TEST_OTHER; pwd; "
      "test -z \"$STINT_CONTROL\" && test -n \"$PATH\"");
  order.role = ProcessRole::kReceiver;
  order.variables = {"A=b=c"};
  order.inherited = {"STINT_TEST_NAMED"};
  order.folder = "/proc";
  order.input = "secret";
  ASSERT_TRUE(processes_.start(order).ok());
  EXPECT_FALSE(processes_.has_workers());
  EXPECT_FALSE(processes_.tell({.process = 0}).ok());  // A receiver takes no messages.
  collect_end();
  EXPECT_EQ(logs(false), (Lines{"secret b=c named", "/proc"}));
  EXPECT_EQ(news_.back().ended->code, 0);
  ::unsetenv("STINT_TEST_NAMED");
  ::unsetenv("STINT_TEST_OTHER");
}

TEST_F(AgentProcessesTest, TheWordStintIsTheAgentsProgram) {
  ASSERT_TRUE(processes_.start({.words = {"stint", "receive"}}).ok());
  collect_end();
  EXPECT_EQ(logs(false), Lines{"receive"});
}

TEST_F(AgentProcessesTest, WorkersSpeakOverTheirSocket) {
  ASSERT_TRUE(processes_
                  .start(python(R"(
control.sendall(b'{"ready": {"step": -1}}\nnonsense\n[1]\n')
order = json.loads(control.makefile("r").readline())
control.sendall(json.dumps({"had": order}).encode() + b'\n{"cut off')
sys.exit(order["end"]["code"])
)"))
                  .ok());
  ASSERT_TRUE(
      processes_.tell({.process = 0, .message = *parse_json(R"({"end":{"code":5}})", "t")}).ok());
  collect_end();
  std::vector<std::string> said;
  for (const AgentNews& it : news_) {
    if (it.said) said.push_back(to_text(it.said->message, JsonStyle::kLine));
  }
  EXPECT_EQ(said, (Lines{R"({"ready":{"step":-1}})", R"({"had":{"end":{"code":5}}})"}));
  EXPECT_EQ(news_.back().ended->code, 5);
  EXPECT_FALSE(processes_.tell({.process = 0}).ok());
}

TEST_F(AgentProcessesTest, WorkersWaitWhileNobodyTakesTheirMessages) {
  ASSERT_TRUE(processes_
                  .start(python(R"(
line = json.dumps({"step": "x" * 1000}).encode() + b"\n"
for number in range(2000):
    control.sendall(line)
    if number == 1:
        print("begun", flush=True)
print("told all", flush=True)
)"))
                  .ok());
  collect([&] { return !logs(false).empty(); }, false);
  for (int i = 0; i < 5; ++i) {
    collect([&, first = true]() mutable { return !std::exchange(first, false); }, false);
  }
  EXPECT_EQ(logs(false), Lines{"begun"});  // 2 MB fit no socket.
  collect_end();
  const auto said = std::count_if(news_.begin(), news_.end(),
                                  [](const AgentNews& it) { return it.said.has_value(); });
  EXPECT_EQ(said, 2000);
  EXPECT_EQ(logs(false), (Lines{"begun", "told all"}));
}

TEST_F(AgentProcessesTest, TheEndWaitsForTheLastMessages) {
  ASSERT_TRUE(
      processes_.start(python("control.sendall(b'{\"saved\": 1}\\n'); print('over')")).ok());
  collect([&] { return !logs(false).empty() && !news_.empty(); }, false);
  // It has ended or does so soon; without taking messages its end is not told.
  for (int i = 0; i < 5; ++i) {
    collect([&, first = true]() mutable { return !std::exchange(first, false); }, false);
  }
  EXPECT_EQ(news_.size(), 1U);
  collect_end();
  ASSERT_EQ(news_.size(), 3U);
  EXPECT_TRUE(news_[1].said);
}

TEST_F(AgentProcessesTest, AWorkerThatReadsNothingCostsBoundedMemory) {
  ASSERT_TRUE(processes_.start(python("time.sleep(1000)")).ok());
  const Json message(Json::Object{{"train", Json(std::string(100000, 'x'))}});
  Status told;
  int sent = 0;
  for (; told.ok() && sent < 200; ++sent)
    told = processes_.tell({.process = 0, .message = message});
  EXPECT_FALSE(told.ok());
  EXPECT_LT(sent, 60);  // 4 MiB and the socket.
  EXPECT_FALSE(processes_.tell({.process = 0, .message = message}).ok());
}

TEST_F(AgentProcessesTest, SignalsReachGroupsAndEndsKillThem) {
  ASSERT_TRUE(processes_
                  .start(shell("trap 'echo saving; exit 3' TERM; echo up; "
                               "while true; do sleep 0.01; done"))
                  .ok());
  ASSERT_TRUE(processes_.start(shell("sleep 1000 & echo up; sleep 1000", 1)).ok());
  collect([&] { return logs(false).size() == 2; });
  EXPECT_TRUE(processes_.signal({.process = 0, .signal = SIGTERM}).ok());
  collect([&] { return news_.back().ended.has_value(); });
  ASSERT_TRUE(news_.back().ended);
  EXPECT_EQ(news_.back().ended->code, 3);
  EXPECT_TRUE(processes_.end(1).ok());
  news_.clear();
  collect_end();
  EXPECT_EQ(news_.back().ended->process, 1);
  EXPECT_EQ(news_.back().ended->code, 128 + SIGKILL);
  EXPECT_FALSE(processes_.end(1).ok());
  EXPECT_FALSE(processes_.signal({.process = 9, .signal = SIGTERM}).ok());
}

TEST_F(AgentProcessesTest, AProgramThatIsMissingIsAnError) {
  const auto started = processes_.start({.words = {"/nowhere/train"}});
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().message, "/nowhere/train: No such file or directory");
  EXPECT_FALSE(processes_.start({.words = {"/bin/true"}, .folder = "/nowhere"}).ok());
  EXPECT_TRUE(processes_.standing().empty());
}

}  // namespace
}  // namespace stint
