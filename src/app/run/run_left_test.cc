#include "app/run/run_left.h"

#include <gtest/gtest.h>
#include <memory>

#include "base/temporary_folder.h"
#include "run/run_fixture.h"

namespace stint {
namespace {

VmStatus vm(const char* name, VmPhase phase, Seconds born, Seconds age) {
  return {.name = name,
          .type = "local.small",
          .market = Market::kSpot,
          .phase = phase,
          .born = born,
          .age = age,
          .price = phase == VmPhase::kTaken ? DollarsPerSecond{} : 0.0001 * kDollar / kSecond,
          .cost = age * (0.0001 * kDollar / kSecond)};
}

class RunLeftTest : public testing::Test {
 protected:
  /// The story of the run of run_fixture.h up to its eighth event, at 7.5 s: vm1 is up since 1 s
  /// and vm2 since 2 s, which makes 0.0012 USD.
  RunStory story() {
    std::vector<RunEvent> events = small_events();
    events.resize(8);
    write_small_run(folder_, small_record(), events);
    return story_of(*replay_run_folder(folder_));
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string folder_ = place_.path() + "/runs/small";
  Environment environment_{.data_folder = {},
                           .state_folder = place_.path(),
                           .clock = std::make_shared<FixedClock>(1030 * kSecond)};
};

// 100 s after the run began, which is when the cluster was made: vm1 has cost 99 s x 0.0001 USD/s;
// vm2 was interrupted after 48 s, at 50 s; vm3 came up, though the journal does not say so.
TEST_F(RunLeftTest, MachinesCostWhatTheirProviderCounts) {
  RunStory told = story();
  LeftMachines left{.status = {}, .rate = {}, .cost = {}};
  left.status.age = 100 * kSecond;
  left.status.vms = {vm("vm1", VmPhase::kRunning, 1 * kSecond, 99 * kSecond),
                     vm("vm2", VmPhase::kTaken, 2 * kSecond, 48 * kSecond),
                     vm("vm3", VmPhase::kRunning, 60 * kSecond, 40 * kSecond)};
  tell_of_left(left, 100 * kSecond, told);
  EXPECT_EQ(told.time, 100 * kSecond);
  EXPECT_NEAR(told.cost.in(kDollar), 0.0099 + 0.0048 + 0.0040, 1e-9);
  ASSERT_EQ(told.vms.size(), 3U);
  EXPECT_FALSE(told.vms[0].until);
  EXPECT_NEAR(told.vms[0].cost.in(kDollar), 0.0099, 1e-9);
  ASSERT_TRUE(told.vms[1].until);
  EXPECT_NEAR(told.vms[1].until->in(kSecond), 50, 1e-9);
  EXPECT_TRUE(told.vms[1].taken);
  EXPECT_EQ(told.losses, 1);
  EXPECT_NEAR(told.vms[2].from.in(kSecond), 60, 1e-9);
  Seconds time;
  Dollars cost;
  for (const StoryPart& part : told.parts) {
    time += part.time;
    cost += part.cost;
  }
  EXPECT_NEAR(time.in(kSecond), 100, 1e-9);
  EXPECT_NEAR(cost.in(kDollar), told.cost.in(kDollar), 1e-9);
}

TEST_F(RunLeftTest, WithoutAClusterNothingIsLeftOrReleased) {
  (void)story();
  EXPECT_FALSE(machines_left(environment_, folder_, small_record()));
  const auto released = release_left(environment_, folder_);
  ASSERT_FALSE(released.ok());
  EXPECT_EQ(released.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(released.error().message, "the run small is not running and has no machines");
}

TEST_F(RunLeftTest, ARunThatIsConductedIsNotReleased) {
  (void)story();
  const auto lock = lock_run(folder_);
  ASSERT_TRUE(lock.ok());
  EXPECT_FALSE(machines_left(environment_, folder_, small_record()));
  EXPECT_FALSE(release_left(environment_, folder_).ok());
}

}  // namespace
}  // namespace stint
