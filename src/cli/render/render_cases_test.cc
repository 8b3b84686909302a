#include "cli/render/render_cases.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

const Terminal kWide{.width = 400};

CaseReport sample() {
  CaseOutcome it{.published = {.row = 3,
                               .id = "a-3",
                               .group = "a",
                               .model = "ResNet-50",
                               .machines = "p3.16xlarge",
                               .vms = 2,
                               .workers = 16,
                               .metric = CaseMetric::kSamplesPerSecond,
                               .value = 9860,
                               .source = "a page"},
                 .from = "a-2",
                 .from_workers = 8,
                 .predicted = 9367,
                 .p10 = 8000,
                 .p90 = 9800,
                 .speed_ratio = 0.95,
                 .perfect_ratio = 1.014,
                 .note = "a note"};
  CaseOutcome unknown{.published = {.id = "b-2", .vms = 4}, .note = "the batch is not stated"};
  CaseReport report{.scores = {}, .cases = {it, unknown}, .groups = {}};
  report.groups = {{.name = "a",
                    .several_vms = true,
                    .cases = 1,
                    .close = 1,
                    .inside = 0,
                    .median_ratio = 0.95,
                    .median_perfect = 1.014}};
  return report;
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CaseTable, ShowsPublishedBesidePredicted) {
  const std::string text = case_table(sample(), kWide);
  for (const char* part : {"a-3", "p3.16xlarge", "9860", "9367", "8000 - 9800", "0.95", "1.01",
                           "samples/s", "a-2", "a page", "a note", "the batch is not stated"}) {
    EXPECT_TRUE(mentions(text, part)) << part << "\n" << text;
  }
  // The published 9860 lies above the interval.
  EXPECT_TRUE(mentions(text, "no"));
}

TEST(CaseTable, HasALineForEachGroup) {
  const std::string text = case_group_table(sample(), kWide);
  EXPECT_TRUE(mentions(text, "several VMs"));
  EXPECT_TRUE(mentions(text, "0.95"));
}

TEST(CaseTable, WritesEveryColumnToCsv) {
  EXPECT_EQ(case_csv(sample()),
            "row,id,model,machines,vms,workers,published,unit,predicted,p10,p90,speed_ratio,inside,"
            "perfect_speed_ratio,from,source,note\n"
            "3,a-3,ResNet-50,p3.16xlarge,2,16,9860,samples/s,9367,8000,9800,0.95,no,1.01,a-2,a "
            "page,a note\n"
            "0,b-2,,,4,,,,,,,,,,,,the batch is not stated\n");
}

}  // namespace
}  // namespace stint::cli
