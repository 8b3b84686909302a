#pragma once

#include "optimise/search.h"

namespace stint {

/// Rentals that no other one replaces: of one machine and market the cheapest region, because time
/// does not depend on where VMs stand. Quotas do not differ by region.
std::vector<int> undominated(const Space& space);

/// Looks at every cluster of equal VMs of the `rentals`, in every batch, number of workers and of
/// micro-steps. Gradients are summed by a ring: under the law a hierarchical sum takes the ring
/// between VMs and time inside them on top, so it is never better. Returns how many were evaluated.
std::int64_t search_homogeneous(Search& search, const Families& families,
                                const std::vector<int>& rentals);

}  // namespace stint
