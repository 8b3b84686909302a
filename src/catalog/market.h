#pragma once

#include <span>

#include "base/codec.h"

namespace stint {

/// The market of a VM: on demand without interruptions, or spot, which is cheaper and may be
/// interrupted at any time.
enum class Market { kOnDemand, kSpot };

inline std::span<const EnumName<Market>> names_of(Market /*type*/) {
  static constexpr EnumName<Market> kNames[] = {{Market::kOnDemand, "on-demand"},
                                                {Market::kSpot, "spot"}};
  return kNames;
}

}  // namespace stint
