#include "supervise/run_words.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(RunWords, RoundTimesToWhatAPersonWantsToKnow) {
  EXPECT_EQ(rounded(44.6 * kSecond), "45 s");
  EXPECT_EQ(rounded(119.99 * kSecond), "2 min");
  EXPECT_EQ(rounded(200 * kMinute), "3 h 20 min");
  EXPECT_EQ(rounded(24 * kHour), "24 h 0 min");
}

TEST(RunWords, NameMachinesAsTheCloudDoes) {
  EXPECT_EQ(vm_name(0), "vm1");
  EXPECT_EQ(counted(1), "1 machine");
  EXPECT_EQ(counted(3), "3 machines");
  EXPECT_EQ(market_name(Market::kSpot), "a spot machine");
}

}  // namespace
}  // namespace stint
