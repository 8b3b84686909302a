#include "app/calibrate/benchmark_case.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/file.h"
#include "calibrate/law_calibration.h"
#include "calibrate/scaling/scaling_transfer.h"
#include "calibrate/score.h"
#include "load/job_files.h"
#include "load/published_tables.h"

namespace stint {
namespace {

Result<std::vector<ScalingRow>> read_benchmarks(ScalingFormat format,
                                                const std::vector<std::string>& files) {
  std::vector<ScalingRow> all;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    auto rows = read_scaling(format, *text, file);
    if (!rows.ok()) return rows.error();
    std::move(rows->begin(), rows->end(), std::back_inserter(all));
  }
  return all;
}

/// The median of the networks that the rows of clusters state.
BytesPerSecond usual_network(std::span<const ScalingRow> rows, const ScalingPriors& priors) {
  std::vector<BytesPerSecond> networks;
  for (const ScalingRow& row : rows) {
    if (row.vms > 1) networks.push_back(network_of(row, priors));
  }
  if (networks.empty()) return kReferenceNetwork;
  const auto middle = networks.begin() + static_cast<std::ptrdiff_t>(networks.size() / 2);
  std::nth_element(networks.begin(), middle, networks.end());
  return *middle;
}

/// Each benchmark predicted from the others.
Result<std::vector<AccuracyRecord>> held_out_benchmarks(const std::vector<LawRow>& rows,
                                                        const LawPriors& priors) {
  std::set<std::string> jobs;
  for (const LawRow& row : rows) jobs.insert(row.job);
  std::vector<Scored> scored;
  for (const std::string& job : jobs) {
    std::vector<LawRow> others = rows;
    std::erase_if(others, [&](const LawRow& row) { return row.job == job; });
    const auto law = fit_law(others, priors);
    if (!law.ok()) return law.error();
    for (const LawRow& row : rows) {
      if (row.job != job) continue;
      const LawEstimate it = law->predict(job, row.size_known, row.input);
      scored.push_back({.job = job,
                        .predicted = it.time,
                        .measured = row.time,
                        .p10 = it.p10(),
                        .p90 = it.p90()});
    }
  }
  const Score all = score(scored);
  return std::vector<AccuracyRecord>{{.name = "all rows",
                                      .split = "leave-one-job-out",
                                      .n = all.n,
                                      .mape = all.mape,
                                      .median_ape = all.median_ape,
                                      .p90_ape = all.p90_ape}};
}

}  // namespace

Result<Calibration> calibrate_benchmarks(const Environment& environment, ScalingFormat format,
                                         const CalibrateRequest& request) {
  const Status fine = check_calibration(request);
  if (!fine.ok()) return fine.error();
  const auto rows = read_benchmarks(format, request.train);
  if (!rows.ok()) return rows.error();
  const auto scaling = scaling_priors(shipped_calibration("scaling-priors"), name_of(format));
  if (!scaling.ok()) return scaling.error();
  FabricFacts fabric = request.fabric;
  if (!fabric.network) fabric.network = usual_network(*rows, *scaling);
  const auto context = fit_context("", fabric, request.onto);
  if (!context.ok()) return context.error();
  const auto of_network = network_rows(*rows, *scaling, context->priors, *fabric.network);
  if (!of_network.ok()) return of_network.error();
  if (of_network->empty()) {
    return bad_input(
        "no row of several VMs has one on a single VM by the same submitter beside it");
  }
  auto law = fit_law(*of_network, context->priors);
  if (!law.ok()) return law.error();
  const Status measured = measure_dispersion(*law, *of_network);
  if (!measured.ok()) return measured.error();
  auto records = held_out_benchmarks(*of_network, context->priors);
  if (!records.ok()) return records.error();

  Calibration calibration = to_calibration(*law, shipped_priors(), *fabric.network);
  calibration.name = request.name;
  calibration.date = date_at(environment.clock->now());
  calibration.accuracy = std::move(*records);
  fabric.workers_per_vm = 1;
  std::set<std::string> jobs;
  for (const LawRow& row : *of_network) {
    fabric.workers_per_vm = std::max(*fabric.workers_per_vm, row.input.workers_on_fullest_vm);
    jobs.insert(row.job);
  }
  calibration.fabric = fabric;
  calibration.data.push_back({.name = std::string(name_of(format)),
                              .provenance = stated_provenance(request),
                              .rows = static_cast<int>(of_network->size()),
                              .jobs = {jobs.begin(), jobs.end()}});
  const Status kept = keep_calibration(calibration, request);
  if (!kept.ok()) return kept.error();
  return calibration;
}

}  // namespace stint
