#include "app/calibrate/calibrate_memory.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "calibrate/score.h"
#include "calibrate/sharded_memory_fit.h"
#include "load/catalog_cases.h"
#include "load/memory_cases.h"

namespace stint {
namespace {

using PeakRows = std::vector<LoadedMemoryCase>;

Result<PeakRows> read_peaks(const std::vector<std::string>& files, const Catalog& catalog) {
  PeakRows all;
  for (const std::string& file : files) {
    auto rows = load_named_memory_cases(file, "--train", catalog);
    if (!rows.ok()) return rows.error();
    for (LoadedMemoryCase& row : *rows) {
      if (row.row.problem.empty() && row.as_case.peak) all.push_back(std::move(row));
    }
  }
  if (all.empty()) return bad_input("no row to learn from: the tables state no peak memory");
  return all;
}

std::string table_of(const LoadedMemoryCase& row) {
  for (const auto& [format, name] : names_of(MemoryFormat{})) {
    if (format == row.row.format) return name;
  }
  CHECK(false);
}

AccuracyRecord memory_record(const std::string& name, const std::string& split,
                             std::span<const Scored> rows) {
  const Score errors = score(rows);
  return {.name = name,
          .split = split,
          .n = errors.n,
          .mape = errors.mape,
          .median_ape = errors.median_ape,
          .p90_ape = errors.p90_ape,
          .coverage80 = errors.coverage80};
}

/// The errors of rows whose key is `left_out`, predicted from the others.
template <class Key>
Result<std::vector<Scored>> peak_errors(const PeakRows& rows, const std::string& left_out,
                                        Key key) {
  std::vector<ShardedMemoryCase> train;
  for (const LoadedMemoryCase& row : rows) {
    if (key(row) != left_out) train.push_back(row.as_case);
  }
  const auto model = ShardedMemoryModel::fit(train);
  if (!model.ok()) return model.error();
  std::vector<Scored> scored;
  for (const LoadedMemoryCase& row : rows) {
    if (key(row) != left_out) continue;
    const ShardedPeak peak = model->estimate(row.as_case);
    // Scores are relative, so that each row is scored in units of its measurement.
    scored.push_back({.job = left_out,
                      .predicted = peak.mean / *row.as_case.peak * kSecond,
                      .measured = 1 * kSecond,
                      .p10 = peak.p10 / *row.as_case.peak * kSecond,
                      .p90 = peak.p90 / *row.as_case.peak * kSecond});
  }
  return scored;
}

Result<std::vector<AccuracyRecord>> peak_accuracy(const PeakRows& rows) {
  std::set<std::string> tables;
  for (const LoadedMemoryCase& row : rows) tables.insert(table_of(row));
  const bool several = tables.size() > 1;
  const auto key = [&](const LoadedMemoryCase& row) { return several ? table_of(row) : row.model; };
  const std::string split = several ? "leave-one-table-out" : "leave-one-job-out";
  std::set<std::string> keys;
  for (const LoadedMemoryCase& row : rows) keys.insert(key(row));
  std::vector<AccuracyRecord> records;
  if (keys.size() < 2) return records;
  std::vector<Scored> all;
  for (const std::string& name : keys) {
    const auto scored = peak_errors(rows, name, key);
    if (!scored.ok()) return scored.error();
    records.push_back(memory_record(name, split, *scored));
    all.insert(all.end(), scored->begin(), scored->end());
  }
  records.push_back(memory_record("all rows", split, all));
  return records;
}

std::vector<FittedData> tables_of(const PeakRows& rows, const std::string& provenance) {
  std::map<std::string, FittedData> tables;
  for (const LoadedMemoryCase& row : rows) {
    FittedData& it = tables[table_of(row)];
    it.name = table_of(row);
    it.provenance = provenance;
    ++it.rows;
    if (std::find(it.jobs.begin(), it.jobs.end(), row.model) == it.jobs.end()) {
      it.jobs.push_back(row.model);
    }
  }
  std::vector<FittedData> data;
  for (auto& [name, it] : tables) data.push_back(std::move(it));
  return data;
}

}  // namespace

Result<Calibration> calibrate_memory(const Environment& environment,
                                     const CalibrateRequest& request) {
  const Status fine = check_calibration(request);
  if (!fine.ok()) return fine.error();
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  const auto rows = read_peaks(request.train, catalog->noun);
  if (!rows.ok()) return rows.error();
  std::vector<ShardedMemoryCase> cases;
  for (const LoadedMemoryCase& row : *rows) cases.push_back(row.as_case);
  const auto model = ShardedMemoryModel::fit(cases);
  if (!model.ok()) return model.error();
  auto accuracy = peak_accuracy(*rows);
  if (!accuracy.ok()) return accuracy.error();
  Calibration calibration = model->to_calibration(request.name);
  calibration.date = date_at(environment.clock->now());
  calibration.data = tables_of(*rows, stated_provenance(request));
  calibration.accuracy = std::move(*accuracy);
  const Status kept = keep_calibration(calibration, request);
  if (!kept.ok()) return kept.error();
  return calibration;
}

}  // namespace stint
