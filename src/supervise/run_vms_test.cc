#include "supervise/run_vms.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

RunSlot slot(const std::string& type, Market market, bool trains = true) {
  return {.type = type,
          .trains = trains,
          .market = market,
          .spot = 1 * kDollar / kHour,
          .on_demand = 3 * kDollar / kHour};
}

// Requested at 0, up from 1 h to 3 h at 1 USD/h, then 2 USD/h until 4 h: 2 + 2 = 4 USD.
TEST(RunVms, CostFromTheMomentTheyAreUpUntilTheyAreGone) {
  RunVms vms;
  const int vm = vms.ask(slot("a", Market::kSpot), 0, Market::kSpot, {});
  EXPECT_EQ(vms.cost(1 * kHour), Dollars{});
  vms.come(vm, 1 * kHour);
  vms.change_price("b", 9 * kDollar / kHour, 2 * kHour);
  vms.change_price("a", 2 * kDollar / kHour, 3 * kHour);
  EXPECT_NEAR(vms.cost(4 * kHour).in(kDollar), 4, 1e-12);
  EXPECT_NEAR(vms.rate().in(kDollar / kHour), 2, 1e-12);
  vms.end(vm, 4 * kHour);
  EXPECT_NEAR(vms.cost(9 * kHour).in(kDollar), 4, 1e-12);
  EXPECT_TRUE(vms.present().empty());
}

TEST(RunVms, CostWhatTheirProviderSaysOnceTheyAreGone) {
  RunVms vms;
  const int vm = vms.ask(slot("a", Market::kSpot), 0, Market::kOnDemand, {});
  vms.come(vm, {});
  // The machine is still up, so that this is not final: 3 USD until now.
  vms.bill(vm, 1 * kDollar);
  EXPECT_NEAR(vms.cost(1 * kHour).in(kDollar), 3, 1e-12);
  vms.end(vm, 1 * kHour);
  EXPECT_NEAR(vms.cost(2 * kHour).in(kDollar), 1, 1e-12);
  vms.bill(vm, 3.01 * kDollar);
  EXPECT_NEAR(vms.cost(2 * kHour).in(kDollar), 3.01, 1e-12);
}

TEST(RunVms, FindTheMachineOfASlotThatIsUpFirst) {
  RunVms vms;
  const RunSlot one = slot("a", Market::kSpot);
  EXPECT_FALSE(vms.of(0, Market::kSpot));
  vms.ask(one, 0, Market::kSpot, {});
  const int second = vms.ask(one, 0, Market::kSpot, {});
  EXPECT_EQ(vms.of(0, Market::kSpot), 0);
  vms.come(second, {});
  EXPECT_EQ(vms.of(0, Market::kSpot), second);
  EXPECT_FALSE(vms.of(0, Market::kOnDemand));
  vms.announce(second, {});
  EXPECT_EQ(vms.of(0, Market::kSpot), 0);
}

// Of a (spot), b (on demand) and a keeper b, the new plan has slots for b on the spot market and
// for an a on demand; its keeper is of another type.
TEST(RunVms, MoveIntoANewPlanByTypeThenByMarket) {
  RunVms vms;
  vms.ask(slot("a", Market::kSpot), 0, Market::kSpot, {});
  vms.ask(slot("b", Market::kOnDemand), 1, Market::kOnDemand, {});
  vms.ask(slot("b", Market::kOnDemand, false), 2, Market::kOnDemand, {});
  for (int vm = 0; vm < 3; ++vm) vms.come(vm, {});
  vms.move_to({slot("b", Market::kSpot), slot("a", Market::kOnDemand), slot("a", Market::kSpot),
               slot("c", Market::kOnDemand, false)});
  EXPECT_EQ(vms.at(0).slot, 2);
  EXPECT_EQ(vms.at(1).slot, 0);
  EXPECT_FALSE(vms.at(1).leaving);
  EXPECT_TRUE(vms.at(2).leaving);
}

TEST(RunVms, ReturnFromASnapshotWithTheirCostAndSlots) {
  RunVms vms;
  vms.ask(slot("a", Market::kSpot), 0, Market::kSpot, {});
  vms.ask(slot("b", Market::kOnDemand), 1, Market::kOnDemand, {});
  vms.ask(slot("a", Market::kSpot), 2, Market::kSpot, {});
  for (int vm = 0; vm < 2; ++vm) vms.come(vm, {});
  vms.end(0, 1 * kHour);
  vms.end(2, 1 * kHour);  // Never up: it costs nothing and is not kept.
  EXPECT_EQ(vms.kept().vms.size(), 2U);
  EXPECT_EQ(problem(vms.kept()), "");
  RunVms back = RunVms::from(vms.kept());
  EXPECT_EQ(back.all().size(), 3U);
  EXPECT_EQ(back.at(2).phase, RunVmPhase::kGone);
  EXPECT_EQ(back.present(), vms.present());
  EXPECT_EQ(back.of(1, Market::kOnDemand), 1);
  EXPECT_FALSE(back.of(0, Market::kSpot));
  EXPECT_EQ(back.cost(2 * kHour), vms.cost(2 * kHour));
  back.bill(0, 5 * kDollar);
  vms.bill(0, 5 * kDollar);
  EXPECT_EQ(back.cost(2 * kHour), vms.cost(2 * kHour));
}

TEST(RunVms, AreNotThoseOfADamagedSnapshot) {
  const RunVm vm;
  EXPECT_NE(problem(KeptVms{.count = 1, .vms = {{.number = 1, .vm = vm}}}), "");
  EXPECT_NE(problem(KeptVms{.count = 9, .vms = {{.number = 1, .vm = vm}, {.number = 1, .vm = vm}}}),
            "");
  EXPECT_NE(problem(KeptVms{.count = 2'000'000'000}), "");
  EXPECT_NE(problem(KeptVms{.count = 1, .vms = {{.vm = {.phase = RunVmPhase::kNoticed}}}}), "");
}

TEST(RunVms, MayHaveNumbersThatAnotherVersionGave) {
  RunVms vms;
  vms.ask_as(5, slot("a", Market::kSpot), 0, Market::kSpot, {});
  EXPECT_EQ(vms.present(), (std::vector<int>{5}));
  EXPECT_EQ(vms.at(3).phase, RunVmPhase::kGone);
  vms.ask_as(2, slot("a", Market::kSpot), 1, Market::kSpot, {});
  EXPECT_EQ(vms.present(), (std::vector<int>{2, 5}));
  EXPECT_EQ(vms.of(1, Market::kSpot), 2);
  vms.ask_as(2, slot("a", Market::kSpot), 3, Market::kSpot, {});  // It replaces the other.
  EXPECT_EQ(vms.present(), (std::vector<int>{2, 5}));
  EXPECT_EQ(vms.of(3, Market::kSpot), 2);
  EXPECT_FALSE(vms.of(1, Market::kSpot));
  EXPECT_EQ(vms.ask(slot("a", Market::kSpot), 4, Market::kSpot, {}), 6);
}

}  // namespace
}  // namespace stint
