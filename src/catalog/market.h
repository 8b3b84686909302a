#pragma once

#include <span>

#include "base/codec.h"

namespace stint {

/// How a VM is paid: kept as long as one likes, or cheaper and taken back at any time.
enum class Market { kOnDemand, kSpot };

inline std::span<const EnumName<Market>> names_of(Market /*type*/) {
  static constexpr EnumName<Market> kNames[] = {{Market::kOnDemand, "on-demand"},
                                                {Market::kSpot, "spot"}};
  return kNames;
}

}  // namespace stint
