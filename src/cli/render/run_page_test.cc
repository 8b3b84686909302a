#include "cli/render/run_page.h"

#include <cmath>
#include <gtest/gtest.h>

#include "app/version.h"
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

TEST(RunPage, SaysWhatWasRun) {
  RunReport report = small_report();
  report.record.began = 1'794'953'000 * kSecond;
  report.record.command = {"/usr/bin/python3", "my script.py", "--steps", "20"};
  report.record.deadline = 10 * kMinute;
  const std::string page = run_page(report);
  for (const std::string words :
       {"<dt>Started<dd>2026-11-17 22:03 UTC", "<dd>/usr/bin/python3 (3 arguments not shown)",
        "<dt>Cluster<dd>2x local.small:spot",
        "<dt>Batch<dd>48 samples (24 per local.small, in micro-batches of 8)",
        "<dt>Deadline<dd>10 min"}) {
    EXPECT_TRUE(has(page, words)) << words;
  }
  EXPECT_TRUE(has(page, "<dt>Stint<dd>" + version().number));
  EXPECT_FALSE(has(page, "<dt>Budget"));
  EXPECT_TRUE(has(run_page(report, true), "<dd>/usr/bin/python3 'my script.py' --steps 20"));
}

// A page is handed on; what a person typed may be secret.
TEST(RunPage, ShowsNoArgumentOfTheCommandUnlessAsked) {
  RunReport report = small_report();
  report.record.command = {"env", "WANDB_KEY=s3cret", "python3", "train.py"};
  EXPECT_FALSE(has(run_page(report), "s3cret"));
  EXPECT_TRUE(has(run_page(report, true), "s3cret"));
  report.record.command = {"train"};
  EXPECT_TRUE(has(run_page(report), "<dt>Command<dd>train<dt>"));
}

TEST(RunPage, HasLegendsAboveItsPicturesAndHeadersAboveItsColumns) {
  const std::string page = run_page(small_report());
  for (const char* words :
       {"<h2>Machines</h2><ul class=legend>", "</i>on-demand<li>", "×</i>interrupted",
        "<h2>Steps</h2><ul class=legend>", "<h2>Cost</h2><ul class=legend>",
        "<th>quantity<th>predicted<th>80 % interval", "<th>activity<th>time<th>cost",
        "<th>machine<th class=text>type<th class=text>market<th>billed<th>cost",
        "<th>time<th class=text>event", "td.text,th.text{text-align:left}"}) {
    EXPECT_TRUE(has(page, words)) << words;
  }
}

// Of small_events() 16 s are paid after 9.5 s, and 60 s in the end, at 0.0001 USD/s.
TEST(RunPage, ShowsTheCostOverTimeWithItsForecast) {
  const std::string page = run_page(small_report());
  for (const char* words :
       {"cost over time", ">$0.002<", ">$0.008<", "<title>9.5 s: $0.0016</title>",
        "<title>34.5 s: $0.0060</title>", "its 80 % interval: $0.0040–$0.0065 after 25 s–40 s"}) {
    EXPECT_TRUE(has(page, words)) << words;
  }
  // To (40 s, $0.004), (40 s, $0.0065) and back by (25 s, $0.0065), of 40 s and $0.008.
  EXPECT_TRUE(has(page,
                  "<polygon points=\"84.0,190.0 692.0,100.0 692.0,43.8 692.0,43.8 464.0,43.8 "
                  "84.0,190.0 \""));
  RunReport unforeseen = small_report();
  unforeseen.record.forecast.reset();
  const std::string other = run_page(unforeseen);
  EXPECT_TRUE(has(other, "cost over time"));
  EXPECT_FALSE(has(other, "<polygon"));
}

TEST(RunPage, FoldsCheckpointsThatAreComplete) {
  const std::string page = run_page(small_report());
  const std::size_t fold = page.find("<details><summary>3 checkpoints saved</summary>");
  ASSERT_NE(fold, std::string::npos);
  EXPECT_GT(page.find("checkpoint of step 3 is complete"), fold);
  EXPECT_LT(page.find("vm2 is lost"), fold);
}

TEST(RunPage, MarksRoundTimes) {
  const std::string page = run_page(small_report());
  for (const char* words : {">10 s<", ">20 s<", ">30 s<", ">40 s<"}) {
    EXPECT_TRUE(has(page, words)) << words;
  }
  EXPECT_FALSE(has(page, ">45 s<"));
}

TEST(RunPage, AForecastFarBeyondTheEndLeavesTheRunVisible) {
  RunReport report = small_report();
  report.record.forecast->time.p90 = 10 * kHour;
  EXPECT_TRUE(has(run_page(report), ">60 s<"));  // 69 s, twice the run's time.
  report.alive = true;
  EXPECT_TRUE(has(run_page(report), ">10 h<"));
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
