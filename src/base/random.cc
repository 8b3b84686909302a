#include "base/random.h"

#include <bit>
#include <cmath>

#include "base/check.h"

namespace stint {
namespace {

std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

}  // namespace

Random::Random(std::uint64_t seed) : state_{} {
  for (std::uint64_t& word : state_) word = splitmix64(seed);
}

std::uint64_t Random::bits() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform(double low, double high) {
  constexpr double kScale = 1.0 / 9007199254740992.0;  // 2^-53: one step of a double in [0, 1).
  return low + (high - low) * (static_cast<double>(bits() >> 11U) * kScale);
}

int Random::below(int bound) {
  CHECK(bound >= 1);
  const auto range = static_cast<std::uint64_t>(bound);
  const std::uint64_t biased = (0 - range) % range;  // This many low values would favour some.
  std::uint64_t drawn = bits();
  while (drawn < biased) drawn = bits();
  return static_cast<int>(drawn % range);
}

double Random::normal() {
  double u = 0;
  double square = 0;
  do {
    u = uniform(-1, 1);
    const double v = uniform(-1, 1);
    square = u * u + v * v;
  } while (square >= 1 || square == 0);
  return u * std::sqrt(-2 * std::log(square) / square);
}

double Random::exponential() { return -std::log1p(-uniform()); }

double Random::lognormal(double mean, double deviation) {
  if (deviation == 0) return mean;
  CHECK(mean > 0);
  const double ratio = deviation / mean;
  const double variance = std::log1p(ratio * ratio);  // Variance of the logarithm.
  return mean * std::exp(normal() * std::sqrt(variance) - variance / 2);
}

Random Random::fork(std::uint64_t index) const {
  std::uint64_t seed = state_[0] ^ std::rotl(state_[2], 32);
  seed += index * 0xD1342543DE82EF95ULL;
  return Random(splitmix64(seed));
}

}  // namespace stint
