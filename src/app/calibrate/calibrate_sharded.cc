#include "app/calibrate/calibrate_sharded.h"

#include <fmt/format.h>
#include <map>
#include <set>

#include "calibrate/sharded/unseen_tables.h"
#include "load/catalog_cases.h"
#include "load/sharded_tables.h"

namespace stint {

Result<Calibration> calibrate_sharded(const Environment& environment,
                                      const CalibrateRequest& request) {
  const Status fine = check_calibration(request);
  if (!fine.ok()) return fine.error();
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  const auto cases = read_sharded_words("--train", request.train, catalog->noun);
  if (!cases.ok()) return cases.error();
  CasePointers rows;
  std::map<std::string, FittedData> data;
  std::map<std::string, std::set<std::string>> jobs;
  std::map<std::string, std::set<std::string>> devices;
  for (const ShardedCase& it : *cases) {
    if (!is_measured(it)) continue;
    rows.push_back(&it);
    FittedData& table = data[it.row.table];
    table.name = it.row.table;
    table.provenance = stated_provenance(request);
    ++table.rows;
    jobs[table.name].insert(it.row.job);
    devices[table.name].insert(it.row.gpu);
  }
  if (rows.empty()) return bad_input("no row of the tables has a time to learn from");
  const auto model = ShardedStepModel::fit(rows, physical_priors());
  if (!model.ok()) return model.error();
  Calibration calibration = model->to_calibration();
  const auto unseen = unseen_tables(rows, *model);
  if (!unseen.ok()) return unseen.error();
  if (unseen->tables > 0) {
    calibration.constants.push_back({.name = kShardedSpread,
                                     .scope = kShardedScope,
                                     .value = unseen->spread,
                                     .unit = "1",
                                     .identified = false});
  }
  calibration.name = request.name;
  calibration.date = date_at(environment.clock->now());
  for (auto& [name, table] : data) {
    table.jobs.assign(jobs[name].begin(), jobs[name].end());
    table.devices.assign(devices[name].begin(), devices[name].end());
    calibration.data.push_back(table);
  }
  const Status kept = keep_calibration(calibration, request);
  if (!kept.ok()) return kept.error();
  return calibration;
}

}  // namespace stint
