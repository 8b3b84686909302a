#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"

namespace stint {

/// `base` updated by `over`: each price and figure of `over` replaces the older one of the same
/// machine or gpu, region and zone; everything else stays. Prices of single zones replace the price
/// of their region. The case of names is ignored. Sources of `over` that share an id with a
/// different one of `base` are renamed.
Catalog merge(Catalog base, Catalog over);

/// One difference between two catalogues.
struct Difference {
  enum class Kind { kAdded, kRemoved, kChanged };
  Kind kind = Kind::kChanged;
  std::string what;    // "aws/us-east-1/g4dn.xlarge on-demand".
  std::string before;  // Empty when it was added.
  std::string after;   // Empty when it was removed.
};

std::span<const EnumName<Difference::Kind>> names_of(Difference::Kind type);

/// The changes from `before` to `after`: types, offers, prices, interruption bands and all figures
/// of machines and gpus, but not their sources; in the order of `before`, then the additions.
std::vector<Difference> diff(const Catalog& before, const Catalog& after);

}  // namespace stint
