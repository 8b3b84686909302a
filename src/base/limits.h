#pragma once

#include <cstdint>

namespace stint {

// The largest numbers that are read, from files and from the command line alike. They are far above
// what anybody rents or trains, and products of them stay within 63 bits. Quantities have their
// physical ranges in base/unit_text.cc.

inline constexpr int kVmsMax = 65'536;          // VMs of one cluster.
inline constexpr int kWorkersPerVmMax = 1'024;  // Accelerators or workers of one VM.
inline constexpr int kBatchMax = 16'777'216;    // Samples of one step, over all workers.
inline constexpr int kCountMax = 16'777'216;    // Anything else that is counted in an int.
inline constexpr std::int64_t kStepsMax = 100'000'000'000;            // Steps of a training.
inline constexpr double kSamplesMax = 1e15;                           // Samples of a training.
inline constexpr std::int64_t kLongCountMax = 9'007'199'254'740'992;  // Any other: 2^53.

/// The size of a number that is not zero. The defaults are those of a number without a unit.
struct NumberLimits {
  double min = 1e-100;
  double max = 1e100;
};

}  // namespace stint
