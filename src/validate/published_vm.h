#pragma once

#include "base/units.h"

namespace stint {

/// Of the VM that Pollux's published tables were measured on (g4dn.12xlarge, by its
/// benchmark/main.tf), on demand in the cheapest region of the bundled catalogue.
DollarsPerSecond published_vm_price();

}  // namespace stint
