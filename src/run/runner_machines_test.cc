// Tests of providers that fail, of disks that are full, and of clocks.
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <sys/resource.h>
#include <unistd.h>

#include "provider/fake_engine.h"
#include "provider/inline_provider.h"
#include "run/runner_fixture.h"

namespace stint {
namespace {

constexpr int kAlways = std::numeric_limits<int>::max();

class RunnerMachinesTest : public RunnerTest {
 protected:
  void SetUp() override { prepare(); }
  Provider& provider() override { return inline_; }

  /// Runs, and does `what` once after this step, or later if it is reported with others.
  Result<RunAction> run_and(std::int64_t step, std::function<void()> what) {
    RunListeners listeners;
    listeners.happened = [=, done = false](const RunEvent& event,
                                           const std::vector<RunAction>& /*actions*/) mutable {
      if (done || event.kind != RunEventKind::kStepDone || event.step < step) return;
      done = true;
      what();
    };
    return run(std::move(listeners));
  }

  /// Fails unless the run is trained, and the bill is the cloud's.
  void expect_trained(const Result<RunAction>& end) {
    ASSERT_TRUE(end.ok()) << end.error().message;
    EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason << "\n" << lines();
    EXPECT_EQ(fake_.running(), 0);
    EXPECT_NEAR(supervisor_->cost().in(kDollar), fake_.cost().in(kDollar), 1e-9) << lines();
    EXPECT_EQ(story().redone, 0);
  }

