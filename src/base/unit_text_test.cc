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

TEST(UnitText, TheVanishinglySmallIsNotTooLarge) {
  EXPECT_TRUE(parse_quantity<Bytes>("1e-400 GB").ok());
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
  for (int i = 0; i < 500; ++i) {
    const Q value = Q::of_base(std::exp(random.uniform(-20, 40)));
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

TEST(UnitText, PatternAgreesWithTheReader) {
  const std::regex pattern(quantity_pattern<Seconds>());
  for (const char* text : {"12 h", "1h30m", " 2d 3.5 h ", ".5 s", "5. s", "1e3 ms", "+1 s", "12",
                           "h", "", "1 GB", "1 h 30", "inf h", "1 h!"}) {
    EXPECT_EQ(std::regex_search(text, pattern), parse_quantity<Seconds>(text).ok()) << text;
  }
}

}  // namespace
}  // namespace stint
