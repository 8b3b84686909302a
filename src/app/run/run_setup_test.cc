#include "app/run/run_setup.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>

#include "base/temporary_folder.h"
#include "load/plan_files.h"
#include "run/run_fixture.h"

namespace stint {
namespace {

class RunSetupTest : public testing::Test {
 protected:
  static RunRequest request() {
    return {.cluster = "2x local.large:spot",
            .job = "paced-5mb",
            .command = {"train"},
            .global_batch = 96,
            .steps = 60};
  }

  Result<PreparedRun> prepare(const RunRequest& asked) { return prepare_run(environment_, asked); }

  void expect_refused(const RunRequest& asked, ErrorKind kind, const std::string& words) {
    const auto run = prepare(asked);
    ASSERT_FALSE(run.ok()) << words;
    EXPECT_EQ(run.error().kind, kind) << run.error().message;
    EXPECT_NE(run.error().message.find(words), std::string::npos) << run.error().message;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  Environment environment_{.data_folder = {},
                           .state_folder = place_.path(),
                           .clock = std::make_shared<FixedClock>(1000 * kSecond)};
};

TEST_F(RunSetupTest, PreparesAShippedJob) {
  const auto run = prepare(request());
  ASSERT_TRUE(run.ok()) << run.error().message;
  const RunRecord& record = run->record;
  EXPECT_EQ(record.name, "paced-5mb-1");
  EXPECT_EQ(record.job, "paced-5mb");
  EXPECT_EQ(record.steps, 60);
  EXPECT_EQ(record.global_batch, 96);
  EXPECT_EQ(record.compute, RunCompute::kPacedReal);
  ASSERT_EQ(record.plan.machines.size(), 1U);
  const RunMachines& machines = record.plan.machines[0];
  EXPECT_EQ(machines.type, "local.large");
  EXPECT_EQ(machines.count, 2);
  EXPECT_EQ(machines.market, Market::kSpot);
  EXPECT_LT(machines.spot, machines.on_demand);
  EXPECT_EQ(machines.device, "Local-1x");
  EXPECT_EQ(machines.batch_per_vm, 48);
  EXPECT_EQ(machines.micro_batch, 64);  // The largest that was measured.
  // Of one and of two machines, of which one takes longer.
  ASSERT_EQ(record.plan.steps.size(), 2U);
  EXPECT_GT(record.plan.steps[0].mean, record.plan.steps[1].mean);
  EXPECT_EQ(problem(record.plan), "");
  ASSERT_TRUE(record.forecast);
  EXPECT_GE(record.forecast->time.mean, 60 * record.plan.steps[1].mean);
  EXPECT_TRUE(run->record.pool.empty());
  EXPECT_EQ(record.secret, "");  // Nothing has begun.
}

TEST_F(RunSetupTest, TakesBatchAndStepsFromThePlanAndTheJob) {
  RunRequest asked = request();
  asked.global_batch.reset();
  const auto run = prepare(asked);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->record.global_batch, 128);  // The job's reference.
}

TEST_F(RunSetupTest, WorkersGetTheVariablesThatAreNamed) {
  ::setenv("STINT_TEST_KEY", "x", 1);  // Its name suggests a secret.
  RunRequest asked = request();
  const int withheld = prepare(asked)->withheld;
  asked.environment = {"STINT_TEST_OTHER=1"};
  expect_refused(asked, ErrorKind::kUsage, "--env cannot change STINT_TEST_OTHER");
  asked.environment = {"WANDB_TEST_KEY"};
  expect_refused(asked, ErrorKind::kUsage,
                 "--env names WANDB_TEST_KEY, which is not set; set it, or give --env "
                 "WANDB_TEST_KEY=VALUE");
  ::setenv("WANDB_TEST_KEY", "secret", 1);
  EXPECT_EQ(prepare(request())->withheld, withheld + 1);
  asked.environment = {"WANDB_TEST_KEY", "MODE=a,b"};
  const auto run = prepare(asked);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->withheld, withheld);
  // The value of a variable that is named is not kept.
  EXPECT_EQ(run->record.environment, (std::vector<std::string>{"WANDB_TEST_KEY", "MODE=a,b"}));
  const auto again = read_run(write_run(run->record), "run.json");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->noun.environment, run->record.environment);
  ::unsetenv("WANDB_TEST_KEY");
  ::unsetenv("STINT_TEST_KEY");
}