  FakeEngine fake_{clock_};
  InlineProvider inline_{
      fake_,
      {.look = 10 * kMillisecond, .pause_min = 10 * kMillisecond, .pause_max = 100 * kMillisecond}};
};

TEST_F(RunnerMachinesTest, ASuspendOfADayEndsNothingAndIsPaid) {
  record_.steps = 60;
  const auto end = run_and(20, [&] { clock_.jump(25 * kHour); });
  expect_trained(end);
  EXPECT_EQ(story().attempts.size(), 1U) << lines();
  EXPECT_TRUE(tells("Stint did not run for 25 h")) << lines();
  EXPECT_GT(story().time, 25 * kHour);
  // Two machines at 0.36 USD/h.
  EXPECT_GT(supervisor_->cost().in(kDollar), 18);
}

TEST_F(RunnerMachinesTest, ADeadlineThatPassesInASuspendIsTold) {
  record_.steps = 60;
  record_.tick = 1 * kMinute;
  record_.deadline = 30 * kMinute;
  const auto end = run_and(20, [&] { clock_.jump(1 * kHour); });
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  EXPECT_TRUE(tells("The deadline has passed")) << lines();
  EXPECT_TRUE(supervisor_->late());
}

TEST_F(RunnerMachinesTest, AFailedLookAtTheCloudIsRetried) {
  record_.steps = 150;
  const auto end = run_and(10, [&] { fake_.troubles.look = 2; });
  expect_trained(end);
  EXPECT_TRUE(tells("The cloud does not answer (no route to the cloud); retrying for up to 10 min"))
      << lines();
  EXPECT_TRUE(tells("The cloud answers again, after ")) << lines();
}

TEST_F(RunnerMachinesTest, ACloudThatNeverAnswersEndsTheRunAfterItsLimit) {
  clock_.go(60);  // A minute a second.
  fake_.troubles = {.look = kAlways, .request = kAlways};
  const auto end = run();
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().message,
            "the cloud did not answer for 60 s (no route to the cloud); continue with 'stint run "
            "--resume small' once it does");
}

TEST_F(RunnerMachinesTest, AMachineThatIsLostWhileTheCloudDoesNotAnswerIsNoFailureOfItsWorker) {
  record_.steps = 120;
  record_.regroup = 100 * kMillisecond;
  const auto end = run_and(10, [&] {
    fake_.troubles.look = 2;
    fake_.lose("vm2");
  });
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason << "\n" << lines();
  EXPECT_TRUE(tells("vm2 is lost")) << lines();
  EXPECT_FALSE(tells("the worker on vm2")) << lines();
  EXPECT_FALSE(tells("The worker on vm2")) << lines();
}

TEST_F(RunnerMachinesTest, AReleaseThatFailsIsTriedAgain) {
  fake_.troubles.release = 4;
  const auto end = run();
  expect_trained(end);
  EXPECT_TRUE(tells("vm1 could not be released (the API is down); retrying")) << lines();
}

TEST_F(RunnerMachinesTest, AMachineThatCannotBeReleasedIsToldAtTheEnd) {
  const auto end = run_and(19, [&] {
    fake_.troubles.release = kAlways;
    clock_.go(60);
  });
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  EXPECT_EQ(fake_.running(), 2);
  EXPECT_TRUE(
      tells("vm1 may still be running and cost money: its release failed (the API is "
            "down). If 'stint status' lists it, release it with 'stint stop small'"))
      << lines();
  EXPECT_TRUE(tells("vm2 may still be running")) << lines();
}

TEST_F(RunnerMachinesTest, AMachineThatIsNoLongerListedIsLost) {
  record_.steps = 100;
  record_.regroup = 100 * kMillisecond;
  const auto end = run_and(10, [&] { fake_.forget("vm2"); });
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason << "\n" << lines();
  EXPECT_EQ(fake_.running(), 0);
  EXPECT_GE(story().losses, 1) << lines();
}

TEST_F(RunnerMachinesTest, AMachineWhoseRequestLostItsAnswerIsAskedForAgainAndRentedOnce) {
  fake_.troubles.answer = 1;
  expect_trained(run());
  EXPECT_FALSE(tells("refused")) << lines();
  EXPECT_EQ(fake_.requests, 3);
  EXPECT_EQ(fake_.look()->machines.size(), 2U);
}

TEST_F(RunnerMachinesTest, ARefusalIsToldAndAskedForAgain) {
  record_.tick = 100 * kMillisecond;
  fake_.troubles.refuse = 1;
  expect_trained(run());
  EXPECT_TRUE(tells("was refused (no capacity)")) << lines();
}

// The first process ended after it wrote down what it was about to ask for.
TEST_F(RunnerMachinesTest, WhatTheJournalAskedForIsAskedForAgainByTheNextProcess) {
  record_.began = clock_.now();
  (void)write_file(record_path(folder_), write_run(record_));
  supervisor_ = make_supervisor(record_);
  {
    RunLedger ledger(*supervisor_, {}, std::move(*RunJournal::open(journal_path_of(folder_))), 1);
    ASSERT_TRUE(ledger.handle({.kind = RunEventKind::kTick}, record_.plan).ok());
  }
  ASSERT_TRUE(fake_.request({.name = "vm1", .type = "local.small", .market = Market::kSpot}).ok());
  auto replayed = replay_run_folder(folder_);
  ASSERT_TRUE(replayed.ok()) << replayed.error().message;
  supervisor_ = std::move(replayed->supervisor);
  ASSERT_EQ(supervisor_->vms().size(), 2U);
  Runner second = runner({});
  ASSERT_TRUE(second.take_over().ok());
  const auto end = second.run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason << "\n" << lines();
  EXPECT_EQ(fake_.requests, 2) << lines();  // vm1 was there.
  EXPECT_EQ(fake_.look()->machines.size(), 2U);
  EXPECT_EQ(fake_.running(), 0);
}

TEST_F(RunnerMachinesTest, MachinesThatTheJournalDoesNotKnowAreReleasedByTheNextProcess) {
  record_.steps = 200;  // Steps are reported together, up to a second later.
  auto end = run_and(20, [] { ::raise(SIGINT); });
  ASSERT_TRUE(end.ok() && end->outcome == RunVerdict::kStopped);
  ASSERT_TRUE(fake_.request({.name = "vm3", .type = "local.small", .market = Market::kSpot}).ok());
  ASSERT_TRUE(fake_.request({.name = "mine", .type = "local.small", .market = Market::kSpot}).ok());
  auto replayed = replay_run_folder(folder_);
  ASSERT_TRUE(replayed.ok());
  supervisor_ = std::move(replayed->supervisor);
  Runner second = runner({});
  fake_.troubles.look = 2;  // It waits for the first answer, too.
  ASSERT_TRUE(second.take_over().ok());
  end = second.run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  EXPECT_TRUE(tells("vm3 is up, though the journal does not know it: it is released")) << lines();
  EXPECT_EQ(fake_.running(), 1);  // Another's machine is left alone.
  (void)fake_.release("mine");
  EXPECT_NEAR(supervisor_->cost().in(kDollar), fake_.cost().in(kDollar), 1e-9) << lines();
}

/// While it exists, files cannot grow beyond a size, as on a full disk.
class LargestFile {
 public:
  explicit LargestFile(rlim_t size) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = size, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LargestFile() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  LargestFile(const LargestFile&) = delete;
  LargestFile& operator=(const LargestFile&) = delete;

 private:
  rlimit before_ = {};
  sighandler_t handler_;
};

// The file of measurements has the largest size that a file may have; the journal has not.
TEST_F(RunnerMachinesTest, AFullDiskUnderTheMeasurementsIsToldOnceAndEndsNothing) {
  constexpr off_t kLargest = 64 << 20;
  const std::string path = measurements_path(folder_);
  ASSERT_TRUE(write_file(path, "").ok());
  {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::pwrite(file.get(), "\n", 1, kLargest - 3), 1);  // The rest is a hole.
  }
  const LargestFile limit(kLargest);
  expect_trained(run());
  int told = 0;
  for (const StoryLine& line : story().lines) {
    told += line.text.find("Measurements of the run are incomplete") == 0 ? 1 : 0;
  }
  EXPECT_EQ(told, 1) << lines();
  EXPECT_TRUE(tells("File too large; training continues")) << lines();
  EXPECT_EQ(std::filesystem::file_size(path), kLargest - 2);  // No part of a line is left.
}

}  // namespace
}  // namespace stint
