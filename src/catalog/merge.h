#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"

namespace stint {

/// `base` with `over` laid over it: each price and figure of `over` replaces the older one of the
/// same machine or gpu, region and zone; what `over` does not say stays. Prices of single zones
/// replace the one price of their region. Case of names is ignored. Sources of `over` that share an
/// id with a different one of `base` are renamed.
Catalog merge(Catalog base, Catalog over);

/// One way in which two catalogues differ.
struct Difference {
  enum class Kind { kAdded, kRemoved, kChanged };
  Kind kind = Kind::kChanged;
  std::string what;    // "aws/us-east-1/g4dn.xlarge on-demand".
  std::string before;  // Empty when it was not there.
  std::string after;   // Empty when it is there no more.
};

std::span<const EnumName<Difference::Kind>> names_of(Difference::Kind type);

/// What changed from `before` to `after`: types, offers, prices, interruption bands and all figures
/// of machines and gpus, but not their sources; in the order of `before`, then what was added.
std::vector<Difference> diff(const Catalog& before, const Catalog& after);

}  // namespace stint
