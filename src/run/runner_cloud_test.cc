// Tests of clouds that fail, of disks that are full, and of clocks.
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <sys/resource.h>
#include <unistd.h>

#include "run/fake_cloud.h"
#include "run/runner_fixture.h"

namespace stint {
namespace {

constexpr int kAlways = std::numeric_limits<int>::max();

class RunnerCloudTest : public RunnerTest {
 protected:
  void SetUp() override { prepare(); }
  const RunCloud& cloud() override { return fake_; }

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

  FakeCloud fake_{clock_};
};

TEST_F(RunnerCloudTest, ASuspendOfADayEndsNothingAndIsPaid) {
  record_.steps = 60;
  const auto end = run_and(20, [&] { clock_.jump(25 * kHour); });
  expect_trained(end);
  EXPECT_EQ(story().attempts.size(), 1U) << lines();
  EXPECT_TRUE(tells("Stint did not run for 25 h")) << lines();
  EXPECT_GT(story().time, 25 * kHour);
  // Two machines at 0.36 USD/h.
  EXPECT_GT(supervisor_->cost().in(kDollar), 18);
}

TEST_F(RunnerCloudTest, ADeadlineThatPassesInASuspendIsTold) {
  record_.steps = 60;
  record_.tick = 1 * kMinute;
  record_.deadline = 30 * kMinute;
  const auto end = run_and(20, [&] { clock_.jump(1 * kHour); });
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason;
  EXPECT_TRUE(tells("The deadline has passed")) << lines();
  EXPECT_TRUE(supervisor_->late());
}

TEST_F(RunnerCloudTest, AFailedLookAtTheCloudIsRetried) {
  record_.steps = 150;
  const auto end = run_and(10, [&] { fake_.troubles.status = 2; });
  expect_trained(end);
  EXPECT_TRUE(tells("The cloud does not answer (no route to the cloud); retrying for up to 10 min"))
      << lines();
  EXPECT_TRUE(tells("The cloud answers again, after ")) << lines();
}

TEST_F(RunnerCloudTest, ACloudThatNeverAnswersEndsTheRunAfterItsLimit) {
  clock_.go(60);  // A minute a second.
  fake_.troubles = {.status = kAlways, .add = kAlways};
  const auto end = run();
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().message,
            "the cloud did not answer for 60 s (no route to the cloud); continue with 'stint run "
            "--resume small' once it does");
}

TEST_F(RunnerCloudTest, AMachineThatIsLostWhileTheCloudDoesNotAnswerIsNoFailureOfItsWorker) {
  record_.steps = 120;
  record_.regroup = 100 * kMillisecond;
  const auto end = run_and(10, [&] {
    fake_.troubles.status = 2;
    fake_.lose("vm2");
  });
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason << "\n" << lines();
  EXPECT_TRUE(tells("vm2 is lost")) << lines();
  EXPECT_FALSE(tells("the worker on vm2")) << lines();
  EXPECT_FALSE(tells("The worker on vm2")) << lines();
}

TEST_F(RunnerCloudTest, AReleaseThatFailsIsTriedAgain) {
  fake_.troubles.release = 4;
  const auto end = run();
  expect_trained(end);
  EXPECT_TRUE(tells("vm1 could not be released (the API is down); retrying")) << lines();
}

TEST_F(RunnerCloudTest, AMachineThatCannotBeReleasedIsToldAtTheEnd) {
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

TEST_F(RunnerCloudTest, AMachineThatIsNoLongerListedIsLost) {
  record_.steps = 100;
  record_.regroup = 100 * kMillisecond;
  const auto end = run_and(10, [&] { fake_.forget("vm2"); });
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->outcome, RunVerdict::kTrained) << end->reason << "\n" << lines();
  EXPECT_EQ(fake_.running(), 0);
  EXPECT_GE(story().losses, 1) << lines();
}

TEST_F(RunnerCloudTest, AMachineWhoseLaunchOnlyLostItsAnswerIsReleasedAndPaid) {
  fake_.troubles.answer_to_add = 1;
  expect_trained(run());
  EXPECT_TRUE(tells("refused (the connection was reset)")) << lines();
}

TEST_F(RunnerCloudTest, MachinesThatTheJournalDoesNotKnowAreReleasedByTheNextProcess) {
  record_.steps = 200;  // Steps are reported together, up to a second later.
  auto end = run_and(20, [] { ::raise(SIGINT); });
  ASSERT_TRUE(end.ok() && end->outcome == RunVerdict::kStopped);
  ASSERT_TRUE(fake_.add({.name = "vm3", .type = "local.small", .market = Market::kSpot}).ok());
  ASSERT_TRUE(fake_.add({.name = "mine", .type = "local.small", .market = Market::kSpot}).ok());
  auto replayed = replay_run_folder(folder_);
  ASSERT_TRUE(replayed.ok());
  supervisor_ = std::move(replayed->supervisor);
  Runner second = runner({});
  fake_.troubles.status = 2;  // It waits for the first answer, too.
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
TEST_F(RunnerCloudTest, AFullDiskUnderTheMeasurementsIsToldOnceAndEndsNothing) {
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
