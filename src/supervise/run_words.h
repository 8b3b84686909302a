#pragma once

#include <string>

#include "base/units.h"
#include "catalog/market.h"

namespace stint {

/// Words for the sentences that a run tells its user.
std::string rounded(Seconds time);       // "45 s", "2 min", "3 h 20 min".
std::string vm_name(int vm);             // The name of machine 0 is "vm1".
std::string counted(int count);          // "1 machine", "3 machines".
std::string market_name(Market market);  // "a spot machine", "an on-demand machine".

}  // namespace stint
