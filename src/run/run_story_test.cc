#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "run/run_fixture.h"
#include "run/run_replay.h"

namespace stint {
namespace {

class RunStoryTest : public testing::Test {
 protected:
  RunStory told(const std::vector<RunEvent>& events, const RunRecord& record = small_record()) {
    write_small_run(place_.path(), record, events);
    auto run = replay_run_folder(place_.path());
    EXPECT_TRUE(run.ok()) << run.error().message;
    return story_of(*run);
  }

  static void expect_sums(const RunStory& story) {
    Seconds time;
    Dollars cost;
    for (const StoryPart& part : story.parts) {
      EXPECT_GE(part.time, Seconds{}) << part.name;
      EXPECT_GE(part.cost, Dollars{}) << part.name;
      time += part.time;
      cost += part.cost;
    }
    EXPECT_NEAR(time.in(kSecond), story.time.in(kSecond), 1e-9);
    EXPECT_NEAR(cost.in(kDollar), story.cost.in(kDollar), 1e-12);
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
};

// From small_events(): the run trains 4 → 9.5, 10.5 → 15, 16 → 17.5 and, after step 8 is repeated
// at 22, until 34.5: 5.5 + 4.5 + 1.5 + 12.5 = 24 s. The start takes 4 s, 1 s is trained again (21 →
// 22), and the pauses are 9.5 → 10.5, 15 → 16 and 17.5 → 21: 5.5 s. The total is 34.5 s. Machines
// are up for 16.5, 7.5, 4.5, 16 and 15.5 s: 60 s at 0.0001 USD. Training takes 11 machine seconds
// until 9.5; then 4.5 with the first and 2 with the third; 3; 25: 45.5. The start takes 3 + 2 = 5;
// the repeated step 2; the pauses 1 + 2, none until 18.5, 0.5 until 19 and 4 until 21: 7.5.
TEST_F(RunStoryTest, PartsAreThoseOfTheHandWrittenRunAndAddUp) {
  const RunStory story = told(small_events());
  ASSERT_EQ(story.parts.size(), 4U);
  const double seconds[] = {24, 1, 4, 5.5};
  const double machine_seconds[] = {45.5, 2, 5, 7.5};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(story.parts[i].time.in(kSecond), seconds[i], 1e-9) << story.parts[i].name;
    EXPECT_NEAR(story.parts[i].cost.in(kDollar), 0.0001 * machine_seconds[i], 1e-9)
        << story.parts[i].name;
  }
  EXPECT_NEAR(story.cost.in(kDollar), 0.006, 1e-9);
  expect_sums(story);
}

TEST_F(RunStoryTest, TellsWhatItCameTo) {
  const RunStory story = told(small_events());
  EXPECT_EQ(story.outcome, RunVerdict::kTrained);
  EXPECT_EQ(story.reason, "all 20 steps are trained and saved");
  EXPECT_EQ(story.reached, 20);
  EXPECT_EQ(story.saved, 20);
  EXPECT_EQ(story.losses, 3);
  EXPECT_EQ(story.redone, 1);
  EXPECT_EQ(story.saves, 3);
  EXPECT_EQ(story.save_time, 0.75 * kSecond);
}

TEST_F(RunStoryTest, HasEachAttemptWithItsStepsAndTimes) {
  const RunStory story = told(small_events());
  // The fourth attempt was ordered when one of the last two machines was lost, and never trained.
  ASSERT_EQ(story.attempts.size(), 5U);
  EXPECT_EQ(story.attempts[1].vms, (std::vector<int>{0}));
  EXPECT_EQ(story.attempts[1].ordered, 9.5 * kSecond);
  EXPECT_EQ(story.attempts[1].training, 10.5 * kSecond);
  EXPECT_EQ(story.attempts[1].from_step, 5);
  EXPECT_EQ(story.attempts[1].to_step, 7);
  EXPECT_EQ(story.attempts[1].predicted, 2 * kSecond);
  EXPECT_EQ(story.attempts[1].measured, 2 * kSecond);
  EXPECT_EQ(story.attempts[1].steps, 2);
  EXPECT_FALSE(story.attempts[3].training);
  EXPECT_FALSE(story.attempts[3].measured);
  EXPECT_EQ(story.attempts[4].from_step, 7);
  EXPECT_EQ(story.attempts[4].to_step, 20);
  EXPECT_EQ(story.attempts[4].predicted, 1 * kSecond);
}

TEST_F(RunStoryTest, HasEachMachineWithItsBill) {
  const RunStory story = told(small_events());
  ASSERT_EQ(story.vms.size(), 5U);
  EXPECT_EQ(story.vms[1].name, "vm2");
  EXPECT_EQ(story.vms[1].type, "local.small");
  EXPECT_EQ(story.vms[1].market, Market::kSpot);
  EXPECT_EQ(story.vms[1].from, 2 * kSecond);
  EXPECT_EQ(story.vms[1].until, 9.5 * kSecond);
  EXPECT_EQ(story.vms[1].billed, 7.5 * kSecond);
  EXPECT_NEAR(story.vms[1].cost.in(kDollar), 0.00075, 1e-12);
  EXPECT_TRUE(story.vms[1].taken);
  EXPECT_FALSE(story.vms[4].taken);  // Released at the end.
  EXPECT_EQ(story.vms[4].until, 34.5 * kSecond);
}

TEST_F(RunStoryTest, AddsUpAfterEveryEvent) {
  const std::vector<RunEvent> all = small_events();
  for (std::size_t i = 0; i <= all.size(); ++i) {
    SCOPED_TRACE(i);
    const std::vector<RunEvent> some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i));
    expect_sums(told(some));
  }
}

