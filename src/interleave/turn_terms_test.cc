#include "interleave/turn_terms.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(TurnTerms, HoldGradientsBackOnlyInWholeTurns) {
  EXPECT_FALSE(terms_of(SharingMode::kWhole).overlap);
  EXPECT_TRUE(terms_of(SharingMode::kBucket).overlap);
  EXPECT_TRUE(terms_of(SharingMode::kFreely).overlap);
}

TEST(TurnTerms, KeepARhythmUnlessJobsShareFreely) {
  EXPECT_EQ(terms_of(SharingMode::kWhole).order, TurnOrder::kRhythm);
  EXPECT_EQ(terms_of(SharingMode::kBucket).order, TurnOrder::kRhythm);
  EXPECT_EQ(terms_of(SharingMode::kFreely).order, TurnOrder::kSlices);
}

}  // namespace
}  // namespace stint
