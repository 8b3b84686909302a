#include "base/unit_text.h"

#include <cmath>
#include <gtest/gtest.h>
#include <regex>

#include "base/random.h"

namespace stint {
namespace {

TEST(UnitText, ReadsTheFormsPeopleWrite) {
  EXPECT_DOUBLE_EQ(parse_quantity<BytesPerSecond>("25 Gbit/s")->in(kGbit / kSecond), 25);
  EXPECT_DOUBLE_EQ(parse_quantity<DollarsPerSecond>("3.06 USD/h")->in(kDollar / kHour), 3.06);
  EXPECT_DOUBLE_EQ(parse_quantity<Seconds>("12 h")->in(kHour), 12);
  EXPECT_DOUBLE_EQ(parse_quantity<Seconds>("1h30m")->in(kMinute), 90);
  EXPECT_DOUBLE_EQ(parse_quantity<Seconds>(" 2d 3.5 h ")->in(kHour), 51.5);
  EXPECT_DOUBLE_EQ(parse_quantity<Dollars>("150 usd")->in(kDollar), 150);
  EXPECT_DOUBLE_EQ(parse_quantity<Dollars>("150usd")->in(kDollar), 150);
  EXPECT_DOUBLE_EQ(parse_quantity<Bytes>("1e3 MB")->in(kGB), 1);
  EXPECT_DOUBLE_EQ(parse_quantity<Bytes>("-1 GiB")->in(kGiB), -1);
}

TEST(UnitText, WhatNoDoubleHoldsIsZeroOrOutOfRange) {
  EXPECT_EQ(*parse_quantity<Bytes>("1e-400 GB"), Bytes());
  EXPECT_FALSE(parse_quantity<Bytes>("1e400 GB").ok());
}

TEST(UnitText, NamesTheUnitToAdd) {
  const auto result = parse_quantity<BytesPerSecond>("25");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("'25' has no unit: add one of Tbit/s, Gbit/s"),
            std::string::npos);
}

TEST(UnitText, RefusesAUnitOfAnotherKind) {
  const auto result = parse_quantity<BytesPerSecond>("25 GB");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("'GB' is not one of its units"), std::string::npos);
}

TEST(UnitText, RefusesNonsense) {
  for (const char* text : {"", " ", "h", "twelve h", "inf h", "nan h", "1 h 30", "1 h!", "1e999 h",
                           "--1 h", "1..2 h", "1 h -30 m", "0x10 h"}) {
    EXPECT_FALSE(parse_quantity<Seconds>(text).ok()) << text;
  }
  EXPECT_FALSE(parse_quantity<Bytes>("1 GB 2 MB").ok());
}

TEST(UnitText, ReadsExactlyWhatTheCodeWouldSay) {
  for (const double price : {0.75, 3.00424, 48.0, 32.77, 9.831}) {
    const std::string text = std::to_string(price) + " USD/h";
    EXPECT_EQ(*parse_quantity<DollarsPerSecond>(text), price * kDollar / kHour) << text;
  }
}

TEST(UnitText, WritesTheShortestForm) {
  EXPECT_EQ(to_text(12 * kHour), "12 h");
  EXPECT_EQ(to_text(3.06 * kDollar / kHour), "3.06 USD/h");
  EXPECT_EQ(to_text(400 * kGbit / kSecond, "Gbit/s"), "400 Gbit/s");
  EXPECT_EQ(to_text(320 * kGB / kSecond, "GB/s"), "320 GB/s");
  EXPECT_EQ(to_text(16 * kGiB), "16 GiB");
  EXPECT_EQ(to_text(Bytes{}), "0 B");
  EXPECT_EQ(to_text(Seconds{}), "0 s");
  EXPECT_EQ(to_text(900 * kGB), "900 GB");
  EXPECT_EQ(to_text(8.1 * kTeraflop / kSecond), "8.1 TFLOP/s");
}

template <class Q>
void expect_round_trip(Random& random) {
  const NumberLimits range = quantity_range<Q>();
  for (int i = 0; i < 500; ++i) {
    const Q value = Q::of_base(std::exp(random.uniform(std::log(range.min), std::log(range.max))));
    const std::string text = to_text(value);
    const auto back = parse_quantity<Q>(text);
    ASSERT_TRUE(back.ok()) << text;
    ASSERT_EQ(*back, value) << text;
  }
}

TEST(UnitText, RoundTripsExactly) {
  constexpr int kSeed = 20260101;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  expect_round_trip<Seconds>(random);
  expect_round_trip<Bytes>(random);
  expect_round_trip<BytesPerSecond>(random);
  expect_round_trip<DollarsPerSecond>(random);
  expect_round_trip<FlopsPerSecond>(random);
}

template <class Q>
std::string error_of(const char* text) {
  const auto result = parse_quantity<Q>(text);
  return result.ok() ? "" : result.error().message;
}

TEST(UnitText, RefusesWhatIsOutsideThePhysicalRangeAndNamesIt) {
  EXPECT_EQ(error_of<Seconds>("1e300 h"),
            "'1e300 h' is out of range: a duration is zero or from 1e-12 s to 3650000 d");
  EXPECT_EQ(error_of<Seconds>("1e-300s"),
            "'1e-300s' is out of range: a duration is zero or from 1e-12 s to 3650000 d");
  EXPECT_EQ(error_of<Seconds>("-1e300 s"),
            "'-1e300 s' is out of range: a duration is zero or from 1e-12 s to 3650000 d");
  EXPECT_EQ(error_of<Bytes>("1e300 B"),
            "'1e300 B' is out of range: a size is zero or from 0.001 B to 1000000 TB");
  EXPECT_EQ(error_of<Dollars>("1e13 usd"),
            "'1e13 usd' is out of range: an amount of money is zero or from 1e-09 USD to "
            "1000000000000 USD");
  EXPECT_EQ(error_of<DollarsPerSecond>("1e10 USD/h"),
            "'1e10 USD/h' is out of range: a price is zero or from 1e-09 USD/h to 1000000000 "
            "USD/h");
  for (const char* text : {"0 s", "-0 s", "0.001 ns", "3650000 d", "-3650000 d"}) {
    EXPECT_EQ(error_of<Seconds>(text), "") << text;
  }
}

/// The ends of the range read back, since errors quote them.
template <class Q>
void expect_ends_in_range() {
  const NumberLimits range = quantity_range<Q>();
  for (const double end : {range.min, range.max}) {
    EXPECT_TRUE(parse_quantity<Q>(to_text(Q::of_base(end))).ok()) << to_text(Q::of_base(end));
  }
}

TEST(UnitText, TheEndsOfEveryRangeAreInIt) {
  expect_ends_in_range<Seconds>();
  expect_ends_in_range<Bytes>();
  expect_ends_in_range<Flops>();
  expect_ends_in_range<Dollars>();
  expect_ends_in_range<BytesPerSecond>();
  expect_ends_in_range<FlopsPerSecond>();
  expect_ends_in_range<DollarsPerSecond>();
  expect_ends_in_range<DollarsPerByte>();
}

TEST(UnitText, PatternAgreesWithTheReader) {
  const std::regex pattern(quantity_pattern<Seconds>());
  for (const char* text : {"12 h", "1h30m", " 2d 3.5 h ", ".5 s", "5. s", "1e3 ms", "+1 s", "12",
                           "h", "", "1 GB", "1 h 30", "inf h", "1 h!"}) {
    EXPECT_EQ(std::regex_search(text, pattern), parse_quantity<Seconds>(text).ok()) << text;
  }
}

}  // namespace
}  // namespace stint
