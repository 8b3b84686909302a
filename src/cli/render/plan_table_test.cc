#include "cli/render/plan_table.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace stint::cli {
namespace {

constexpr Terminal kPipe{.width = 0};

Plan plan_of(const std::string& cluster, double hours, double dollars) {
  Plan plan{.cluster = *parse_cluster(cluster)};
  plan.time = {.mean = hours * kHour, .p10 = 0.9 * hours * kHour, .p90 = 1.1 * hours * kHour};
  plan.cost = {
      .mean = dollars * kDollar, .p10 = 0.9 * dollars * kDollar, .p90 = 1.1 * dollars * kDollar};
  plan.global_batch = 1024;
  return plan;
}

Plan plan_in(const std::string& region, int workers) {
  Plan plan = plan_of("2x a2-highgpu-4g", 10, 100);
  plan.prediction = Prediction{.cluster = plan.cluster};
  plan.prediction->groups = {
      {.vm = "a2-highgpu-4g", .device = "A100-40GB-SXM", .vms = 2, .workers_per_vm = workers}};
  plan.prediction->price = PriceUsed{.rate = 10 * kDollar / kHour, .region = region, .date = {}};
  return plan;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The first word of each line.
std::string numbers_of(const std::string& table) {
  std::string numbers;
  for (const std::string& line : split(table, '\n')) {
    if (!line.empty() && is_digit(line[0])) numbers += line.substr(0, line.find(' ')) + " ";
  }
  return numbers;
}

TEST(GpusText, AddsUpEqualDevices) {
  Plan plan = plan_in("here", 4);
  EXPECT_EQ(gpus_text(plan), "8x A100-40GB-SXM");
  plan.prediction->groups.push_back({.device = "T4", .vms = 3, .workers_per_vm = 1});
  plan.prediction->groups.push_back({.device = "A100-40GB-SXM", .vms = 1, .workers_per_vm = 2});
  EXPECT_EQ(gpus_text(plan), "10x A100-40GB-SXM + 3x T4");
  EXPECT_EQ(gpus_text(plan_of("g5.xlarge", 1, 1)), "");
}

// 80 columns less the number, the widest time, cost and probability and four gaps of two leave
// 80 - 1 - 18 - 18 - 7 - 8 = 28 columns of the cluster. "in budget" would be 11 more.
TEST(PlanTable, ANarrowScreenKeepsClusterTimeAndCost) {
  Plan plan = plan_of("29x g2-standard-4:spot + 4x a2-highgpu-1g:spot", 18.3, 90.7);
  plan.cost.p90 = 150 * kDollar;
  plan.p_deadline = 0.99999;
  plan.p_budget = 0.4;
  const std::string table = plan_table({plan}, {.width = 80});
  for (const char* part :
       {"29x g2-standard-4:spot + 4x…", "18.3 h (16.5–20.1)", "$90.7 (81.6–150.0)", ">99.9 %",
        "Hidden columns: GPUs, $/h, region, batch, in budget; -o csv shows all."}) {
    EXPECT_TRUE(has(table, part)) << part << "\n" << table;
  }
}

// Where the cluster would be cut for a note, the note goes below the table.
TEST(PlanTable, ANoteMakesRoomForTheCluster) {
  Plan plan = plan_of("64x Standard_ND96isr_H100_v5:spot", 18.3, 90.7);
  plan.note = "network not measured; batch beyond measured";
  Plan other = plan_of("2x g5.xlarge", 20, 80);
  other.note = "network not measured";
  const std::string narrow = plan_table({plan, other}, {.width = 90});
  EXPECT_TRUE(has(narrow, "64x Standard_ND96isr_H100_v5:spot ")) << narrow;
  EXPECT_TRUE(
      has(narrow, "Notes: network not measured: plans 1, 2; batch beyond measured: plan 1."))
      << narrow;
  EXPECT_FALSE(has(narrow, "note\n")) << narrow;
  const std::string wide = plan_table({plan, other}, kPipe);
  EXPECT_TRUE(has(wide, "note\n")) << wide;
  EXPECT_FALSE(has(wide, "Notes:")) << wide;
}

TEST(PlanTable, SaysWhatUnvalidatedMeansWhereAPlanIsMarked) {
  Plan plan = plan_of("2x g5.xlarge", 18.3, 90.7);
  EXPECT_FALSE(has(plan_table({plan}, kPipe), "docs/planning.md"));
  plan.note = "A10G unvalidated";
  for (const Terminal& terminal : {kPipe, Terminal{.width = 90}}) {
    const std::string table = plan_table({plan}, terminal);
    EXPECT_TRUE(has(table,
                    "Unvalidated: no measurement of that GPU is behind its times "
                    "(docs/planning.md)."))
        << table;
  }
}

TEST(PlanTable, ShortJobsAreInSecondsAndCents) {
  const std::string table = plan_table({plan_of("g5.xlarge", 0.015, 0.0142)}, kPipe);
  EXPECT_TRUE(has(table, "54.0 s (48.6–59.4)")) << table;
  EXPECT_TRUE(has(table, "$0.014 (0.013–0.016)")) << table;
}

// At 80 columns the region is hidden, unless it is all that tells two rows apart.
TEST(PlanTable, ShowsWhatTellsRowsApart) {
  EXPECT_FALSE(has(plan_table({plan_in("us-east1", 4)}, {.width = 80}), "us-east1"));
  const std::string table =
      plan_table({plan_in("us-east1", 4), plan_in("us-west1", 4)}, {.width = 80});
  EXPECT_TRUE(has(table, "us-east1")) << table;
  EXPECT_TRUE(has(table, "us-west1")) << table;
}

TEST(PlanTable, RowsThatNothingTellsApartAreOne) {
  EXPECT_EQ(numbers_of(plan_table({plan_in("a", 4), plan_in("a", 4), plan_in("a", 2)}, kPipe)),
            "1 3 ");
}

}  // namespace
}  // namespace stint::cli
