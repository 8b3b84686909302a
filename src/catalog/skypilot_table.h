#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/csv.h"
#include "catalog/table_format.h"

namespace stint {

/// Reads a table of SkyPilot's catalogue: InstanceType, AcceleratorName, AcceleratorCount, vCPUs,
/// MemoryGiB, Price, SpotPrice, Region and, where they are there, GpuInfo and AvailabilityZone, in
/// any order and beside others. A price of 0 is an unknown one.
///
/// - Rows that repeat a machine and zone are one offer: of their prices those of the row that knows
///   more, of equal rows the higher. Parts that contradict each other are bad input.
/// - GCP prices hosts and accelerators in rows of their own. The price of a machine whose name says
///   its accelerators (a2, a3, a4, g2) is the host's and the accelerators' of the same zone and
///   market; without a price of the accelerators the offer is skipped.
/// - Commas, blanks and slashes in the names of regions (Vast's "Bulgaria, BG, EU") become dashes.
///
/// What was merged, skipped or renamed is counted in warnings.
Result<Loaded<Catalog>> read_skypilot_table(const Csv& csv, const std::string& source,
                                            const TableOrigin& origin);

/// The accelerators of a GCP machine type that has them built in, by its name: 8 H100 for
/// "a3-highgpu-8g"; nothing for other machines.
std::optional<Accelerator> gcp_accelerators(std::string_view machine);

}  // namespace stint
