#include "run/crew.h"

#include <csignal>
#include <gtest/gtest.h>

#include "base/file.h"
#include "run/runner_fixture.h"

namespace stint {
namespace {

class CrewTest : public RunnerTest {
 protected:
  void SetUp() override {
    RunnerTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(cluster().add({.name = "vm1", .type = "t", .network = kGbit / kSecond}).ok());
    crew_ = std::make_unique<Crew>(provider(), CrewSetup{.log_folder = log_folder(folder_),
                                                         .program = STINT_TEST_AGENT,
                                                         .run = "test",
                                                         .secret = record_.secret});
  }
  void TearDown() override {
    crew_.reset();
    RunnerTest::TearDown();
  }

  void start(const std::string& script) {
    crew_->start_worker(0, {.words = {"/usr/bin/python3", "-c", script}}, "started");
  }

  /// The next news, within a minute.
  std::optional<CrewNews> next() {
    for (int i = 0; i < 600 && news_.empty(); ++i) news_ = crew_->wait(100 * kMillisecond);
    if (news_.empty()) return std::nullopt;
    CrewNews first = std::move(news_.front());
    news_.erase(news_.begin());
    return first;
  }

  std::unique_ptr<Crew> crew_;
  std::vector<CrewNews> news_;
};

TEST_F(CrewTest, HearsLinesAndTheEndAfterThem) {
  start(R"(
import os, socket, sys
control = socket.socket(fileno=int(os.environ["STINT_CONTROL"]))
control.sendall(b'{"ready": {"step": -1}}\nnonsense\n{"finished": ')
control.sendall(b'{}}\n{"cut off')
print("on", os.environ["STINT_VM"]); print("")
sys.exit(7)
)");
  EXPECT_TRUE(crew_->has_worker(0));
  auto news = next();
  ASSERT_TRUE(news && news->said);
  EXPECT_EQ(news->worker.vm, 0);
  EXPECT_NE(news->said->find("ready"), nullptr);
  news = next();
  ASSERT_TRUE(news && news->said);
  EXPECT_NE(news->said->find("finished"), nullptr);
  news = next();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->ended, 7);
  EXPECT_FALSE(crew_->has_worker(0));
  EXPECT_EQ(crew_->last_lines(0, 3), std::vector<std::string>{"on vm1"});
  EXPECT_TRUE(crew_->last_lines(1, 3).empty());
}

TEST_F(CrewTest, SendsOrders) {
  start(R"(
import json, os, socket, sys
control = socket.socket(fileno=int(os.environ["STINT_CONTROL"]))
sys.exit(json.loads(control.makefile("r").readline())["end"]["code"])
)");
  crew_->send(0, *parse_json(R"({"end":{"code":5}})", "test"));
  crew_->send(3, Json());  // No worker has this number.
  const auto news = next();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->ended, 5);
}

TEST_F(CrewTest, AWorkerThatClosesItsChannelDoesNotEndEveryWait) {
  start("import os, time; os.close(int(os.environ['STINT_CONTROL'])); time.sleep(60)");
  const Seconds begin = clock_.now();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(crew_->wait(100 * kMillisecond).empty());
  EXPECT_GT(clock_.now() - begin, 0.5 * kSecond);  // Part of the 1 s that it may wait.
  EXPECT_TRUE(crew_->has_worker(0));
}

TEST_F(CrewTest, TellsNothingOfAWorkerThatItEnds) {
  start("import time; time.sleep(60)");
  crew_->end_worker(0);
  EXPECT_FALSE(crew_->has_worker(0));
  EXPECT_TRUE(crew_->wait(50 * kMillisecond).empty());
  crew_->end_all_on(0);  // A repetition has no effect.
}

TEST_F(CrewTest, SaysWhyAProgramCannotBeStarted) {
  crew_->start_worker(0, {.words = {"stint-no-such-program"}}, "started");
  const auto news = next();
  ASSERT_TRUE(news && news->reason);
  EXPECT_NE(news->reason->find("No such file"), std::string::npos) << *news->reason;
  EXPECT_FALSE(crew_->has_worker(0));
}

TEST_F(CrewTest, HandsTheSecretToAReceiverAndSeesItEnd) {
  const std::string seen = place_.path() + "/seen";
  const CrewStart request{.words = {"sh", "-c", "read line; echo \"$line\" > " + seen}};
  crew_->start_receiver(0, request, "5ec2e7");
  EXPECT_TRUE(crew_->has_receiver(0));
  for (int i = 0; i < 1000 && crew_->has_receiver(0); ++i) {
    (void)crew_->wait(50 * kMillisecond);
    ::usleep(10000);
  }
  EXPECT_FALSE(crew_->has_receiver(0));
  EXPECT_EQ(*read_file(seen), "5ec2e7\n");
}

TEST_F(CrewTest, TakesItsProcessesWithIt) {
  start("import os, time; print(os.getpid(), flush=True); time.sleep(60)");
  for (int i = 0; i < 1200 && crew_->last_lines(0, 1).empty(); ++i)
    (void)crew_->wait(50 * kMillisecond);
  ASSERT_FALSE(crew_->last_lines(0, 1).empty());
  crew_.reset();
  // Process ids inside the VM are its own, so that the VM is asked.
  auto pipe = make_pipe();
  const auto pid = cluster().spawn(
      "vm1", {.words = {"sh", "-c", "pgrep -c python3; true"}, .out = pipe->to.get()});
  ASSERT_TRUE(pid.ok()) << pid.error().message;
  EXPECT_EQ(read_line(pipe->from.get(), kMinute), "0");
}

}  // namespace
}  // namespace stint
