#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"

namespace stint {

/// How often spot VMs of a type are taken back in a region, by the provider's own count.
struct AdvisedBand {
  std::string region;
  std::string vm;
  Interruption band;
};

/// Reads AWS's spot advisor as a table: region, instance_type and interruption_monthly_pct_range
/// ("<5", "5-10", ">20"); other columns do not matter. What cannot be read is bad input with line
/// and column.
Result<std::vector<AdvisedBand>> read_advised_bands(std::string_view text,
                                                    const std::string& source);

}  // namespace stint
