#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "measure/tables/lifetime_table.h"

namespace stint {

/// When starts of one kind of machine failed, from the first failure on.
struct RefusalPattern {
  std::string provider;
  std::string device;          // Empty where the log does not say.
  Seconds first;               // Since 1970.
  std::vector<Seconds> times;  // Since the first, rising.
};

/// The failures of the provider and GPU that have the most of them; rows that do not say a GPU are
/// left aside unless there are no others. Bad input when there are no failures.
Result<RefusalPattern> refusal_pattern(std::span<const CreationFailure> failures,
                                       const std::string& source);

/// The ticks of `gap`, of `ticks` in all, that hold a failure.
std::vector<bool> refused_ticks(const RefusalPattern& pattern, Seconds gap, int ticks);

}  // namespace stint
