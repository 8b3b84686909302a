#include "run/supervisor.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

RunTerms two_spot_machines() {
  RunTerms terms;
  for (int i = 0; i < 2; ++i) {
    terms.slots.push_back(
        {.market = Market::kSpot, .spot = 0.3 * kDollar / kHour, .on_demand = 1 * kDollar / kHour});
  }
  terms.steps = 10;
  terms.step_time = [](std::span<const int> slots) {
    return 20.0 / static_cast<double>(slots.size()) * kSecond;
  };
  return terms;
}

TEST(Supervisor, LaunchesTrainsSavesAndFinishes) {
  Supervisor supervisor(two_spot_machines());
  const auto launches = supervisor.handle({.kind = Event::kTick});
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].kind, Act::kLaunch);
  supervisor.handle({.kind = Event::kVmUp, .vm = 0});
  const auto train = supervisor.handle({.kind = Event::kVmUp, .vm = 1});
  ASSERT_EQ(train.size(), 1U);
  EXPECT_EQ(train[0].kind, Act::kTrain);
  EXPECT_EQ(train[0].vms, (std::vector<int>{0, 1}));
  supervisor.handle({.kind = Event::kWorkersUp, .attempt = 1, .step = 0});
  const auto save =
      supervisor.handle({.kind = Event::kStepDone, .at = 100 * kSecond, .attempt = 1, .step = 10});
  ASSERT_EQ(save.size(), 1U);
  EXPECT_EQ(save[0].kind, Act::kSave);
  const auto end = supervisor.handle({.kind = Event::kSaved, .at = 110 * kSecond, .step = 10});
  EXPECT_EQ(end.back().kind, Act::kFinish);
  EXPECT_EQ(end.back().outcome, RunVerdict::kTrained);
  EXPECT_TRUE(supervisor.finished());
}

}  // namespace
}  // namespace stint
