#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stint {

/// A dated spot price.
struct PriceRow {
  std::string type;  // VM type.
  std::string zone;  // Zone, or region where prices are those of a region.
  Seconds time;      // Since 1970, as of Clock.
  DollarsPerSecond price;

  bool operator==(const PriceRow&) const = default;
};

/// Machines of one type in one zone, whose price moves as one.
std::string pool_of(const PriceRow& row);

/// "us-east-1" of "us-east-1a"; a zone without such a letter is its own region.
std::string region_of(const PriceRow& row);

/// Reads dated spot prices, distinguished by the header: zone and time_utc with a row for each
/// change (AWS), or region and date_mdy with a row for each day (Azure). Both have instance_type
/// and spot_usd_per_h.
Result<std::vector<PriceRow>> read_price_rows(std::string_view text, const std::string& source);

}  // namespace stint
