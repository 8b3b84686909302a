#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "calibrate/bucket_fit.h"
#include "catalog/catalog.h"
#include "load/environment.h"
#include "load/job_files.h"
#include "load/predict_inputs.h"
#include "measure/tables/stint_steps.h"

namespace stint {

/// The all-reduces of probes with the NICs of their VMs resolved, one row each: the median time,
/// and the scatter of its repetitions. Errors: a VM type that the catalogue does not have (usage),
/// or has no network figure for (bad input).
Result<std::vector<ReductionRow>> reduction_rows(const std::vector<MeasuredReduction>& reductions,
                                                 const Catalog& catalog);

/// The inputs for resolving runs.
struct RunWorld {
  JobsByName jobs;
  Catalog catalog;
  DeviceLaw devices;
};

/// `jobs` is a file of job profiles; empty: the shipped ones.
Result<RunWorld> load_run_world(const Environment& environment, const std::string& jobs);

/// Appends the result of `read` for each of the files.
template <class T>
Result<std::vector<T>> read_all(const std::vector<std::string>& files,
                                Result<std::vector<T>> (*read)(std::string_view,
                                                               const std::string&)) {
  std::vector<T> all;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    auto found = read(*text, file);
    if (!found.ok()) return found.error();
    all.insert(all.end(), std::make_move_iterator(found->begin()),
               std::make_move_iterator(found->end()));
  }
  return all;
}

/// The question that corresponds to a run. The law must outlive the answer.
Result<ResolvedJob> resolve_run(const RunWorld& world, const CalibratedLaw& law,
                                const MeasuredRun& run);

/// A fit to the runs and probes of `files` as a calibration, with its accuracy. It starts from the
/// calibration `onto`, a file or a shipped one; empty: from the priors.
Result<Calibration> fitted_buckets(const RunWorld& world, const std::vector<std::string>& files,
                                   const std::string& onto);

/// The request to fit a fabric with bucket-level laws (see bucket_law.h) to our own runs and
/// probes.
struct CalibrateBucketsRequest {
  std::vector<std::string> train;  // Files of measurements.
  std::string jobs;                // A file of job profiles; empty: the shipped ones.
  std::string name;                // Name of the calibration.
  std::string provenance;          // Source of the runs.
  std::string out;                 // File to write; empty: none.
  std::string onto = {};  // A calibration, a file or a shipped one, to update; empty: none.
};

/// Fits all runs, and all all-reduces of probes; the accuracy is that on held-out cluster sizes. An
/// update of another calibration starts from its posterior, and is listed after its data.
Result<Calibration> calibrate_buckets(const Environment& environment,
                                      const CalibrateBucketsRequest& request);

}  // namespace stint
