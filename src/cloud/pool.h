#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stint {

/// What the spot market of the emulated cloud is like from a moment on.
struct PoolChange {
  Seconds at;                               // Since the cluster's birth.
  int spot = 0;                             // How many spot VMs there are.
  std::optional<double> price_factor = {};  // Of the specs' spot prices; absent: as before.
  bool unannounced = false;                 // VMs that are too many go without a notice.
};

/// In these, `pool` is sorted by time, and times are since the cluster's birth.

/// How many spot VMs there are; absent before the first change: no limit.
std::optional<int> spot_capacity(std::span<const PoolChange> pool, Seconds now);

/// What spot prices are multiplied by.
double spot_price_factor(std::span<const PoolChange> pool, Seconds now);

/// The time from `from` to `to` with each piece weighted by its factor, so that a spec's price
/// times this is what a spot VM costs:
///
///   integral of factor(t) dt = sum over the pieces between changes of length x factor
Seconds priced_time(std::span<const PoolChange> pool, Seconds from, Seconds to);

/// The same pool for a cluster that is born so much later.
std::vector<PoolChange> pool_from(std::span<const PoolChange> pool, Seconds later);

/// Reads a table at_s,spot[,price_factor][,unannounced]. Bad input: a row that is not later than
/// the one before, a count that is no whole number from 0 on, a factor that is not above zero.
Result<std::vector<PoolChange>> read_pool(std::string_view text, const std::string& source);

}  // namespace stint
