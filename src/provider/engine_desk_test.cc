#include "provider/engine_desk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "base/random.h"
#include "provider/fake_engine.h"

namespace stint {
namespace {

constexpr EnginePace kPace{.look = 1 * kSecond, .pause_min = 1 * kSecond, .pause_max = 8 * kSecond};

EngineAnswer list_of(const std::vector<MachineState>& machines) {
  return {.list = MachineList{.machines = machines}};
}

/// The name that the orders lane asks about now, with a sign for its kind; empty: nothing.
std::string asked(EngineDesk& desk, Seconds now) {
  const auto call = desk.next(EngineLane::kOrders, now);
  if (!call) return "";
  return (call->ask == EngineAsk::kRelease ? "-" : "+") + call->order.name;
}

void answer(EngineDesk& desk, Seconds now, EngineAnswer given = {}) {
  desk.answered(EngineLane::kOrders, std::move(given), now);
}

void look(EngineDesk& desk, Seconds now, EngineAnswer given) {
  ASSERT_TRUE(desk.next(EngineLane::kLooks, now));
  desk.answered(EngineLane::kLooks, std::move(given), now);
}

// Pauses of 1, 2, 4, 8 and 8 s after the failures.
TEST(EngineDesk, RepeatsAnOrderThatNobodyAnsweredWithGrowingPauses) {
  EngineDesk desk(kPace);
  desk.request({.name = "vm1"});
  Seconds now;
  for (const double pause : {1, 2, 4, 8, 8}) {
    ASSERT_EQ(asked(desk, now), "+vm1");
    EXPECT_EQ(asked(desk, now), "") << "one call at a time";
    answer(desk, now, {.error = "no route"});
    EXPECT_EQ(desk.due(EngineLane::kOrders), now + pause * kSecond);
    EXPECT_EQ(asked(desk, now + 0.99 * pause * kSecond), "");
    now += pause * kSecond;
  }
  ASSERT_EQ(asked(desk, now), "+vm1");
  answer(desk, now);
  EXPECT_FALSE(desk.due(EngineLane::kOrders));
  EXPECT_TRUE(desk.take_news().refused.empty());
}

TEST(EngineDesk, TellsARefusalOnceAndForgetsTheOrder) {
  EngineDesk desk(kPace);
  desk.request({.name = "vm1"});
  desk.request({.name = "vm1"});
  ASSERT_EQ(asked(desk, {}), "+vm1");
  answer(desk, {}, {.refusal = MachineRefusal{.name = "vm1", .reason = "full"}});
  EXPECT_EQ(asked(desk, 1 * kHour), "");
  EXPECT_EQ(desk.take_news().refused.size(), 1U);
  EXPECT_TRUE(desk.take_news().refused.empty());
}

TEST(EngineDesk, ReleasesGoFirstAndWithdrawTheOrder) {
  EngineDesk desk(kPace);
  desk.request({.name = "vm1"});
  desk.request({.name = "vm2"});
  desk.release("vm2");
  desk.request({.name = "vm2"});
  EXPECT_EQ(asked(desk, {}), "-vm2");
  answer(desk, {});
  EXPECT_EQ(asked(desk, {}), "+vm1");
}

TEST(EngineDesk, AReleaseIsOwedUntilALaterLookDoesNotShowTheMachine) {
  EngineDesk desk(kPace);
  const MachineState up{.name = "vm1", .phase = MachinePhase::kUp};
  const MachineState gone{.name = "vm1", .phase = MachinePhase::kGone, .released = true};
  desk.release("vm1");
  ASSERT_EQ(asked(desk, {}), "-vm1");
  // This look began before the release was accepted, so that it proves nothing.
  ASSERT_TRUE(desk.next(EngineLane::kLooks, {}));
  answer(desk, 1 * kSecond);
  desk.answered(EngineLane::kLooks, list_of({}), 1 * kSecond);
  EXPECT_EQ(desk.take_news().owed.size(), 1U);
  EXPECT_EQ(desk.due(EngineLane::kLooks), 1 * kSecond) << "the next look does not wait";
  look(desk, 1 * kSecond, list_of({up}));
  EXPECT_EQ(desk.take_news().owed.size(), 1U);
  look(desk, 2 * kSecond, list_of({gone}));
  EXPECT_TRUE(desk.take_news().owed.empty());
}

TEST(EngineDesk, AFailedReleaseSaysWhy) {
  EngineDesk desk(kPace);
  desk.release("vm1");
  ASSERT_EQ(asked(desk, {}), "-vm1");
  answer(desk, {}, {.error = "throttled"});
  const auto owed = desk.take_news().owed;
  ASSERT_EQ(owed.size(), 1U);
  EXPECT_EQ(owed[0].failures, 1);
  EXPECT_EQ(owed[0].reason, "throttled");
}

TEST(EngineDesk, TroubleLastsUntilALookIsAnsweredAndListsAreToldOnce) {
  EngineDesk desk(kPace);
  look(desk, {}, {.error = "no route"});
  look(desk, 1 * kSecond, {.error = "no route"});
  EXPECT_EQ(desk.take_news().trouble->failures, 2);
  EXPECT_EQ(desk.take_news().trouble->failures, 2);
  EXPECT_EQ(desk.due(EngineLane::kLooks), 3 * kSecond);
  look(desk, 3 * kSecond, list_of({}));
  const ProviderNews news = desk.take_news();
  EXPECT_FALSE(news.trouble);
  EXPECT_TRUE(news.list);
  EXPECT_EQ(news.listed_at, 3 * kSecond);
  EXPECT_FALSE(desk.take_news().list);
}

TEST(EngineDesk, LooksGoOnWhileAnOrderHangs) {
  EngineDesk desk(kPace);
  desk.request({.name = "vm1"});
  ASSERT_EQ(asked(desk, {}), "+vm1");
  look(desk, {}, list_of({}));
  look(desk, 1 * kSecond, list_of({{.name = "vm9", .phase = MachinePhase::kNoticed}}));
  EXPECT_EQ(desk.take_news().list->machines.at(0).phase, MachinePhase::kNoticed);
}

// Whatever fails, each order ends as one machine or one refusal, and each release as no machine.
TEST(EngineDesk, RentsAndReleasesOnceInAThousandTroubledDays) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    FixedClock clock(Seconds{});
    const FakeEngine engine(clock);
    EngineDesk desk(kPace);
    std::set<std::string> refused;
    for (int vm = 0; vm < 4; ++vm) desk.request({.name = fmt::format("vm{}", vm)});
    for (int step = 0; step < 400; ++step) {
      clock.advance(1 * kSecond);
      if (step == 100) desk.release("vm0");
      if (step == 102) desk.release("vm3");
      const bool calm = step > 200;
      engine.troubles = {.look = !calm && random.uniform() < 0.3 ? 1 : 0,
                         .request = !calm && random.uniform() < 0.3 ? 1 : 0,
                         .refuse = !calm && random.uniform() < 0.1 ? 1 : 0,
                         .release = !calm && random.uniform() < 0.3 ? 1 : 0,
                         .answer = !calm && random.uniform() < 0.3 ? 1 : 0};
      for (const EngineLane lane : kEngineLanes) {
        if (const auto call = desk.next(lane, clock.now())) {
          desk.answered(lane, perform(engine, *call), clock.now());
        }
      }
      const ProviderNews news = desk.take_news();
      for (const MachineRefusal& one : news.refused) {
        EXPECT_TRUE(refused.insert(one.name).second) << seed;
      }
    }
    engine.troubles = {};
    std::set<std::string> up;
    const auto list = engine.look();
    for (const MachineState& state : list->machines) {
      if (state.phase != MachinePhase::kGone) EXPECT_TRUE(up.insert(state.name).second) << seed;
    }
    for (const char* name : {"vm1", "vm2"}) {
      EXPECT_NE(up.contains(name), refused.contains(name)) << seed << " " << name;
    }
    EXPECT_FALSE(up.contains("vm0") || up.contains("vm3")) << seed;
    EXPECT_TRUE(desk.take_news().owed.empty()) << seed;
  }
}

}  // namespace
}  // namespace stint
