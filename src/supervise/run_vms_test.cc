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

}  // namespace
}  // namespace stint
