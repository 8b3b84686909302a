#include "cli/render/render_compared.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

constexpr Terminal kPipe{.width = 0};

Plan plan_at(const std::string& cluster, double hours, double dollars) {
  return {.cluster = *parse_cluster(cluster),
          .time = {.mean = hours * kHour, .p10 = hours * kHour, .p90 = hours * kHour},
          .cost = {.mean = dollars * kDollar, .p10 = dollars * kDollar, .p90 = dollars * kDollar}};
}

PlanAnswer answer() {
  PlanAnswer answer{.plans = {plan_at("1x best", 10, 100)}};
  answer.compared = {{.cluster = "2x mine",
                      .plan = plan_at("2x mine", 8, 150),
                      .dearer = 50 * kDollar,
                      .longer = -2 * kHour},
                     {.cluster = "1x tiny", .problem = "1x tiny has no plan: too small"}};
  return answer;
}

// 50 of 100 dollars more, 2 of 10 hours less.
TEST(ComparedSheet, SaysHowMuchDearerAndSlower) {
  const std::string sheet = compared_sheet(answer(), kPipe);
  EXPECT_NE(sheet.find("a  2x mine"), std::string::npos) << sheet;
  EXPECT_NE(sheet.find("a: 2x mine costs $50.00 more (50 %) and takes 2.00 h less (20 %) than plan "
                       "1."),
            std::string::npos)
      << sheet;
  EXPECT_NE(sheet.find("1x tiny has no plan: too small."), std::string::npos) << sheet;
}

TEST(ComparedSheet, HasNothingToCompareWithWhereThereIsNoPlan) {
  PlanAnswer it = answer();
  it.plans.clear();
  it.compared[0].dearer.reset();
  it.compared[0].longer.reset();
  EXPECT_NE(compared_sheet(it, kPipe).find("a: 2x mine costs $150 and takes 8.00 h."),
            std::string::npos)
      << compared_sheet(it, kPipe);
}

TEST(ComparedSheet, IsEmptyWhereNothingIsCompared) { EXPECT_EQ(compared_sheet({}, kPipe), ""); }

}  // namespace
}  // namespace stint::cli
