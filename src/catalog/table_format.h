#pragma once

#include <string>
#include <string_view>

#include "catalog/catalog.h"

namespace stint {

/// The provider and the date of the prices, for tables without them.
struct TableOrigin {
  std::string provider;
  std::string name;  // Name of the file, for the catalogue's list of sources.
  Date date;
};

/// Reads a catalogue from a CSV table, whose header determines the format:
/// - SkyPilot's (catalog/skypilot_table.h).
/// - The one that `write_catalog_table` writes. Only provider, region and name are required.
/// Rows of it that contradict each other are bad input.
Result<Loaded<Catalog>> read_catalog_table(std::string_view text, const std::string& source,
                                           const TableOrigin& origin);

/// The offers of `catalog` as CSV, one line each, plain numbers with the unit in the column name.
std::string write_catalog_table(const Catalog& catalog);

/// The provider of a SkyPilot file, by its name or the innermost folder that names one
/// ("…/aws/vms.csv", "gcp.csv"); empty when none does.
std::string provider_of_path(std::string_view path);

}  // namespace stint
