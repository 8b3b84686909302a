#pragma once

#include <vector>

#include "base/result.h"
#include "calibrate/bucket_fit.h"
#include "catalog/catalog.h"
#include "measure/tables/reductions.h"

namespace stint {

/// The sums of probes with the NICs of their VMs looked up, one row each: the median time, and how
/// far its repetitions scatter. Errors: a VM type that the catalogue does not have (usage), or has
/// no network figure of (bad input).
Result<std::vector<ReductionRow>> reduction_rows(const std::vector<MeasuredReduction>& reductions,
                                                 const Catalog& catalog);

}  // namespace stint
