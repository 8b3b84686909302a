#pragma once

#include "base/units.h"

namespace stint {

// As seen on the emulated cloud on two cores that have nothing else to do: a VM is made, one or two
// workers start and join, each one more beside them, and those that were there form a new group.
inline constexpr Seconds kLocalLaunch = 0.1 * kSecond;
inline constexpr Seconds kLocalJoin = 1.8 * kSecond;
inline constexpr Seconds kLocalJoinMore = 0.6 * kSecond;
inline constexpr Seconds kLocalRegroup = 0.5 * kSecond;
inline constexpr Seconds kLocalFarewell = 0.6 * kSecond;  // Scripts end, VMs are given back.
inline constexpr BytesPerSecond kLocalDisk = 300 * kMB / kSecond;  // A guess.

}  // namespace stint
