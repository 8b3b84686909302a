#include "cli/render/render_scores.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint::cli {
namespace {

ValidationReport of_numbers() {
  ValidationReport report;
  report.validation.jobs["bert"] = {
      .n = 4, .mape = 0.05, .median_ape = 0.04, .p90_ape = 0.1, .coverage80 = 0.75};
  report.validation.overall = report.validation.jobs["bert"];
  report.validation.overall.skipped = 2;
  report.beside.push_back(report.validation);
  report.beside[0].baseline = "line";
  report.beside[0].jobs["bert"].mape = 0.5;
  return report;
}

TEST(ScoresTable, ShowsTheOthersBeside) {
  const std::string text = scores_table(of_numbers(), {});
  EXPECT_NE(text.find("stint"), std::string::npos) << text;
  EXPECT_NE(text.find("line"), std::string::npos) << text;
  EXPECT_NE(text.find("5.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("50.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("75.0 %"), std::string::npos) << text;
  // One job needs no mean.
  EXPECT_EQ(text.find("mean over jobs"), std::string::npos) << text;
}

TEST(ScoresTable, ShowsVerdictsByTheirAccuracy) {
  ValidationReport report;
  report.validation.jobs["K80"] = {.n = 4, .accuracy = 0.75, .balanced_accuracy = 0.625};
  report.validation.overall = {.n = 4, .accuracy = 0.75};
  report.beside.push_back({});
  report.beside[0].baseline = "all";
  report.beside[0].overall = {.n = 4, .accuracy = 0.5};
  const std::string text = scores_table(report, {});
  EXPECT_NE(text.find("62.5 %"), std::string::npos) << text;
  EXPECT_NE(text.find("all right"), std::string::npos) << text;
  EXPECT_NE(text.find("50.0 %"), std::string::npos) << text;
}

TEST(PrintReport, FailsWhenPredictionsCannotBeWritten) {
  const std::string blocker =
      (std::filesystem::path(testing::TempDir()) / "stint_render_scores_test").string();
  ASSERT_TRUE(write_file(blocker, "a file, not a folder").ok());
  Invocation invocation;
  invocation.options["--predictions"] = {blocker + "/out.csv"};
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(print_report(invocation, "validate memory", {}), kExitFailed);
  std::fclose(invocation.err);
}

}  // namespace
}  // namespace stint::cli
