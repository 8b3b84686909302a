#include "provider/machine.h"

#include <gtest/gtest.h>

#include "base/codec.h"

namespace stint {
namespace {

TEST(Machine, AListIsReadAsItWasWritten) {
  const MachineList list{.machines = {{.name = "vm1",
                                       .type = "local.small",
                                       .market = Market::kSpot,
                                       .phase = MachinePhase::kNoticed,
                                       .reason = "capacity",
                                       .address = "10.0.0.2",
                                       .takes_in = 30 * kSecond,
                                       .paid = 90 * kSecond,
                                       .price = 1 * kDollar / kHour,
                                       .cost = 0.025 * kDollar},
                                      {.name = "vm2", .released = true}},
                         .spot_capacity = 3};
  const auto read = decode<MachineList>(encode(list, "stint.test/1"), "stint.test/1", "test");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->noun.machines.size(), 2U);
  const MachineState& first = read->noun.machines[0];
  EXPECT_EQ(first.phase, MachinePhase::kNoticed);
  EXPECT_EQ(first.takes_in, 30 * kSecond);
  EXPECT_EQ(first.cost, 0.025 * kDollar);
  EXPECT_FALSE(read->noun.machines[1].takes_in);
  EXPECT_FALSE(read->noun.machines[1].cost);
  EXPECT_TRUE(read->noun.machines[1].released);
  EXPECT_EQ(read->noun.spot_capacity, 3);
}

}  // namespace
}  // namespace stint
