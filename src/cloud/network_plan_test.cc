#include "cloud/network_plan.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace stint {
namespace {

// 1 ms of 1 Gbit/s is 125 000 bytes, below 128 KiB = 131 072; of 5 Gbit/s it is 625 000.
TEST(NetworkPlan, TheBurstIsAMillisecondButAtLeast128KiB) {
  EXPECT_NEAR(htb_burst(1 * kGbit / kSecond).in(kByte), 131072, 1e-6);
  EXPECT_NEAR(htb_burst(5 * kGbit / kSecond).in(kByte), 625000, 1e-6);
}

TEST(NetworkPlan, ShapesWithHtbAndALongQueue) {
  const auto commands = shaping_commands("eth0", 100 * kMbit / kSecond);
  ASSERT_EQ(commands.size(), 3U);
  EXPECT_EQ(join(commands[0], " "), "tc qdisc add dev eth0 root handle 1: htb default 1");
  EXPECT_EQ(join(commands[1], " "),
            "tc class add dev eth0 parent 1: classid 1:1 htb rate 100000000bit burst 131072b "
            "cburst 131072b quantum 60000");
  EXPECT_EQ(join(commands[2], " "), "tc qdisc add dev eth0 parent 1:1 pfifo limit 4000");
}

TEST(NetworkPlan, BothEndsOfThePairAreShaped) {
  const NicPlan nic{.index = 3, .address = "10.77.0.3", .rate = 100 * kMbit / kSecond};
  const auto port = plug_commands(nic, 42);
  EXPECT_EQ(join(port[0], " "), "ip link add port3 type veth peer name eth0 netns 42");
  EXPECT_EQ(port.back()[4], "port3");
  const auto inside = vm_commands(nic);
  EXPECT_EQ(join(inside[1], " "), "ip addr add 10.77.0.3/16 dev eth0");
  EXPECT_EQ(inside.back()[4], "eth0");
}

TEST(NetworkPlan, TheSwitchIsABridge) {
  EXPECT_EQ(join(switch_commands()[0], " "), "ip link add br0 type bridge mcast_snooping 0");
}

// Destination 0000000A is 10.0.0.0 and 00004D0A is 10.77.0.0; masks FF and FFFF are /8 and /16.
TEST(NetworkPlan, TakesARangeThatNoRouteTouches) {
  const std::string head =
      "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n";
  EXPECT_EQ(free_range(head), 77);
  EXPECT_EQ(free_range(head + "e\t00000000\t01\t3\t0\t0\t0\t00000000\t0\t0\t0\n"), 77);
  EXPECT_EQ(free_range(head + "e\t00004D0A\t0\t1\t0\t0\t0\t0000FFFF\t0\t0\t0\n"), 78);
  EXPECT_EQ(free_range(head + "e\t03004D0A\t0\t1\t0\t0\t0\tFFFFFFFF\t0\t0\t0\n"), 78);
  EXPECT_EQ(free_range(head + "e\t0000000A\t0\t1\t0\t0\t0\t000000FF\t0\t0\t0\n"), 77);
}

TEST(NetworkPlan, ARateIsChangedInPlace) {
  EXPECT_EQ(join(reshaping_command(port_name(3), 1 * kGbit / kSecond), " "),
            "tc class change dev port3 parent 1: classid 1:1 htb rate 1000000000bit burst 131072b "
            "cburst 131072b quantum 60000");
}

// 254 of each block: the 255th is the first of the second, the 10 000th number 94 of the 40th.
TEST(NetworkPlan, AddressesCountFromOneAndNeverComeBack) {
  EXPECT_EQ(vm_address(78, 12), "10.78.0.12");
  EXPECT_EQ(vm_address(78, 254), "10.78.0.254");
  EXPECT_EQ(vm_address(78, 255), "10.78.1.1");
  EXPECT_EQ(vm_address(78, 10000), "10.78.39.94");
}

}  // namespace
}  // namespace stint
