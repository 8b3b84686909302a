#include "load/pair_tables.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <utility>

#include "base/csv.h"
#include "base/file.h"
#include "calibrate/space_sharing.h"

namespace stint {
namespace {

template <class Row>
Status append(const Result<std::vector<Row>>& rows, std::vector<Row>& all) {
  if (!rows.ok()) return rows.error();
  all.insert(all.end(), rows->begin(), rows->end());
  return {};
}

Status read_table(const std::string& file, PairTables& tables) {
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  const auto csv = Csv::parse(*text, file);
  if (!csv.ok()) return csv.error();
  if (csv->find_column("model_a")) return append(read_packed_pairs(*text, file), tables.pairs);
  if (csv->find_column("batch_per_gpu")) {
    return append(read_isolated_rates(*text, file), tables.alone);
  }
  return bad_input(fmt::format(
      "{}: neither model_a (packed pairs) nor batch_per_gpu (jobs alone) is in its header, so it "
      "is no table of jobs on one GPU",
      file));
}

using RatesByBatch = std::map<int, PerSecond>;

/// By device and job.
using RatesAlone = std::map<std::pair<std::string, std::string>, RatesByBatch>;

/// The rate at `batch`, by the equation in the header. Requires a rate.
PerSecond rate_at(const RatesByBatch& rates, int batch) {
  if (const auto exact = rates.find(batch); exact != rates.end()) return exact->second;
  // The batches on both sides of it, or the two at the end that it is beyond.
  auto upper = rates.upper_bound(batch);
  if (upper == rates.end()) upper = std::prev(upper);
  if (upper == rates.begin() && rates.size() > 1) upper = std::next(upper);
  const auto lower = upper == rates.begin() ? upper : std::prev(upper);
  double exponent = 1;
  if (lower != upper) {
    const double steps = std::log(lower->second / upper->second);
    const double batches = std::log(static_cast<double>(upper->first) / lower->first);
    exponent = std::clamp(steps / batches, 0.0, 1.0);
  }
  const bool above = batch > upper->first;
  const auto& [known, rate] = above ? *upper : *lower;
  return rate * std::pow(static_cast<double>(known) / batch, exponent);
}

}  // namespace

Result<PairTables> read_pair_tables(const std::vector<std::string>& files) {
  PairTables tables;
  for (const std::string& file : files) {
    const Status read = read_table(file, tables);
    if (!read.ok()) return read.error();
  }
  return tables;
}

bool is_unsteady(const PackedPair& pair) {
  return pair.first.job.job == kUnsteadyJob || pair.second.job.job == kUnsteadyJob;
}

void fill_alone(std::vector<PackedPair>& pairs, std::span<const IsolatedRate> alone) {
  RatesAlone rates;
  for (const IsolatedRate& it : alone) {
    if (it.alone) rates[{it.device, it.job.job}].emplace(it.job.batch, *it.alone);
  }
  for (const PackedPair& pair : pairs) {
    for (const PackedSide* side : {&pair.first, &pair.second}) {
      if (!side->alone) continue;
      rates[{sharing_device(pair), side->job.job}].emplace(side->job.batch, *side->alone);
    }
  }
  for (PackedPair& pair : pairs) {
    for (PackedSide* side : {&pair.first, &pair.second}) {
      const auto found = rates.find({sharing_device(pair), side->job.job});
      if (side->alone || found == rates.end()) continue;
      const bool measured = found->second.contains(side->job.batch);
      if (!measured && !pair.in_steps) continue;
      side->alone_worked_out = !measured;
      side->alone = rate_at(found->second, side->job.batch);
    }
  }
}

}  // namespace stint
