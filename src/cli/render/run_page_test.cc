#include "cli/render/run_page.h"

#include <cmath>
#include <gtest/gtest.h>

#include "cli/render/run_report_fixture.h"

namespace stint::cli {
namespace {

bool has(const std::string& page, const std::string& words) {
  return page.find(words) != std::string::npos;
}

TEST(RunPage, HasAllOfTheReport) {
  const std::string page = run_page(small_report());
  for (const char* words :
       {"<title>small — stint</title>", "trained: 20 of 20 steps of cnn", "machines over time",
        "steps over time", "loss over time", "+15.0 %", "vm5", "$0.0060", "vm2 is lost"}) {
    EXPECT_TRUE(has(page, words)) << words;
  }
  EXPECT_EQ(page.find("nan"), std::string::npos);
}

TEST(RunPage, NeedsNothingFromElsewhere) {
  const std::string page = run_page(small_report());
  for (const char* words : {"http", "src=", "href", "@import", "url(", "<script"}) {
    EXPECT_FALSE(has(page, words)) << words;
  }
}

TEST(RunPage, WhatOthersWroteIsNoMarkup) {
  RunReport report = small_report();
  const std::string evil = "<script>alert(\"1\")</script>&";
  report.record.name = evil;
  report.record.job = evil;
  report.story.vms[0].name = evil;
  report.story.vms[0].type = evil;
  report.story.lines.push_back({.at = 1 * kSecond, .text = evil});
  const std::string page = run_page(report);
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_TRUE(has(page, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;"));
}

TEST(RunPage, SaysWhetherSomebodyRunsIt) {
  RunReport report = small_report();
  report.story.outcome.reset();
  EXPECT_TRUE(has(run_page(report), "halted: 20 of 20"));
  report.alive = true;
  EXPECT_TRUE(has(run_page(report), "running: 20 of 20"));
}

TEST(RunPage, IsThereBeforeAnythingHappened) {
  RunReport report;
  report.record = small_record();
  const std::string page = run_page(report);
  EXPECT_TRUE(has(page, "</html>"));
  EXPECT_FALSE(has(page, "loss over time"));
  EXPECT_FALSE(has(page, "steps over time"));
}

TEST(RunPage, ALossThatIsNoNumberIsLeftOut) {
  RunReport report = small_report();
  report.steps[3].loss = NAN;
  report.steps[4].loss = INFINITY;
  const std::string page = run_page(report);
  EXPECT_TRUE(has(page, "loss over time"));
  EXPECT_FALSE(has(page, "nan"));
  EXPECT_FALSE(has(page, ",inf"));
}

TEST(RunPage, StaysSmallHoweverManyStepsThereAre) {
  RunReport report = small_report();
  for (int i = 21; i <= 50000; ++i) {
    report.steps.push_back({.step = i, .at = i * kSecond, .loss = 1.0 / i});
  }
  EXPECT_LT(run_page(report).size(), 100'000U);
}

}  // namespace
}  // namespace stint::cli