TEST_F(RunSetupTest, NamesARunAfterItsJobWithANumberThatIsFree) {
  std::filesystem::create_directories(place_.path() + "/runs/paced-5mb-1");
  const auto run = prepare(request());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->record.name, "paced-5mb-2");
  EXPECT_FALSE(std::filesystem::exists(place_.path() + "/runs/paced-5mb-2"));
}

TEST_F(RunSetupTest, FollowsAPlan) {
  Plan plan{.cluster = *parse_cluster("3x local.large:spot + 1x local.small")};
  plan.global_batch = 160;
  plan.iterations = 70;
  plan.time = {.mean = 40 * kSecond, .p10 = 30 * kSecond, .p90 = 50 * kSecond};
  plan.cost = {.mean = 1 * kDollar, .p10 = 1 * kDollar, .p90 = 1 * kDollar};
  plan.checkpoint =
      CheckpointSchedule{.place = CheckpointPlace::kTier, .interval = 6 * kSecond, .receivers = 2};
  PlanAnswer answer{.plans = {plan}};
  answer.job = "paced-5mb";
  ASSERT_TRUE(keep_plan(environment_, answer).ok());
  auto run = prepare({.plan = "1", .command = {"python3", "-m", "stint.demo"}});
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->record.steps, 70);
  EXPECT_EQ(run->record.global_batch, 160);
  EXPECT_EQ(run->record.checkpoint.interval, 6 * kSecond);
  // The receivers of the tier are rented as well, and train nothing.
  ASSERT_EQ(run->record.plan.machines.size(), 3U);
  EXPECT_FALSE(run->record.plan.machines[2].trains);
  EXPECT_TRUE(run->record.plan.machines[2].receives);
  EXPECT_EQ(run->record.plan.machines[2].count, 2);
  EXPECT_EQ(run->record.plan.steps.size(), 7U);  // (3 + 1)(1 + 1) − 1 subsets.
  ASSERT_TRUE(run->answer);
  // A script that saves by itself needs none of them.
  const auto plain = prepare({.plan = "1", .command = {"train"}});
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  EXPECT_EQ(plain->record.plan.machines.size(), 2U);
  // What a person says counts more.
  run = prepare(
      {.plan = "1", .command = {"train"}, .steps = 5, .place = CheckpointPlace::kObjectStore});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->record.steps, 5);
  EXPECT_EQ(run->record.plan.machines.size(), 2U);
}

// 10 epochs of 500 samples are 5000, of which 52 steps take 96 each and one the rest.
TEST_F(RunSetupTest, TrainsToTheGoalThatIsAskedFor) {
  RunRequest asked = request();
  asked.steps.reset();
  asked.overrides = {.goal = "epochs=10", .samples_per_epoch = 500};
  auto run = prepare(asked);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->record.steps, 53);
  EXPECT_EQ(run->inputs.job.goal->epochs, 10);
  asked.overrides = {.goal = "samples=96"};
  run = prepare(asked);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->record.steps, 1);
  asked.overrides = {.goal = "10"};
  expect_refused(asked, ErrorKind::kUsage, "is not a goal");
  asked.overrides = {.goal = "accuracy>=0.9"};
  expect_refused(asked, ErrorKind::kUsage, "--steps or --goal is required");
}

