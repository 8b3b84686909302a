#pragma once

#include <string>

#include "catalog/catalog.h"

namespace stint {

/// Bad input that names `file` when a price of `fresh` is so far below that of `bundled` that a
/// part of the machine must be missing from it: an on-demand price, or a spot price whose bundled
/// one is listed, under a third of the bundled price of the machine in its region (elsewhere: in
/// its cheapest region), or a spot price under a twentieth of the bundled on-demand price. Every
/// plan follows the lowest price, so one such price makes all plans wrong.
Status check_prices(const Catalog& fresh, const Catalog& bundled, const std::string& file);

}  // namespace stint
