#include "app/calibrate_case.h"

#include <set>

#include "app/job_files.h"
#include "app/step_tables.h"
#include "app/validate_iteration.h"
#include "base/file.h"
#include "calibrate/law_calibration.h"

namespace stint {
namespace {

AccuracyRecord record_of(const std::string& name, const std::string& split, const Score& score) {
  return {.name = name,
          .split = split,
          .n = score.n,
          .mape = score.mape,
          .median_ape = score.median_ape,
          .p90_ape = score.p90_ape,
          .coverage80 = score.coverage80};
}

/// By job and as the mean over jobs, with each job left out in turn.
Result<std::vector<AccuracyRecord>> accuracy_of(const CalibrateRequest& request) {
  const std::string split = "leave-one-job-out";
  const auto answer = validate_iteration(
      {.format = request.format, .train = request.train, .split = split, .jobs = request.jobs});
  if (!answer.ok()) return answer.error();
  std::vector<AccuracyRecord> records;
  for (const auto& [job, score] : answer->ours.jobs) {
    if (score.n > 0) records.push_back(record_of(job, split, score));
  }
  records.push_back(record_of("mean over jobs", split, answer->ours.mean_over_jobs));
  return records;
}

}  // namespace

Result<Calibration> calibrate_fabric(const Environment& environment,
                                     const CalibrateRequest& request) {
  if (request.train.empty()) return bad_usage("--train needs at least one file");
  if (request.name.empty()) return bad_usage("--name is missing: what to call the calibration");
  auto rows = read_step_tables(request.format, request.train);
  if (!rows.ok()) return rows.error();
  drop_kept_apart(request.format, *rows);
  const auto context = fit_context(request.jobs);
  if (!context.ok()) return context.error();
  const auto table = fit_table(*rows, *context, true);
  if (!table.ok()) return table.error();
  if (table->rows.empty()) {
    return bad_input(
        "the training files hold no row with several workers and a time to learn from");
  }
  auto accuracy = accuracy_of(request);
  if (!accuracy.ok()) return accuracy.error();

  Calibration calibration = to_calibration(table->law, shipped_priors());
  calibration.name = request.name;
  calibration.date = date_at(environment.clock->now());
  calibration.accuracy = std::move(*accuracy);
  std::set<std::string> jobs;
  for (const LawRow& row : table->rows) jobs.insert(row.job);
  calibration.data.push_back(
      {.name = std::string(name_of(request.format)),
       .provenance = request.provenance.empty() ? "not stated" : request.provenance,
       .rows = static_cast<int>(table->rows.size()),
       .jobs = {jobs.begin(), jobs.end()}});
  if (!request.out.empty()) {
    const Status written = write_file(request.out, write_calibration(calibration));
    if (!written.ok()) return written.error();
  }
  return calibration;
}

}  // namespace stint
