#include "run/run_sharing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(RunSharingTest, WorkersAreToldTheRhythm) {
  const RunSharing sharing{.partner = "b",
                           .member = 1,
                           .mode = SharingMode::kWhole,
                           .turns = 3,
                           .patience = 120 * kMillisecond};
  EXPECT_THAT(turn_variables(sharing, "a"),
              testing::ElementsAre("STINT_TURNS=whole", "STINT_TURNS_JOB=a", "STINT_TURNS_ORDER=1",
                                   "STINT_TURNS_SHARE=3", "STINT_TURNS_PATIENCE=0.120000 s"));
}

TEST(RunSharingTest, NobodyWaitsForAnotherWhenTheyShareFreely) {
  const RunSharing sharing{
      .mode = SharingMode::kFreely, .turns = 2, .patience = 120 * kMillisecond};
  EXPECT_THAT(turn_variables(sharing, std::string(60, 'x')),
              testing::ElementsAre("STINT_TURNS=free", "STINT_TURNS_JOB=" + std::string(47, 'x'),
                                   "STINT_TURNS_ORDER=0", "STINT_TURNS_SHARE=1",
                                   "STINT_TURNS_PATIENCE=0.000000 s"));
}

}  // namespace
}  // namespace stint
