#include "optimise/passes.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(Passes, AreTimedInTheOrderTheyRan) {
  FixedClock clock(100 * kSecond);
  const std::vector<std::string> disabled = {"mixed"};
  Passes passes(clock, disabled);
  passes.run("one", [&](PassReport& report) {
    clock.advance(2 * kSecond);
    report.kept = 7;
  });
  passes.run("two", [](PassReport&) {});
  ASSERT_EQ(passes.reports().size(), 2U);
  EXPECT_EQ(passes.reports()[0].name, "one");
  EXPECT_EQ(passes.reports()[0].kept, 7);
  EXPECT_EQ(passes.reports()[0].time, 2 * kSecond);
  EXPECT_EQ(passes.reports()[1].time, Seconds{});
  EXPECT_TRUE(passes.enabled("front"));
  EXPECT_FALSE(passes.enabled("mixed"));
}

}  // namespace
}  // namespace stint
