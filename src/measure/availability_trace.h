#pragma once

#include <string>
#include <vector>

#include "base/units.h"

namespace stint {

/// How many machines of a pool could be had, tick by tick.
struct AvailabilityTrace {
  std::string name;         // The file it was read from.
  Seconds gap;              // Between ticks.
  std::vector<int> counts;  // Machines available during each tick.
};

}  // namespace stint
