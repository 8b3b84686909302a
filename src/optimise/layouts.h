#pragma once

#include "optimise/search.h"

namespace stint {

/// Looks at every cluster of equal VMs of the `rentals` that hold parts of the model only, each
/// with its fastest layout. Without a layout that fits there is no configuration. W workers take at
/// least the work of layout_work divided by W, which keeps most clusters from being evaluated.
/// Returns how many were.
std::int64_t search_layouts(Search& search, const Families& families,
                            const std::vector<int>& rentals);

}  // namespace stint
