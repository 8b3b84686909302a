#include "cli/render/render_validation.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>

#include "base/file.h"
#include "base/text.h"

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

constexpr Terminal kWide{.width = 0};

Score score_of(int n, double error) {
  return {.n = n,
          .mape = error,
          .median_ape = error / 2,
          .p90_ape = 2 * error,
          .coverage80 = 0.75,
          .interval_score = 0.4};
}

/// A model without intervals.
Score plain(Score score) {
  score.coverage80.reset();
  score.interval_score.reset();
  return score;
}

Validation ours() {
  return {.what = "iteration",
          .overall = score_of(3, 0.06),
          .mean_over_jobs = score_of(3, 0.05),
          .jobs = {{"a", score_of(1, 0.04)}, {"b", score_of(2, 0.06)}}};
}

Validation perfect() {
  Validation it{.what = "iteration",
                .overall = plain(score_of(3, 0.6)),
                .mean_over_jobs = plain(score_of(3, 0.5)),
                .jobs = {{"b", plain(score_of(2, 0.6))}}};
  it.baseline = "perfect";
  return it;
}

// 0.04 is 4 %, its half 2 % and its double 8 %.
TEST(ValidationTable, ShowsJobsThenMeans) {
  EXPECT_EQ(
      validation_table({ours()}, kWide),
      "job             model  n  mean error  median     p90  in 80 % interval  interval score\na   "
      "            stint  1       4.0 %   2.0 %   8.0 %            75.0 %            0.40\nb       "
      "        stint  2       6.0 %   3.0 %  12.0 %            75.0 %            0.40\nmean over "
      "jobs  stint  3       5.0 %   2.5 %  10.0 %            75.0 %            0.40\nall rows      "
      "  stint  3       6.0 %   3.0 %  12.0 %            75.0 %            0.40\n");
}

TEST(ValidationTable, PutsModelsOfAJobTogetherAndLeavesOutWhatTheyLack) {
  const auto lines = split(validation_table({ours(), perfect()}, kWide), '\n');
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_TRUE(lines[1].starts_with("a               stint "));
  EXPECT_TRUE(lines[2].starts_with("b               stint "));
  EXPECT_TRUE(lines[3].starts_with("b               perfect "));
  EXPECT_TRUE(lines[3].ends_with("-               -")) << lines[3];
  EXPECT_TRUE(lines[7].starts_with("all rows        perfect "));
}

TEST(ValidationTable, WithoutScoresHasDashesInsteadOfErrors) {
  Validation nothing{.what = "iteration"};
  const auto lines = split(validation_table({nothing}, kWide), '\n');
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].find('%'), std::string::npos) << lines[1];
}

TEST(ValidationTable, CountsSkippedRowsWhereThereAreAny) {
  EXPECT_EQ(validation_table({ours()}, kWide).find("skipped"), std::string::npos);
  Validation some = ours();
  some.jobs["b"].skipped = 7;
  const auto lines = split(validation_table({some}, kWide), '\n');
  EXPECT_TRUE(lines[0].ends_with("  skipped"));
  EXPECT_TRUE(lines[1].ends_with("        0"));
  EXPECT_TRUE(lines[2].ends_with("        7"));
}

TEST(ValidationTable, FitsANarrowScreenAndSaysWhereTheRestIs) {
  Validation some = ours();
  some.overall.skipped = 1;
  for (const auto& line : split(validation_table({some, perfect()}, {.width = 80}), '\n')) {
    EXPECT_LE(display_width(line), 80) << line;
  }
  const std::string text = validation_table({some, perfect()}, {.width = 80});
  EXPECT_NE(text.find("interval score; -o json shows all."), std::string::npos) << text;
  EXPECT_NE(text.find("  skipped"), std::string::npos) << text;
}

TEST(ScoreTable, FollowsTheFirstModelAndPassesOverWhatOthersLack) {
  const std::vector<NamedScores> models = {
      {"stint", {{"one VM", score_of(1, 0.1)}, {"several VMs", score_of(2, 0.2)}}},
      {"perfect", {{"several VMs", plain(score_of(2, 0.7))}, {"elsewhere", score_of(9, 0.9)}}}};
  const auto lines = split(score_table("placement", models, kWide), '\n');
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_TRUE(lines[0].starts_with("placement    model "));
  EXPECT_TRUE(lines[1].starts_with("one VM       stint "));
  EXPECT_TRUE(lines[2].starts_with("several VMs  stint "));
  EXPECT_TRUE(lines[3].starts_with("several VMs  perfect "));
}

TEST(ScoreTable, ControlCharactersOfNamesAreNotPrinted) {
  const std::vector<NamedScores> models = {{"stint", {{"a\x1b[31m", score_of(1, 0.1)}}}};
  EXPECT_EQ(score_table("job", models, kWide).find('\x1b'), std::string::npos);
}

}  // namespace

}  // namespace stint::cli
