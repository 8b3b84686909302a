#include "calibrate/collectives/residual_field.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

FieldPoint at(double size_log, double workers_log2 = 3, std::size_t system = 0) {
  return {.system = system, .size_log = size_log, .workers_log2 = workers_log2};
}

TEST(ResidualField, IsZeroFarFromAllRows) {
  const ResidualField field({at(10), at(11)}, {0.4, 0.4});
  const FieldEstimate other = field.at(at(10, 3, 1));
  EXPECT_EQ(other.mean, 0);
  EXPECT_FALSE(other.same_curve);
  EXPECT_EQ(other.variance, ResidualField().at(at(10)).variance);
}

TEST(ResidualField, FollowsItsRowsAndFadesWithDistance) {
  std::vector<FieldPoint> points;
  std::vector<double> residuals;
  for (int i = 0; i < 8; ++i) {
    points.push_back(at(10 + 0.5 * i));
    residuals.push_back(0.2);
  }
  const ResidualField field(points, residuals);
  const FieldEstimate between = field.at(at(11.25));
  EXPECT_NEAR(between.mean, 0.2, 0.01);
  EXPECT_TRUE(between.same_curve);
  const FieldEstimate beyond = field.at(at(20));
  const FieldEstimate larger = field.at(at(11.25, 5));
  EXPECT_LT(beyond.mean, between.mean);
  EXPECT_GT(beyond.variance, between.variance);
  EXPECT_LT(larger.mean, between.mean);
  EXPECT_GT(larger.mean, 0.02);
  EXPECT_FALSE(larger.same_curve);
}

// Left out, a row is estimated from its neighbours, whatever it says itself.
TEST(ResidualField, LeavesRowsOut) {
  const ResidualField field({at(10), at(10.5), at(11)}, {0.1, 5, 0.1});
  const auto skip = [](std::size_t i) { return i == 1; };
  EXPECT_NEAR(field.at(at(10.5), skip).mean, 0.1, 0.02);
  EXPECT_GT(field.at(at(10.5)).mean, 0.3);
}

// Jobs that were measured at a size with few workers are those measured there with many.
TEST(ResidualField, RemembersWhatJobsMakeOfASize) {
  std::vector<FieldPoint> points;
  std::vector<double> residuals;
  for (int i = 0; i < 10; ++i) {
    FieldPoint it = at(10 + 0.1 * i, 1);
    it.many_jobs = true;
    points.push_back(it);
    residuals.push_back(i == 5 ? 0.7 : 0);
  }
  const ResidualField field(points, residuals);
  FieldPoint same = at(10.5, 3);
  same.many_jobs = true;
  FieldPoint other = at(10.55, 3);
  other.many_jobs = true;
  EXPECT_GT(field.at(same).mean, field.at(other).mean + 0.2);
}

}  // namespace
}  // namespace stint
