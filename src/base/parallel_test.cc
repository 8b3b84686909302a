#include "base/parallel.h"

#include <gtest/gtest.h>
#include <vector>

namespace stint {
namespace {

TEST(Parallel, CallsEachOnce) {
  std::vector<int> calls(1000, 0);
  for_each_parallel(calls.size(), [&](std::size_t i) { ++calls[i]; });
  EXPECT_EQ(calls, std::vector<int>(1000, 1));
}

TEST(Parallel, OfNothingCallsNothing) {
  for_each_parallel(
      0, [](std::size_t) { FAIL(); }, [](double) { FAIL(); });
}

// The calls end in no certain order, but what is done only grows: 1/8, 2/8, …, 8/8.
TEST(Parallel, TellsHowMuchIsDone) {
  std::vector<double> heard;
  for_each_parallel(
      8, [](std::size_t) {}, [&](double done) { heard.push_back(done); });
  EXPECT_EQ(heard, (std::vector<double>{0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1}));
}

}  // namespace
}  // namespace stint
