#include "cli/render/render_front.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "app/plan/plan_cases.h"
#include "base/text.h"

namespace stint::cli {
namespace {

Plan point(double hours, double dollars) {
  Plan plan;
  plan.time.mean = hours * kHour;
  plan.cost.mean = dollars * kDollar;
  return plan;
}

std::vector<Plan> three_points() {
  std::vector<Plan> front = {point(1, 1000), point(10, 100), point(100, 10)};
  mark_knee(front[1]);
  return front;
}

// Both axes are logarithmic, so the knee lies in the middle of the picture: the sixth of 11 rows.
TEST(FrontPicture, ShowsThePointsAndTheKnee) {
  const std::string picture = front_picture(three_points(), {.width = 0});
  const auto lines = split(picture, '\n');
  ASSERT_EQ(lines.size(), 15U) << picture;  // The last is empty: the text ends in a newline.
  EXPECT_EQ(lines[0], "cost");
  EXPECT_EQ(lines[1], "$1000 |o");
  EXPECT_EQ(lines[11].substr(0, 8), "$10.00 |") << picture;
  EXPECT_EQ(lines[11].back(), 'o');
  const std::size_t knee = lines[6].find('K');
  ASSERT_NE(knee, std::string::npos) << picture;
  EXPECT_NE(lines[13].find("1.00 h"), std::string::npos);
  EXPECT_TRUE(lines[13].ends_with("100 h time")) << picture;
}

TEST(FrontPicture, FitsIntoSixtyColumnsAndLess) {
  for (const int width : {0, 100, 60, 40}) {
    const int widest = width == 40 ? 40 : 60;
    for (const std::string& line : split(front_picture(three_points(), {.width = width}), '\n')) {
      EXPECT_LE(display_width(line), widest) << line;
    }
  }
}

TEST(FrontPicture, OnePointOrOneCostIsNoPicture) {
  EXPECT_EQ(front_picture({point(1, 10)}, {}), "");
  EXPECT_EQ(front_picture({point(1, 10), point(2, 10)}, {}), "");
  EXPECT_EQ(front_picture({}, {}), "");
}

}  // namespace
}  // namespace stint::cli
