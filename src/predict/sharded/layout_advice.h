#pragma once

#include <optional>
#include <string>

#include "catalog/catalog.h"
#include "predict/sharded/layout_choices.h"

namespace stint {

/// VMs that are looked at for advice.
inline constexpr int kAdvisedVmsMax = 64;

/// What would hold a model that does not fit on the cluster of the question, as a sentence without
/// its full stop: the fewest VMs of the same `type` with their fastest layout, else the fewest VMs
/// of another type of its provider, in powers of two. Nothing where neither is in the catalogue.
std::optional<std::string> fitting_advice(const LayoutQuestion& question, const Catalog& catalog,
                                          const VmType& type);

}  // namespace stint
