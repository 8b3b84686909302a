#include "app/plan/front_rows.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

/// `count` points, the one of number i with i + 1 VMs, twice the time and half the cost of the one
/// before; `knee` is the number of the knee.
std::vector<Plan> front_of(int count, int knee) {
  std::vector<Plan> front;
  for (int i = 0; i < count; ++i) {
    Plan plan{.cluster = *parse_cluster("g4dn.xlarge")};
    plan.cluster.groups[0].count = i + 1;
    plan.time.mean = std::exp2(i) * kHour;
    plan.cost.mean = std::exp2(-i) * kDollar;
    if (i == knee) mark_knee(plan);
    front.push_back(plan);
  }
  return front;
}

std::vector<int> vms_of(const std::vector<Plan>& plans) {
  std::vector<int> vms;
  for (const Plan& plan : plans) vms.push_back(plan.cluster.groups[0].count);
  return vms;
}

TEST(FrontRows, AShortFrontIsShownWhole) {
  const auto rows = front_rows(front_of(3, 1), 10);
  EXPECT_EQ(vms_of(rows), (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(is_knee(rows[0]));
  EXPECT_TRUE(is_knee(rows[1]));
}

// Points are equally far apart. First the knee and the ends, then what is farthest from them all.
TEST(FrontRows, ALongFrontIsSpreadEvenlyAndKeepsItsKnee) {
  EXPECT_EQ(vms_of(front_rows(front_of(9, 4), 5)), (std::vector<int>{1, 3, 5, 7, 9}));
  EXPECT_EQ(vms_of(front_rows(front_of(9, 1), 3)), (std::vector<int>{1, 2, 9}));
  EXPECT_EQ(vms_of(front_rows(front_of(9, 5), 1)), (std::vector<int>{6}));
  EXPECT_EQ(vms_of(front_rows(front_of(9, 5), 2)), (std::vector<int>{1, 6}));
}

TEST(FrontRows, TheMarkStandsBeforeANote) {
  Plan plan;
  plan.note = "over EFA";
  mark_knee(plan);
  EXPECT_EQ(plan.note, "knee; over EFA");
  mark_knee(plan);
  EXPECT_EQ(plan.note, "knee; over EFA");
}

}  // namespace
}  // namespace stint
