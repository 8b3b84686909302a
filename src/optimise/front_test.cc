#include "optimise/front.h"

#include <gtest/gtest.h>
#include <utility>

namespace stint {
namespace {

using Points = std::vector<std::pair<double, double>>;  // Seconds and dollars.

Found at(double time, double cost) {
  return {.config = {}, .outcome = {.time = time * kSecond, .cost = cost * kDollar}};
}

Front front_of(const Points& points) {
  Front front;
  for (const auto& [time, cost] : points) front.add(at(time, cost));
  return front;
}

Points points_of(const Front& front) {
  Points points;
  for (const Found& found : front.points()) {
    points.emplace_back(found.outcome.time.in(kSecond), found.outcome.cost.in(kDollar));
  }
  return points;
}

bool wants(const Front& front, double time, double cost) {
  return front.wants(time * kSecond, cost * kDollar);
}

TEST(Front, WantsWhatIsFasterOrCheaperThanAllElse) {
  EXPECT_TRUE(wants({}, 1, 1));
  const Front front = front_of({{2, 8}, {4, 4}});
  EXPECT_TRUE(wants(front, 1, 100));
  EXPECT_TRUE(wants(front, 3, 7));
  EXPECT_TRUE(wants(front, 100, 3));
  EXPECT_FALSE(wants(front, 3, 8));
  EXPECT_FALSE(wants(front, 5, 5));
}

TEST(Front, DoesNotWantWhatIsEqual) {
  const Front front = front_of({{2, 8}, {2, 8}, {4, 4}});
  EXPECT_EQ(points_of(front), (Points{{2, 8}, {4, 4}}));
  EXPECT_FALSE(wants(front, 2, 8));
  EXPECT_FALSE(wants(front, 4, 8));
  EXPECT_TRUE(wants(front, 2, 7));
}

TEST(Front, IsSortedHoweverItWasFilled) {
  EXPECT_EQ(points_of(front_of({{4, 4}, {9, 1}, {2, 8}, {5, 5}})),
            (Points{{2, 8}, {4, 4}, {9, 1}}));
}

TEST(Front, DropsWhatANewPointMakesNeedless) {
  EXPECT_EQ(points_of(front_of({{2, 8}, {4, 4}, {5, 3}, {9, 1}, {3, 3}})),
            (Points{{2, 8}, {3, 3}, {9, 1}}));
  // As fast and cheaper, or as cheap and faster.
  EXPECT_EQ(points_of(front_of({{2, 8}, {4, 4}, {2, 6}})), (Points{{2, 6}, {4, 4}}));
  EXPECT_EQ(points_of(front_of({{2, 8}, {4, 4}, {3, 4}})), (Points{{2, 8}, {3, 4}}));
}

// Scaled, the points are (0, 1), (1/4, 1/4), (1/2, 1/8) and (1, 0): 0, 1/2, 3/8 and 0 below the
// line.
TEST(Knee, IsFarthestBelowTheLine) {
  EXPECT_EQ(knee(front_of({{1, 9}, {2, 3}, {3, 2}, {5, 1}}).points()), 1U);
}

// (2, 8) scales to (1/2, 7/8), above the line.
TEST(Knee, IsTheCheaperEndWhereNothingLiesBelow) {
  EXPECT_EQ(knee(front_of({{1, 9}, {2, 8}, {3, 1}}).points()), 2U);
  EXPECT_EQ(knee(front_of({{1, 9}, {2, 8}}).points()), 1U);
  EXPECT_EQ(knee(front_of({{1, 9}}).points()), 0U);
  EXPECT_EQ(knee({}), std::nullopt);
}

}  // namespace
}  // namespace stint
