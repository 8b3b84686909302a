#include "app/calibrate/calibrate_collectives.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/file.h"
#include "calibrate/collectives/fabric_fit.h"
#include "calibrate/score.h"
#include "load/catalog_cases.h"
#include "measure/tables/collective_tables.h"

namespace stint {
namespace {

struct Row {
  std::string table;
  std::string system;
  CollectiveCase as_case;
};

Result<std::vector<Row>> read_tables(const std::vector<std::string>& files,
                                     const Catalog& catalog) {
  std::vector<Row> all;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    const auto format = collective_format(*text, file);
    if (!format.ok()) return format.error();
    const auto rows = read_collective_format(*text, file, *format);
    if (!rows.ok()) return rows.error();
    for (const CollectiveMeasurement& row : *rows) {
      Row it{.system = row.system, .as_case = collective_case(row, catalog)};
      for (const auto& [value, name] : names_of(CollectiveFormat{})) {
        if (value == *format) it.table = name;
      }
      if (it.as_case.note.empty() && it.as_case.value) all.push_back(std::move(it));
    }
  }
  return all;
}

/// The errors of the group called `left_out`, predicted from the others.
template <class Group>
Result<std::vector<Scored>> errors_of(std::span<const Row> rows, const std::string& left_out,
                                      Group group) {
  std::vector<CollectiveCase> train;
  for (const Row& row : rows) {
    if (group(row) != left_out) train.push_back(row.as_case);
  }
  const auto model = FabricModel::fit(train);
  if (!model.ok()) return model.error();
  std::vector<Scored> scored;
  for (const Row& row : rows) {
    if (group(row) != left_out) continue;
    const CollectiveValue value = value_of(row.as_case, model->estimate(row.as_case));
    scored.push_back({.job = left_out,
                      .predicted = value.mean * kSecond,
                      .measured = *row.as_case.value * kSecond,
                      .p10 = value.p10 * kSecond,
                      .p90 = value.p90 * kSecond});
  }
  return scored;
}

AccuracyRecord record(const std::string& name, const std::string& split,
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

Result<std::vector<AccuracyRecord>> left_out(std::span<const Row> rows) {
  std::set<std::string> tables;
  for (const Row& row : rows) tables.insert(row.table);
  const bool several = tables.size() > 1;
  const auto group = [&](const Row& row) { return several ? row.table : row.system; };
  const std::string split = several ? "leave-one-table-out" : "leave-one-system-out";
  std::set<std::string> groups;
  for (const Row& row : rows) groups.insert(group(row));
  std::vector<AccuracyRecord> records;
  std::vector<Scored> all;
  for (const std::string& name : groups) {
    const auto scored = errors_of(rows, name, group);
    if (!scored.ok()) return scored.error();
    records.push_back(record(name, split, *scored));
    all.insert(all.end(), scored->begin(), scored->end());
  }
  records.push_back(record("all rows", split, all));
  return records;
}

std::vector<FittedData> data_of(std::span<const Row> rows, const std::string& provenance) {
  std::map<std::string, FittedData> tables;
  for (const Row& row : rows) {
    FittedData& it = tables[row.table];
    it.name = row.table;
    it.provenance = provenance;
    ++it.rows;
    if (std::find(it.jobs.begin(), it.jobs.end(), row.system) == it.jobs.end()) {
      it.jobs.push_back(row.system);
    }
  }
  std::vector<FittedData> data;
  for (auto& [name, it] : tables) data.push_back(std::move(it));
  return data;
}

}  // namespace

Result<Calibration> calibrate_collectives(const Environment& environment,
                                          const CalibrateRequest& request) {
  const Status fine = check_calibration(request);
  if (!fine.ok()) return fine.error();
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  const auto rows = read_tables(request.train, catalog->noun);
  if (!rows.ok()) return rows.error();
  if (rows->empty()) return bad_input("no row to learn from: the tables have no measured values");
  std::vector<CollectiveCase> cases;
  for (const Row& row : *rows) cases.push_back(row.as_case);
  const auto model = FabricModel::fit(cases);
  if (!model.ok()) return model.error();
  auto accuracy = left_out(*rows);
  if (!accuracy.ok()) return accuracy.error();
  Calibration calibration = model->to_calibration(request.name);
  calibration.date = date_at(environment.clock->now());
  calibration.data = data_of(*rows, stated_provenance(request));
  calibration.accuracy = std::move(*accuracy);
  const Status kept = keep_calibration(calibration, request);
  if (!kept.ok()) return kept.error();
  return calibration;
}

}  // namespace stint