// No worker trains between the loss of the only worker at 6 s and the start of the next at 11 s.
TEST_F(RunStoryTest, CountsTheTimeWithoutAnyMachineAsStandingStill) {
  RunRecord record = small_record();
  record.plan.machines[0].count = 1;
  std::vector<RunEvent> events = {
      {},
      {.kind = RunEventKind::kVmUp, .at = 1 * kSecond, .vm = 0},
      {.kind = RunEventKind::kWorkersUp, .at = 2 * kSecond, .attempt = 1, .step = 0},
      {.kind = RunEventKind::kVmLost, .at = 6 * kSecond, .vm = 0},
      {.kind = RunEventKind::kVmUp, .at = 10 * kSecond, .vm = 1},
      {.kind = RunEventKind::kWorkersUp, .at = 11 * kSecond, .attempt = 2, .step = 0},
      {.kind = RunEventKind::kTick, .at = 12 * kSecond}};
  const RunStory story = told(events, record);
  EXPECT_EQ(story.parts[0].time, 5 * kSecond);
  EXPECT_EQ(story.parts[2].time, 2 * kSecond);
  EXPECT_EQ(story.parts[3].time, 5 * kSecond);
  expect_sums(story);
}

TEST_F(RunStoryTest, GoesOnAfterAStopWhenItIsResumed) {
  std::vector<RunEvent> events = small_events();
  events.resize(8);  // Until step 3 is saved.
  events.push_back({.kind = RunEventKind::kStop, .at = 8 * kSecond});
  RunStory story = told(events);
  EXPECT_EQ(story.outcome, RunVerdict::kStopped);
  events.push_back({.kind = RunEventKind::kResumed, .at = 100 * kSecond, .step = 3});
  story = told(events);
  EXPECT_FALSE(story.outcome);
  EXPECT_EQ(story.reason, "");
  EXPECT_EQ(story.parts[3].time, 92 * kSecond);  // No worker trained from 8 to 100 s.
  expect_sums(story);
}

TEST_F(RunStoryTest, KeepsTheLatestLinesAndAttemptsOfAVeryLongRun) {
  const RunRecord record = small_record();
  const auto supervisor = make_supervisor(record);
  RunTeller teller;
  for (int i = 1; i <= 12'000; ++i) {
    const RunAction train{.kind = RunActionKind::kTrain, .attempt = i, .vms = {0, 1}};
    teller.see(*supervisor, {.event = {.kind = RunEventKind::kRemark,
                                       .at = i * kSecond,
                                       .reason = fmt::format("{}", i)},
                             .actions = {train}});
  }
  const RunStory story = teller.story(*supervisor);
  EXPECT_EQ(story.lines.back().text, "12000");
  EXPECT_EQ(story.lines.front().text, fmt::format("{}", story.lines_before + 1));
  EXPECT_GE(story.lines.size(), 10'000U);
  EXPECT_LT(story.lines.size(), 11'000U);
  EXPECT_GE(story.attempts.size(), 5'000U);
  EXPECT_LT(story.attempts.size(), 5'500U);
  EXPECT_EQ(story.attempts.back().vms.size(), 2U);
  EXPECT_TRUE(story.attempts.front().vms.empty());
  EXPECT_EQ(story.time, 12'000 * kSecond);
}

TEST(TimeSample, HasTheMedianOfMany) {
  TimeSample sample;
  EXPECT_FALSE(sample.median());
  for (int i = 0; i <= 100'000; ++i) sample.add(i * kSecond);
  EXPECT_LT(sample.times.size(), 2'000U);
  EXPECT_NEAR(sample.median()->in(kSecond), 50'000, 100);
}

}  // namespace
}  // namespace stint
