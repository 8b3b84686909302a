#include "predict/straggler.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "base/random.h"

namespace stint {
namespace {

// Known values: n = 2: 1/√π; n = 3: 3/(2√π); n = 5: 1.16296; n = 100: 2.50759.
TEST(ExpectedMaxOfNormals, MatchesKnownValues) {
  const double root = std::sqrt(std::acos(-1.0));
  EXPECT_NEAR(expected_max_of_normals(1), 0, 1e-9);
  EXPECT_NEAR(expected_max_of_normals(2), 1 / root, 1e-6);
  EXPECT_NEAR(expected_max_of_normals(3), 1.5 / root, 1e-6);
  EXPECT_NEAR(expected_max_of_normals(5), 1.16296, 1e-5);
  EXPECT_NEAR(expected_max_of_normals(100), 2.50759, 1e-5);
}

// Known values on both sides of the 512 that are remembered: n = 10: 1.53875; n = 50: 2.24907;
// n = 500: 3.03670; n = 1000: 3.24144.
TEST(ExpectedMaxOfNormals, KnowsRememberedCountsAndOthers) {
  EXPECT_NEAR(expected_max_of_normals(10), 1.53875, 1e-5);
  EXPECT_NEAR(expected_max_of_normals(50), 2.24907, 1e-5);
  EXPECT_NEAR(expected_max_of_normals(500), 3.03670, 1e-5);
  EXPECT_NEAR(expected_max_of_normals(1000), 3.24144, 1e-5);
}

// A table that ends or starts one too early would show as a step that grows or vanishes.
TEST(ExpectedMaxOfNormals, RisesByEverSmallerStepsAcrossTheEndOfTheTable) {
  double step_before = expected_max_of_normals(2) - expected_max_of_normals(1);
  for (int n = 2; n < 600; ++n) {
    const double step = expected_max_of_normals(n + 1) - expected_max_of_normals(n);
    EXPECT_GT(step, 0) << n;
    EXPECT_LT(step, step_before) << n;
    step_before = step;
  }
}

TEST(ExpectedMaxOfNormalsDeathTest, NeedsADraw) {
  EXPECT_DEATH(expected_max_of_normals(0), "count >= 1");
}

TEST(ExpectedMaxOfNormals, AgreesWithDraws) {
  constexpr int kSeed = 3;
  constexpr int kTrials = 20000;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  double sum = 0;
  for (int i = 0; i < kTrials; ++i) {
    double largest = random.normal();
    for (int j = 1; j < 16; ++j) largest = std::max(largest, random.normal());
    sum += largest;
  }
  // The largest of 16 has a deviation of about 0.55, so the mean of 20,000 is good to 0.004.
  EXPECT_NEAR(sum / kTrials, expected_max_of_normals(16), 0.016);
}

// Between remembered values, by interpolation.
TEST(ExpectedMaxOfNormals, IsTheSameForManyWorkers) {
  const std::vector<double> values = expected_maxes_of_normals(3000);
  for (const int count : {513, 600, 777, 1024, 2048, 3000}) {
    EXPECT_NEAR(expected_max_of_normals(count), values[static_cast<std::size_t>(count - 1)], 1e-7);
  }
  EXPECT_GT(expected_max_of_normals(2000000000), 6);
}

TEST(ExpectedMaxOfNormals, AllCountsAtOnceEqualEachAlone) {
  const std::vector<double> all = expected_maxes_of_normals(600);
  ASSERT_EQ(all.size(), 600U);
  for (const int count : {1, 2, 3, 17, 256, 512}) {
    EXPECT_NEAR(all[static_cast<std::size_t>(count - 1)], expected_max_of_normals(count), 1e-12);
  }
}

}  // namespace
}  // namespace stint
