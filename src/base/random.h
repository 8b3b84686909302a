#pragma once

#include <cstdint>

namespace stint {

/// A seeded random generator: same seed, same numbers, on every machine and compiler (the standard
/// library's distributions do not guarantee that). The generator is xoshiro256** seeded by
/// splitmix64 (Blackman and Vigna, 2018).
class Random {
 public:
  explicit Random(std::uint64_t seed);

  /// The next 64 random bits.
  std::uint64_t bits();

  /// Uniform in [low, high).
  double uniform(double low = 0, double high = 1);

  /// Uniform in {0, …, bound − 1}, without bias. Requires bound ≥ 1.
  int below(int bound);

  /// Standard normal, by Marsaglia's polar method.
  double normal();

  /// Exponential of mean one.
  double exponential();

  /// Lognormal of this mean and standard deviation; the mean itself when the deviation is zero.
  /// Requires mean > 0 unless the deviation is zero.
  double lognormal(double mean, double deviation);

  /// An independent stream for sub-task `index`; does not advance this one.
  Random fork(std::uint64_t index) const;

 private:
  std::uint64_t state_[4];
};

}  // namespace stint
