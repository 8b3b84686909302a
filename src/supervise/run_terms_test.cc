#include "supervise/run_terms.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

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
