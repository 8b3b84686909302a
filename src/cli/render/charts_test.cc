#include "cli/render/charts.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

std::string labels(const std::vector<Tick>& ticks) {
  std::string text;
  for (const Tick& tick : ticks) text += tick.label + " ";
  return text;
}

std::size_t count(const std::string& text, const std::string& words) {
  std::size_t found = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Charts, ValuesAreMarkedAtRoundNumbersThatCoverThem) {
  EXPECT_EQ(labels(value_ticks(0, 20)), "0 5 10 15 20 ");
  EXPECT_EQ(labels(value_ticks(0, 600)), "0 200 400 600 ");
  EXPECT_EQ(labels(value_ticks(0.1, 1.97)), "0.0 0.5 1.0 1.5 2.0 ");
  EXPECT_EQ(labels(value_ticks(0, 0.0066, "$")), "$0.000 $0.002 $0.004 $0.006 $0.008 ");
  EXPECT_EQ(labels(value_ticks(-3, 4)), "-4 -2 0 2 4 ");
  EXPECT_EQ(labels(value_ticks(2, 2)), "2.0 2.5 ");  // A single value: span 2, steps of 0.5.
  EXPECT_EQ(labels(value_ticks(0, 0)), "0.0 0.2 ");
  EXPECT_EQ(labels(value_ticks(0, 4e30)), "0 1e+30 2e+30 3e+30 4e+30 ");
  EXPECT_EQ(labels(value_ticks(0, 4e-9)), "0 1e-09 2e-09 3e-09 4e-09 ");
}

TEST(Charts, TimesAreMarkedAsClocksHaveThem) {
  EXPECT_EQ(labels(time_ticks(1 * kSecond)), "0 0.2 s 0.4 s 0.6 s 0.8 s 1 s ");
  EXPECT_EQ(labels(time_ticks(34.5 * kSecond)), "0 10 s 20 s 30 s ");
  EXPECT_EQ(labels(time_ticks(200 * kSecond)), "0 1 min 2 min 3 min ");
  EXPECT_EQ(labels(time_ticks(2 * kHour)), "0 30 min 60 min 90 min 120 min ");
  EXPECT_EQ(labels(time_ticks(11 * kHour)), "0 3 h 6 h 9 h ");
  EXPECT_EQ(labels(time_ticks(12 * kDay)), "0 5 d 10 d ");
}

TEST(Charts, CurvesAreThinnedAndKeepTheirEnds) {
  Chart chart(TimeAxis(1000 * kSecond), value_ticks(0, 1000));
  std::vector<ChartPoint> points;
  for (int i = 0; i <= 1000; ++i) points.push_back({.at = i * kSecond, .value = 1.0 * i});
  chart.add_curve(points, "good");
  const std::string svg = chart.svg("x");
  EXPECT_LT(svg.size(), 10'000U);
  // 84 + 608 units wide, from 190 up to 10.
  EXPECT_EQ(count(svg, "\"84.0,190.0 "), 1U);
  EXPECT_EQ(count(svg, " 692.0,10.0 \""), 1U);
}

TEST(Charts, WhatLiesBeyondTheAxesIsCutOffAndKeepsItsSlope) {
  Chart chart(TimeAxis(100 * kSecond), value_ticks(0, 10));
  chart.add_curve({{.at = Seconds{}, .value = 0}, {.at = 200 * kSecond, .value = 10}}, "dim");
  const std::string svg = chart.svg("x");
  // Twice as far as the axis, within a picture of its own, which cuts it.
  EXPECT_EQ(count(svg, "1300.0,10.0"), 1U);
  EXPECT_EQ(count(svg, "<svg"), 2U);
}

TEST(Charts, APointerIsToldWhatIsUnderIt) {
  Chart chart(TimeAxis(10 * kSecond), value_ticks(0, 10));
  chart.add_labels({{.at = 2 * kSecond, .value = 2, .label = "2 s: a < b"},
                    {.at = 6 * kSecond, .value = 6, .label = "6 s"}});
  const std::string svg = chart.svg("x \"y\"");
  EXPECT_EQ(count(svg, "class=hit"), 2U);
  EXPECT_EQ(count(svg, "<title>2 s: a &lt; b</title>"), 1U);
  EXPECT_EQ(count(svg, "aria-label=\"x &quot;y&quot;\""), 1U);
}

TEST(Charts, ALegendHasAKeyForEachMeaning) {
  EXPECT_EQ(legend({{"background:red", "a & b"}, {"color:red", "lost", "×"}}),
            "<ul class=legend><li><i style=\"background:red\"></i>a &amp; b"
            "<li><i style=\"color:red\">×</i>lost</ul>");
}

}  // namespace
}  // namespace stint::cli
