#pragma once

#include <string>
#include <string_view>

#include "catalog/catalog.h"

namespace stint {

/// Who rented the machines out and when the prices were taken, for tables that do not say.
struct TableOrigin {
  std::string provider;
  std::string name;  // Of the file, for the catalogue's list of sources.
  Date date;
};

/// Reads a catalogue from a CSV table: SkyPilot's (columns InstanceType, AcceleratorName,
/// AcceleratorCount, vCPUs, MemoryGiB, GpuInfo, Price, SpotPrice, Region, AvailabilityZone; extra
/// columns are allowed, GpuInfo and AvailabilityZone may be missing) or the one that
/// `write_catalog_table` writes; told apart by the header.
Result<Catalog> read_catalog_table(std::string_view text, const std::string& source,
                                   const TableOrigin& origin);

/// The offers of `catalog` as CSV, one line each, plain numbers with the unit in the column name.
std::string write_catalog_table(const Catalog& catalog);

/// The provider that a SkyPilot file is of, by its folder or name ("…/aws/vms.csv", "gcp.csv");
/// empty when neither tells.
std::string provider_of_path(std::string_view path);

}  // namespace stint
