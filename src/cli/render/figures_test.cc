#include "cli/render/figures.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace stint::cli {
namespace {

TEST(Figures, HaveAboutThreeDigits) {
  EXPECT_EQ(milliseconds(872.4 * kMillisecond), "872 ms");
  EXPECT_EQ(milliseconds(21.44 * kMillisecond), "21.4 ms");
  EXPECT_EQ(hours(11.24 * kHour), "11.2 h");
  EXPECT_EQ(hours(27 * kMinute), "0.45 h");
  EXPECT_EQ(hours(-1 * kHour), "-1.00 h");
  EXPECT_EQ(dollars(152.4 * kDollar), "$152");
  EXPECT_EQ(dollars(31.2 * kDollar), "$31.20");
  EXPECT_EQ(dollars(-3 * kDollar), "-$3.00");
}

TEST(Figures, OfShortJobsAreNotZero) {
  EXPECT_EQ(hours(5 * kMinute), "5 min");
  EXPECT_EQ(hours(-38 * kSecond), "-38 s");
  EXPECT_EQ(hours(Seconds{}), "0.00 h");
  EXPECT_EQ(dollars(0.0042 * kDollar), "$0.0042");
  EXPECT_EQ(dollars(0.042 * kDollar), "$0.04");
  EXPECT_EQ(dollars(Dollars{}), "$0.00");
  EXPECT_EQ(
      with_interval(TimeRange{.mean = 53.24 * kSecond, .p10 = 33 * kSecond, .p90 = 77.1 * kSecond}),
      "53.2 s (33.0–77.1)");
  EXPECT_EQ(
      with_interval(TimeRange{.mean = 23 * kMinute, .p10 = 14.4 * kMinute, .p90 = 36.6 * kMinute}),
      "23.0 min (14.4–36.6)");
  EXPECT_EQ(with_interval(
                CostRange{.mean = 0.042 * kDollar, .p10 = 0.033 * kDollar, .p90 = 0.051 * kDollar}),
            "$0.042 (0.033–0.051)");
  EXPECT_EQ(with_interval(
                CostRange{.mean = 0.42 * kDollar, .p10 = 0.33 * kDollar, .p90 = 0.51 * kDollar}),
            "$0.42 (0.33–0.51)");
}

TEST(Figures, ProbabilitiesNearTheirEndsAreFiner) {
  EXPECT_EQ(percent(0.97), "97 %");
  EXPECT_EQ(percent(0.993), "99.3 %");
  EXPECT_EQ(percent(0.99999), ">99.9 %");
  EXPECT_EQ(percent(1), "100 %");
  EXPECT_EQ(percent(0.004), "0.4 %");
  EXPECT_EQ(percent(0.0001), "<0.1 %");
  EXPECT_EQ(percent(0), "0 %");
  EXPECT_EQ(percent(1.2), "120 %");
}

TEST(Figures, IntervalsHaveTheDigitsOfTheirMean) {
  EXPECT_EQ(
      with_interval(TimeRange{.mean = 11.2 * kHour, .p10 = 9.84 * kHour, .p90 = 12.9 * kHour}),
      "11.2 h (9.8–12.9)");
  EXPECT_EQ(
      with_interval(CostRange{.mean = 101.5 * kDollar, .p10 = 95 * kDollar, .p90 = 112 * kDollar}),
      "$102 (95–112)");
  EXPECT_EQ(with_interval(CostRange{
                .mean = 74.07 * kDollar, .p10 = 65.88 * kDollar, .p90 = 138.65 * kDollar}),
            "$74.1 (65.9–138.7)");
  EXPECT_EQ(
      with_interval(CostRange{.mean = 3.1 * kDollar, .p10 = 2.87 * kDollar, .p90 = 4 * kDollar}),
      "$3.10 (2.87–4.00)");
}

TEST(Figures, AnIntervalDoesNotEndAtItsMean) {
  EXPECT_EQ(with_interval(
                TimeRange{.mean = 0.1412 * kHour, .p10 = 0.1408 * kHour, .p90 = 0.1417 * kHour}),
            "8.47 min (8.45–8.50)");
  EXPECT_EQ(with_interval(
                CostRange{.mean = 101.4 * kDollar, .p10 = 101.3 * kDollar, .p90 = 112 * kDollar}),
            "$101.4 (101.3–112.0)");
  EXPECT_EQ(with_interval(CostRange{.mean = 3 * kDollar, .p10 = 3 * kDollar, .p90 = 3 * kDollar}),
            "$3.00 (3.00–3.00)");
}

TEST(Figures, AForecastOfAShortRunDoesNotEndAtItsMean) {
  EXPECT_EQ(range_text(CostRange{
                .mean = 0.000702 * kDollar, .p10 = 0.000681 * kDollar, .p90 = 0.00073 * kDollar}),
            "$0.00070 ($0.00068–$0.00073)");
  EXPECT_EQ(range_text(CostRange{
                .mean = 0.0022 * kDollar, .p10 = 0.0016 * kDollar, .p90 = 0.0029 * kDollar}),
            "$0.0022 ($0.0016–$0.0029)");
  EXPECT_EQ(
      range_text(TimeRange{.mean = 38.02 * kMinute, .p10 = 38.01 * kMinute, .p90 = 38.7 * kMinute}),
      "38.02 min (38.01 min–38.7 min)");
  EXPECT_EQ(range_text(TimeRange{.mean = 53 * kSecond, .p10 = 33 * kSecond, .p90 = 77 * kSecond}),
            "53 s (33 s–77 s)");
}

TEST(Figures, ALineIsWrappedBesideItsLabel) {
  EXPECT_EQ(sheet_line("cost", "one two three", {.width = 24}),
            "cost            one two\n                three\n");
}

TEST(Figures, DurationsHaveTheUnitThatFits) {
  EXPECT_EQ(duration(2 * kMillisecond), "2.00 ms");
  EXPECT_EQ(duration(8.44 * kSecond), "8.44 s");
  EXPECT_EQ(duration(38.2 * kMinute), "38.2 min");
  EXPECT_EQ(duration(11.2 * kHour), "11.2 h");
}

TEST(Figures, MegabytesHaveFourDigits) {
  EXPECT_EQ(megabytes(25.6 * kMB), "25.6 MB");
  EXPECT_EQ(megabytes(102.44 * kMB), "102.4 MB");
}

TEST(Figures, APercentageThatIsNotThereIsEmpty) {
  EXPECT_EQ(percent(std::optional<double>()), "");
  EXPECT_EQ(percent(std::optional(0.97)), "97 %");
}

TEST(FiguresDeathTest, NothingInfiniteIsShown) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_DEATH((void)milliseconds(infinite * kSecond), "isfinite");
  EXPECT_DEATH((void)duration(infinite * kSecond), "isfinite");
  EXPECT_DEATH((void)dollars(std::nan("") * kDollar), "isfinite");
  EXPECT_DEATH((void)percent(std::nan("")), "isfinite");
}

}  // namespace
}  // namespace stint::cli
