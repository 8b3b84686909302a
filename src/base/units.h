#pragma once

#include <compare>

namespace stint {

/// A physical quantity whose dimensions the compiler checks. The exponents are those of time,
/// bytes, floating-point operations and dollars; the value is held in seconds, bytes, operations
/// and dollars. Only `.in(unit)` returns a plain number.
template <int Time, int Data, int Work, int Money>
class Quantity {
 public:
  constexpr Quantity() = default;

  /// The value in `unit`.
  constexpr double in(Quantity unit) const { return value_ / unit.value_; }

  /// A quantity of `value` in the base units. For the unit constants below and for readers of
  /// results whose keys name the base unit; everything else multiplies a unit constant.
  static constexpr Quantity of_base(double value) {
    Quantity quantity;
    quantity.value_ = value;
    return quantity;
  }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity operator-() const { return of_base(-value_); }
  constexpr Quantity operator+(Quantity other) const { return of_base(value_ + other.value_); }
  constexpr Quantity operator-(Quantity other) const { return of_base(value_ - other.value_); }
  constexpr Quantity operator*(double factor) const { return of_base(value_ * factor); }
  constexpr Quantity operator/(double divisor) const { return of_base(value_ / divisor); }
  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }

  friend constexpr Quantity operator*(double factor, Quantity it) { return it * factor; }

 private:
  double value_ = 0;
};

namespace units_detail {

/// A quotient without dimensions is a plain ratio.
template <int T, int D, int W, int M>
constexpr auto make(double value) {
  if constexpr (T == 0 && D == 0 && W == 0 && M == 0) {
    return value;
  } else {
    return Quantity<T, D, W, M>::of_base(value);
  }
}

template <int T, int D, int W, int M>
constexpr double base(Quantity<T, D, W, M> it) {
  return it.in(Quantity<T, D, W, M>::of_base(1));
}

}  // namespace units_detail

template <int T1, int D1, int W1, int M1, int T2, int D2, int W2, int M2>
constexpr auto operator*(Quantity<T1, D1, W1, M1> a, Quantity<T2, D2, W2, M2> b) {
  return units_detail::make<T1 + T2, D1 + D2, W1 + W2, M1 + M2>(units_detail::base(a) *
                                                                units_detail::base(b));
}

template <int T1, int D1, int W1, int M1, int T2, int D2, int W2, int M2>
constexpr auto operator/(Quantity<T1, D1, W1, M1> a, Quantity<T2, D2, W2, M2> b) {
  return units_detail::make<T1 - T2, D1 - D2, W1 - W2, M1 - M2>(units_detail::base(a) /
                                                                units_detail::base(b));
}

template <int T, int D, int W, int M>
constexpr auto operator/(double a, Quantity<T, D, W, M> b) {
  return units_detail::make<-T, -D, -W, -M>(a / units_detail::base(b));
}

using Seconds = Quantity<1, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0>;
using Flops = Quantity<0, 0, 1, 0>;  // A count of operations, not a rate.
using Dollars = Quantity<0, 0, 0, 1>;
using BytesPerSecond = Quantity<-1, 1, 0, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1, 0>;
using DollarsPerSecond = Quantity<-1, 0, 0, 1>;
using DollarsPerByte = Quantity<0, -1, 0, 1>;
using SecondsPerByte = Quantity<1, -1, 0, 0>;

inline constexpr Seconds kSecond = Seconds::of_base(1);
inline constexpr Seconds kMillisecond = Seconds::of_base(1e-3);
inline constexpr Seconds kMicrosecond = Seconds::of_base(1e-6);
inline constexpr Seconds kMinute = Seconds::of_base(60);
inline constexpr Seconds kHour = Seconds::of_base(3600);
inline constexpr Seconds kDay = Seconds::of_base(86400);

inline constexpr Bytes kByte = Bytes::of_base(1);
inline constexpr Bytes kKB = Bytes::of_base(1e3);
inline constexpr Bytes kMB = Bytes::of_base(1e6);
inline constexpr Bytes kGB = Bytes::of_base(1e9);
inline constexpr Bytes kTB = Bytes::of_base(1e12);
inline constexpr Bytes kKiB = Bytes::of_base(1024.0);
inline constexpr Bytes kMiB = Bytes::of_base(1024.0 * 1024);
inline constexpr Bytes kGiB = Bytes::of_base(1024.0 * 1024 * 1024);
inline constexpr Bytes kTiB = Bytes::of_base(1024.0 * 1024 * 1024 * 1024);
inline constexpr Bytes kBit = Bytes::of_base(0.125);
inline constexpr Bytes kKbit = Bytes::of_base(125);
inline constexpr Bytes kMbit = Bytes::of_base(125e3);
inline constexpr Bytes kGbit = Bytes::of_base(125e6);
inline constexpr Bytes kTbit = Bytes::of_base(125e9);

inline constexpr Flops kFlop = Flops::of_base(1);
inline constexpr Flops kMegaflop = Flops::of_base(1e6);
inline constexpr Flops kGigaflop = Flops::of_base(1e9);
inline constexpr Flops kTeraflop = Flops::of_base(1e12);
inline constexpr Flops kPetaflop = Flops::of_base(1e15);

inline constexpr Dollars kDollar = Dollars::of_base(1);
inline constexpr Dollars kCent = Dollars::of_base(0.01);

}  // namespace stint