TEST_F(RunSetupTest, APlanKeepsWhatTheFlagsSaidOfItsJob) {
  Plan plan{.cluster = *parse_cluster("2x local.large")};
  plan.global_batch = 96;
  plan.iterations = 70;
  PlanAnswer answer{.plans = {plan}};
  answer.job = "mine";
  answer.profile = "paced-5mb";
  answer.job_overrides = JobOverrides{.name = "mine", .goal = "samples=6720"};
  ASSERT_TRUE(keep_plan(environment_, answer).ok());
  auto run = prepare({.plan = "1", .command = {"train"}});
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->record.job, "mine");
  EXPECT_EQ(run->record.steps, 70);
  EXPECT_EQ(run->inputs.job.goal->samples, 6720);
  run = prepare({.plan = "1", .command = {"train"}, .overrides = {.goal = "samples=960"}});
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->record.steps, 10);
}

TEST_F(RunSetupTest, AnAnchorIsTheOnDemandMachineOrOneMore) {
  RunRequest asked = request();
  asked.place = CheckpointPlace::kAnchor;
  auto run = prepare(asked);
  ASSERT_TRUE(run.ok()) << run.error().message;
  ASSERT_EQ(run->record.plan.machines.size(), 2U);  // There was none on demand.
  EXPECT_TRUE(run->record.plan.machines[1].receives);
  asked.cluster = "2x local.large:spot + 1x local.large";
  run = prepare(asked);
  ASSERT_TRUE(run.ok()) << run.error().message;
  ASSERT_EQ(run->record.plan.machines.size(), 2U);
  EXPECT_TRUE(run->record.plan.machines[1].receives);
  EXPECT_TRUE(run->record.plan.machines[1].trains);
}

TEST_F(RunSetupTest, EqualSharesAreEqual) {
  RunRequest asked = request();
  asked.cluster = "1x local.fast + 1x local.large";  // Twice as fast as the other.
  const int both[] = {0, 1};
  auto run = prepare(asked);
  ASSERT_TRUE(run.ok()) << run.error().message;
  const std::vector<int> own = shares_of(run->record.plan, both, 96);
  EXPECT_GT(own[0], own[1]);
  EXPECT_EQ(own[0] + own[1], 96);
  asked.equal_shares = true;
  run = prepare(asked);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(shares_of(run->record.plan, both, 96), (std::vector<int>{48, 48}));
}

// 160 samples of at most 64 at once take 3 micro-batches on one machine, or 4 equal ones.
TEST_F(RunSetupTest, PlansForEverySubsetThatCanShareTheBatch) {
  RunRequest asked = request();
  asked.global_batch = 160;
  const auto run = prepare(asked);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->record.plan.steps.size(), 2U);
}

TEST_F(RunSetupTest, SaysWhatIsMissing) {
  RunRequest asked = request();
  asked.command.clear();
  expect_refused(asked, ErrorKind::kUsage, "training command is required");
  asked = request();
  asked.steps.reset();
  asked.job = "imagenet";
  expect_refused(asked, ErrorKind::kUsage, "--steps or --goal is required");
  asked = request();
  asked.job = "imagenet";
  asked.global_batch.reset();
  expect_refused(asked, ErrorKind::kUsage, "--batch is required");
  asked = request();
  asked.job.clear();
  expect_refused(asked, ErrorKind::kUsage, "--job is required");
  expect_refused({.plan = "1", .command = {"train"}}, ErrorKind::kBadInput, "there is no plan yet");
  environment_.state_folder.reset();
  expect_refused(request(), ErrorKind::kFailed, "set HOME");
}

TEST_F(RunSetupTest, RefusesWhatTheEmulatedCloudDoesNotHave) {
  RunRequest asked = request();
  asked.cluster = "2x g4dn.xlarge:spot";
  expect_refused(asked, ErrorKind::kUsage, "g4dn.xlarge is a machine of aws");
  asked.cluster = "2x local.huge";
  EXPECT_FALSE(prepare(asked).ok());
  asked.cluster = "two of them";
  EXPECT_FALSE(prepare(asked).ok());
  asked = request();
  asked.job = "no-such-job";
  expect_refused(asked, ErrorKind::kBadInput, "no-such-job");
}

