#include "supervise/run_terms.h"

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
  EXPECT_EQ(vm_name(2147483647), "vm2147483648");
  EXPECT_EQ(counted(1), "1 machine");
  EXPECT_EQ(counted(3), "3 machines");
  EXPECT_EQ(market_name(Market::kSpot), "a spot machine");
}

TEST(RunTerms, TellWhichSlotsTrain) {
  const RunTerms terms{.slots = {{.trains = false}, {.trains = true}, {.trains = true}}};
  EXPECT_EQ(training_slots(terms), (std::vector<int>{1, 2}));
}

TEST(RunTerms, AskForAStepTimeOnce) {
  int asked = 0;
  const StepTime step_time = remembered([&asked](std::span<const int> slots) {
    ++asked;
    return static_cast<double>(slots.size()) * kSecond;
  });
  const StepTime copy = step_time;
  EXPECT_EQ(step_time(std::vector{0, 1}), 2 * kSecond);
  EXPECT_EQ(copy(std::vector{0, 1}), 2 * kSecond);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(step_time(std::vector{1}), 1 * kSecond);
  EXPECT_EQ(asked, 2);
}

}  // namespace

}  // namespace stint
