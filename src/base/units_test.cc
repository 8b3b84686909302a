#include "base/units.h"

#include <gtest/gtest.h>
#include <type_traits>

namespace stint {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};

static_assert(Addable<Seconds, Seconds>);
static_assert(!Addable<Seconds, Bytes>);
static_assert(!std::is_convertible_v<double, Seconds>);
static_assert(!std::is_convertible_v<Seconds, double>);
static_assert(std::is_same_v<decltype(kByte / (kByte / kSecond)), Seconds>);
static_assert(std::is_same_v<decltype(kSecond / kSecond), double>);
static_assert(std::is_same_v<decltype(kDollar / kHour * kSecond), Dollars>);

// 25 Gbit/s is 3.125 GB/s, so 100 MB take 32 ms.
TEST(Units, TransferTimeMatchesHandComputedCase) {
  const BytesPerSecond network = 25 * kGbit / kSecond;
  EXPECT_NEAR((100 * kMB / network).in(kMillisecond), 32.0, 1e-12);
}

// 3.06 USD/h for 30 min is 1.53 USD.
TEST(Units, BillMatchesHandComputedCase) {
  const DollarsPerSecond price = 3.06 * kDollar / kHour;
  EXPECT_NEAR((price * (30 * kMinute)).in(kDollar), 1.53, 1e-12);
}

TEST(Units, BinaryAndDecimalMultiplesDiffer) {
  EXPECT_DOUBLE_EQ((1 * kGiB).in(kByte), 1073741824.0);
  EXPECT_DOUBLE_EQ((1 * kGB).in(kByte), 1e9);
}

TEST(Units, CompareAndAdd) {
  Seconds total = 2 * kMinute;
  total += 30 * kSecond;
  total -= 10 * kSecond;
  EXPECT_DOUBLE_EQ(total.in(kSecond), 140.0);
  EXPECT_LT(total, 1 * kHour);
  EXPECT_DOUBLE_EQ((-total).in(kSecond), -140.0);
  EXPECT_DOUBLE_EQ((1.0 / (2 * kSecond) * kMinute), 30.0);
}

}  // namespace
}  // namespace stint
