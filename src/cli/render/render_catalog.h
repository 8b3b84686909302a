#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"
#include "catalog/catalog.h"
#include "catalog/market.h"
#include "catalog/merge.h"

namespace stint::cli {

/// How the table of machines is laid out.
struct CatalogView {
  bool all_regions = false;     // A row per offer instead of one per type.
  std::vector<Market> markets;  // Which prices count for "per GPU"; empty: all.
};

/// One row per VM type at its cheapest region (or per offer).
std::string catalog_table(const Catalog& catalog, const CatalogView& view,
                          const Terminal& terminal);

/// Everything known about the one VM type of `catalog`: parts, GPU figures, prices, sources.
std::string vm_sheet(const Catalog& catalog, const Terminal& terminal);

std::string difference_table(const std::vector<Difference>& differences, const Terminal& terminal);

/// True when a shown price was computed instead of listed, so that a legend is due.
bool shows_derived_price(const Catalog& catalog);

/// True when an accelerator without figures is marked.
bool shows_unplannable(const Catalog& catalog);

}  // namespace stint::cli
