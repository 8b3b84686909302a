#include <gtest/gtest.h>

#include "base/codec.h"
#include "supervise/supervisor_fixture.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

RunTerms two_slots() {
  RunTerms terms;
  const RunSlot slot{.type = "a",
                     .market = Market::kSpot,
                     .spot = 1 * kDollar / kHour,
                     .on_demand = 3 * kDollar / kHour};
  terms.slots = {slot, slot};
  terms.steps = 100;
  terms.step_time = [](std::span<const int> slots) {
    return 2.0 / static_cast<double>(slots.size()) * kSecond;
  };
  return terms;
}

TEST(SupervisorReplay, FollowsWhatAnotherVersionDid) {
  Supervisor supervisor(two_slots());
  ASSERT_TRUE(supervisor.follow({}, {{.kind = Act::kLaunch, .vm = 4, .slot = 1}}).ok());
  ASSERT_TRUE(supervisor
                  .follow({.kind = Event::kVmUp, .at = kMinute, .vm = 4},
                          {{.kind = Act::kTrain, .attempt = 9, .vms = {4}},
                           {.kind = Act::kSay, .reason = "Another version says so."}})
                  .ok());
  ASSERT_TRUE(supervisor.attempt());
  EXPECT_EQ(supervisor.attempt()->number, 9);
  ASSERT_TRUE(
      supervisor.follow({.kind = Event::kWorkersUp, .at = kMinute, .attempt = 9, .step = 0}, {})
          .ok());
  ASSERT_TRUE(supervisor
                  .follow({.kind = Event::kStepDone, .at = 2 * kMinute, .attempt = 9, .step = 7},
                          {{.kind = Act::kSave, .attempt = 9, .step = 7, .save = 12}})
                  .ok());
  // The answer to request 12 is awaited, and none to another.
  ASSERT_TRUE(supervisor.follow({.kind = Event::kSaved, .step = 7, .save = 12}, {}).ok());
  EXPECT_EQ(supervisor.saved(), 7);
  EXPECT_NEAR(supervisor.cost().in(kDollar), 3.0 / 60, 1e-12);  // On demand: a minute.
  ASSERT_TRUE(supervisor
                  .follow({.kind = Event::kStop, .at = 2 * kMinute},
                          {{.kind = Act::kRelease, .vm = 4},
                           {.kind = Act::kFinish, .outcome = RunVerdict::kStopped, .reason = "so"}})
                  .ok());
  EXPECT_TRUE(supervisor.finished());
  EXPECT_EQ(supervisor.vms()[4].phase, RunVmPhase::kGone);
}

TEST(SupervisorReplay, RefusesWhatNobodyCanHaveDone) {
  for (const RunAction& action :
       {RunAction{.kind = Act::kLaunch, .vm = 2'000'000'000},
        RunAction{.kind = Act::kLaunch, .slot = 2}, RunAction{.kind = Act::kRelease, .vm = 0},
        RunAction{.kind = Act::kTrain, .vms = {0}}, RunAction{.kind = Act::kTrain},
        RunAction{.kind = Act::kSay, .step = -1}}) {
    Supervisor supervisor(two_slots());
    const Status followed = supervisor.follow({}, {action});
    ASSERT_FALSE(followed.ok()) << name_of(action.kind);
    EXPECT_EQ(followed.error().kind, ErrorKind::kBadInput);
  }
}

TEST(SupervisorReplay, ASnapshotOfOtherTermsIsRefused) {
  const Supervisor supervisor(two_slots());
  RunTerms other = two_slots();
  other.slots.pop_back();
  Supervisor restored(other);
  EXPECT_FALSE(restored.restore(supervisor.snapshot()).ok());
}

TEST(SupervisorReplay, ADamagedSnapshotHasAProblem) {
  Supervisor supervisor(two_slots());
  (void)supervisor.handle({});
  const SupervisorSnapshot good = supervisor.snapshot();
  EXPECT_EQ(problem(good), "");
  SupervisorSnapshot bad = good;
  bad.state.holders_ = {2};
  EXPECT_NE(problem(bad), "");
  bad = good;
  bad.state.attempt_ = RunAttempt{.number = 1, .vms = {}};
  EXPECT_NE(problem(bad), "");
  bad.state.attempt_->vms = {-1};
  EXPECT_NE(problem(bad), "");
  bad = good;
  bad.state.reached_ = 101;
  EXPECT_NE(problem(bad), "");
  bad = good;
  bad.vms.vms[0].vm.slot = 2;
  EXPECT_NE(problem(bad), "");
}

}  // namespace
}  // namespace stint
