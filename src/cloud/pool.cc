#include "cloud/pool.h"

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr int kSpotMax = 1000000;  // More than any cluster ever has.

Result<PoolChange> change_at(const Csv& table, std::size_t row) {
  PoolChange change;
  const auto at = parse_double(table.cell(row, "at_s"));
  if (!at || !std::isfinite(*at) || *at < 0) {
    return table.error_at(row, "at_s", "must be a number of seconds from 0 on");
  }
  change.at = *at * kSecond;
  const auto spot = parse_int(table.cell(row, "spot"));
  if (!spot || *spot < 0 || *spot > kSpotMax) {
    return table.error_at(row, "spot", "must be a whole number of VMs from 0 on");
  }
  change.spot = *spot;
  if (const std::string_view cell = table.cell(row, "price_factor"); !cell.empty()) {
    change.price_factor = parse_double(cell);
    if (!change.price_factor || !std::isfinite(*change.price_factor) || *change.price_factor <= 0) {
      return table.error_at(row, "price_factor", "must be a number above zero, such as 1.5");
    }
  }
  const std::string_view unannounced = table.cell(row, "unannounced");
  change.unannounced = unannounced == "true";
  if (!change.unannounced && unannounced != "false" && !unannounced.empty()) {
    return table.error_at(row, "unannounced", "must be true or false");
  }
  return change;
}

}  // namespace

std::optional<int> spot_capacity(std::span<const PoolChange> pool, Seconds now) {
  std::optional<int> capacity;
  for (const PoolChange& change : pool) {
    if (change.at <= now) capacity = change.spot;
  }
  return capacity;
}

double spot_price_factor(std::span<const PoolChange> pool, Seconds now) {
  double factor = 1;
  for (const PoolChange& change : pool) {
    if (change.at <= now) factor = change.price_factor.value_or(factor);
  }
  return factor;
}

Seconds priced_time(std::span<const PoolChange> pool, Seconds from, Seconds to) {
  Seconds sum;
  double factor = 1;
  Seconds begin = from;
  for (const PoolChange& change : pool) {
    const Seconds end = std::clamp(change.at, begin, std::max(begin, to));
    sum += factor * (end - begin);
    begin = end;
    factor = change.price_factor.value_or(factor);
  }
  return sum + factor * std::max(Seconds{}, to - begin);
}

std::vector<PoolChange> pool_from(std::span<const PoolChange> pool, Seconds later) {
  std::vector<PoolChange> rest;
  for (PoolChange change : pool) {
    const bool past = change.at <= later;
    if (past) change.price_factor = spot_price_factor(pool, later);
    if (past && !rest.empty()) rest.clear();  // The last of what is past is how it begins.
    change.at = past ? Seconds{} : change.at - later;
    rest.push_back(change);
  }
  return rest;
}

Result<std::vector<PoolChange>> read_pool(std::string_view text, const std::string& source) {
  const auto table = Csv::parse(text, source);
  if (!table.ok()) return table.error();
  const Status complete = table->require_columns({"at_s", "spot"});
  if (!complete.ok()) return complete.error();
  std::vector<PoolChange> pool;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const auto change = change_at(*table, row);
    if (!change.ok()) return change.error();
    if (!pool.empty() && change->at <= pool.back().at) {
      return table->error_at(row, "at_s", "must be later than in the row before");
    }
    pool.push_back(*change);
  }
  return pool;
}

}  // namespace stint