// 60 steps of about 0.3 s: decisions every nanosecond would be billions.
TEST_F(RunSetupTest, RefusesATickWithMoreDecisionsThanAForecastWeighs) {
  RunRequest asked = request();
  asked.tick = 1e-9 * kSecond;
  expect_refused(asked, ErrorKind::kUsage, "--tick 1 ns is too short for a run of");
  asked.deadline = 1 * kHour;
  asked.tick = 1 * kSecond;
  expect_refused(asked, ErrorKind::kUsage,
                 "--tick 1 s is too short for a run of 3.6e+03 s: the minimum is 5 s");
  asked.tick = 5 * kSecond;
  EXPECT_TRUE(prepare(asked).ok());
}

// A year has 52,560 times ten minutes.
TEST_F(RunSetupTest, DecidesLessOftenUntilAFarDeadline) {
  RunRequest asked = request();
  asked.deadline = 365 * 24 * kHour;
  const auto run = prepare(asked);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_NEAR(run->record.tick.in(kHour), 365 * 24 / 720.0, 1e-9);
}

TEST_F(RunSetupTest, RefusesATierOfBillions) {
  RunRequest asked = request();
  asked.place = CheckpointPlace::kTier;
  asked.receivers = 2'147'483'647;
  expect_refused(asked, ErrorKind::kUsage, "--receivers must be from 1 to 64");
}

TEST_F(RunSetupTest, RefusesNamesThatCannotBe) {
  for (const char* name : {"..", "../x", "a b", "-a", "a/b", "a\nb", "'a'", ".a", "a..b"}) {
    RunRequest asked = request();
    asked.name = name;
    expect_refused(asked, ErrorKind::kUsage, "is not a valid name of a run");
  }
}

TEST_F(RunSetupTest, RefusesAClusterOfTooManyKinds) {
  RunRequest asked = request();
  asked.global_batch = 9600;
  asked.cluster = "70x local.large + 70x local.small";  // 71 · 71 subsets.
  expect_refused(asked, ErrorKind::kUsage, "too many kinds");
}

TEST_F(RunSetupTest, RefusesLimitsThatCannotBeKept) {
  RunRequest asked = request();
  asked.deadline = 1 * kMillisecond;
  expect_refused(asked, ErrorKind::kInfeasible, "the deadline of 1 ms cannot be kept: 60 steps");
  asked = request();
  asked.budget = 1e-6 * kDollar;
  expect_refused(asked, ErrorKind::kInfeasible, "the budget of 1e-06 USD cannot be kept: 60 steps");
  asked.budget = 100 * kDollar;
  asked.deadline = 10 * kHour;
  EXPECT_TRUE(prepare(asked).ok());
}

// 20 steps of 1.8 s on one machine, or of 0.9 s on two, are 36 s at 0.36 USD an hour. The receiver
// stands before the machines that train.
TEST_F(RunSetupTest, LimitsAreThoseOfTheMachinesThatTrain) {
  RunRecord record = small_record();
  record.plan.machines.insert(record.plan.machines.begin(), {.type = "local.cpu",
                                                             .spot = 36 * kDollar / kHour,
                                                             .on_demand = 36 * kDollar / kHour,
                                                             .trains = false,
                                                             .receives = true});
  record.budget = 0.004 * kDollar;
  EXPECT_TRUE(check_run_limits(record).ok());
  record.budget = 0.0035 * kDollar;
  const Status refused = check_run_limits(record);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kInfeasible);
  EXPECT_NE(refused.error().message.find("cost at least 0.0036 USD"), std::string::npos)
      << refused.error().message;
}

TEST_F(RunSetupTest, DecidesAtMostTenThousandTimes) {
  RunRequest asked = request();
  asked.tick = 1e-9 * kSecond;
  expect_refused(asked, ErrorKind::kUsage, "--tick 1 ns is too short for a run of");
}

// Sixteen million samples on one machine after the other once overflowed.
TEST_F(RunSetupTest, PreparesTheLargestBatch) {
  RunRequest asked = request();
  asked.global_batch = kBatchMax;
  const auto run = prepare(asked);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->record.global_batch, kBatchMax);
}

}  // namespace
}  // namespace stint
