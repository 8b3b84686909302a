#pragma once

#include <map>
#include <string>

#include "optimise/search.h"

namespace stint {

/// What any cluster in a place must cost at least, whatever number of kinds of VMs it mixes: a
/// linear program over the VM-hours x_i of its rentals.
///
///   minimise Σ p_i x_i  subject to  Σ r_i x_i ≥ E  (the least work, at the most samples per hour)
///   and, with T the longest time that can keep the deadline,
///   Σ x_i ≤ T · VMs,  Σ vCPUs_i x_i ≤ T · quota,  Σ p_i x_i ≤ T · the highest rate
///
/// It forgets that VMs are whole and that they must talk. A place is a provider and region (see
/// place_of in mixed.h); one where even that is impossible is not in the answer.
std::map<std::string, Dollars> relaxed_costs(const Search& search);

}  // namespace stint
