#include "app/calibrate/calibrate_sharing.h"

#include <utility>

#include "base/file.h"
#include "calibrate/free_sharing_fit.h"
#include "load/pair_tables.h"

namespace stint {

Result<Calibration> calibrate_sharing(const Environment& environment,
                                      const CalibrateRequest& request) {
  const Status fine = check_calibration(request);
  if (!fine.ok()) return fine.error();
  auto tables = read_pair_tables(request.train);
  if (!tables.ok()) return tables.error();
  fill_alone(tables->pairs, tables->alone);
  std::erase_if(tables->pairs,
                [](const PackedPair& it) { return it.capped_to_isolated || is_unsteady(it); });
  auto fit = fit_free_sharing(tables->pairs);
  if (!fit.ok()) return fit.error();
  Calibration calibration{.name = request.name,
                          .date = date_at(environment.clock->now()),
                          .constants = free_sharing_constants(fit->law),
                          .data = {{.name = "gavel",
                                    .provenance = stated_provenance(request),
                                    .rows = fit->pairs,
                                    .jobs = std::move(fit->jobs)}},
                          .accuracy = {std::move(fit->error)}};
  const Status kept = keep_calibration(calibration, request);
  if (!kept.ok()) return kept.error();
  return calibration;
}

}  // namespace stint
