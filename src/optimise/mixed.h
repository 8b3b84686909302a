#pragma once

#include "optimise/search.h"

namespace stint {

/// Looks at clusters of two kinds of VMs in one region of one provider: of two types, or of one
/// type on both markets, then with the same workers on each. By branch and bound: a pair of
/// rentals, then numbers of VMs, then workers, batch and micro-steps, each branch cut off where its
/// bound (see bounds.h) shows that nothing in it is of use. `places_skipped` are left out: another
/// bound already showed that nothing there is of use.
///
/// Without quotas, only the cheapest market of each machine is looked at, and of regions that have
/// both machines those where not both are dearer than elsewhere: the same VMs cost less there.
/// Returns how many configurations were evaluated.
std::int64_t search_mixed(Search& search, const Families& families,
                          const std::vector<std::string>& places_skipped);

/// The provider and region of a rental, which all VMs of a cluster share.
std::string place_of(const Space& space, int rental);

}  // namespace stint
