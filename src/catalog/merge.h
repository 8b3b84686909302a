#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"

namespace stint {

/// `base` with `over` laid over it: an offer of `over` replaces the one of the same provider, type,
/// region and zone, and a figure of a type or gpu replaces the older one; what `over` does not say
/// stays. Sources of `over` that share an id with a different one of `base` are renamed.
Catalog merge(Catalog base, Catalog over);

/// One way in which two catalogues differ.
struct Difference {
  enum class Kind { kAdded, kRemoved, kChanged };
  Kind kind = Kind::kChanged;
  std::string what;    // "aws/us-east-1/g4dn.xlarge on-demand".
  std::string before;  // Empty when it was not there.
  std::string after;   // Empty when it is there no more.
};

/// What changed from `before` to `after`: types, offers, prices, interruption bands and figures; in
/// the order of `before`, then what was added.
std::vector<Difference> diff(const Catalog& before, const Catalog& after);

}  // namespace stint
