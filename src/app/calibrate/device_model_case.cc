#include "app/calibrate/device_model_case.h"

#include <set>

#include "base/csv.h"
#include "base/file.h"
#include "calibrate/device/neusight_table_model.h"
#include "load/catalog_cases.h"

namespace stint {

Result<Calibration> calibrate_device_model(const Environment& environment,
                                           const CalibrateRequest& request) {
  const Status fine = check_calibration(request);
  if (!fine.ok()) return fine.error();
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  const auto table = make_neusight_table(catalog->noun);
  for (const std::string& file : request.train) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    const auto csv = Csv::parse(*text, file);
    if (!csv.ok()) return csv.error();
    const Status added = table->add(*csv, file, TableRole::kTrain);
    if (!added.ok()) return added.error();
  }
  std::vector<std::size_t> all;
  std::set<std::string> jobs;
  for (std::size_t i = 0; i < table->rows().size(); ++i) {
    all.push_back(i);
    jobs.insert(table->rows()[i].job);
  }
  const auto fit = table->fit(all);
  if (!fit.ok()) return fit.error();
  Calibration calibration = to_calibration(*fit, request.name);
  calibration.date = date_at(environment.clock->now());
  calibration.data = {{.name = "neusight",
                       .provenance = stated_provenance(request),
                       .rows = static_cast<int>(fit->rows),
                       .jobs = {jobs.begin(), jobs.end()}}};
  const Status kept = keep_calibration(calibration, request);
  if (!kept.ok()) return kept.error();
  return calibration;
}

}  // namespace stint
