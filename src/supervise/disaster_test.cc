#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>

#include "supervise/disaster_world.h"

namespace stint {
namespace {

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// STINT_DISASTERS is the number of scenarios (`make e2e`: 50,000), STINT_DISASTER_SEED the only one
// to run.
TEST(Disasters, AlwaysEndTrainedOrGivenUpWithTheReason) {
  const std::uint64_t only = number_in("STINT_DISASTER_SEED", 0);
  const std::uint64_t worlds = only > 0 ? 1 : number_in("STINT_DISASTERS", 2'000);
  const std::uint64_t first = only > 0 ? only : 1;
  int bad = 0;
  for (std::uint64_t seed = first; seed < first + worlds; ++seed) {
    DisasterWorld world(seed);
    if (only > 0) world.write_log();
    const std::string problem = world.play();
    EXPECT_EQ(problem, "") << "replay with STINT_DISASTER_SEED=" << seed;
    if (!problem.empty() && ++bad > 9) break;
  }
}

}  // namespace
}  // namespace stint
