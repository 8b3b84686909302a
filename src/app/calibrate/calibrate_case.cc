#include "app/calibrate/calibrate_case.h"

#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "calibrate/batch_fit.h"
#include "calibrate/device_fit.h"
#include "calibrate/free_sharing_fit.h"
#include "calibrate/law_calibration.h"
#include "load/catalog_cases.h"
#include "load/job_files.h"
#include "load/published_tables.h"

namespace stint {
namespace {

/// The network that costs are fitted for. Rows of our own runs name their VM type as the device:
/// each gets its network relative to that of the first.
Result<BytesPerSecond> reference_network(const Environment& environment,
                                         const CalibrateRequest& request, Rows& rows) {
  if (request.fabric.network) return *request.fabric.network;
  if (request.format != StepFormat::kStint) return kReferenceNetwork;
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  std::optional<BytesPerSecond> first;
  for (StepRow& row : rows) {
    if (row.device.empty() || row.workers_by_vm.size() < 2) continue;
    const auto name = parse_vm_name(row.device);
    if (!name.ok()) continue;
    const auto type = find_type(catalog->noun, *name);
    const auto rate = type.ok() ? network_rate(**type) : std::nullopt;
    if (!rate) {
      return bad_input(fmt::format(
          "the network of {} is unknown; give it with --network, for example --network '25 Gbit/s'",
          row.device));
    }
    if (!first) first = rate;
    row.network = *rate / *first;
  }
  return first.value_or(kReferenceNetwork);
}

/// "gavel:isolated.csv" is a file with its format.
Result<std::pair<StepFormat, std::string>> tagged_file(const std::string& text) {
  const std::size_t colon = text.find(':');
  for (const auto& [format, name] : names_of(StepFormat{})) {
    if (colon != std::string::npos && text.substr(0, colon) == name) {
      return std::pair(format, text.substr(colon + 1));
    }
  }
  return bad_usage(fmt::format("'{}' has no table format; write it as gavel:FILE or cmdare:FILE",
                               printable(text)));
}

}  // namespace

Status check_calibration(const CalibrateRequest& request) {
  if (request.train.empty()) return bad_usage("--train FILE is required: the rows to learn from");
  if (request.name.empty()) return bad_usage("--name is required: the name of the calibration");
  return {};
}

Status keep_calibration(const Calibration& calibration, const CalibrateRequest& request) {
  if (request.out.empty()) return {};
  return write_output(request.out, write_calibration(calibration));
}

std::string stated_provenance(const CalibrateRequest& request) {
  return request.provenance.empty() ? "not stated" : request.provenance;
}

Result<Calibration> calibrate_fabric(const Environment& environment,
                                     const CalibrateRequest& request,
                                     const LeftOutAccuracy& accuracy) {
  const Status fine = check_calibration(request);
  if (!fine.ok()) return fine.error();
  auto rows = read_step_tables(request.format, request.train, TableUse::kLearn);
  if (!rows.ok()) return rows.error();
  drop_kept_apart(request.format, *rows);
  const auto reference = reference_network(environment, request, *rows);
  if (!reference.ok()) return reference.error();
  FabricFacts fabric = request.fabric;
  if (request.format == StepFormat::kStint) fabric.network = *reference;
  set_network(fabric, *rows);
  fabric = with_inside(fabric, request.format, *rows);
  const auto context = fit_context(request.jobs, fabric);
  if (!context.ok()) return context.error();
  const auto table = fit_table(*rows, *context, true);
  if (!table.ok()) return table.error();
  if (table->rows.empty()) {
    return bad_input("the training files have no row with several workers and a measured time");
  }
  auto records = accuracy(request);
  if (!records.ok()) return records.error();

  Calibration calibration = to_calibration(table->law, shipped_priors(), *reference);
  calibration.name = request.name;
  calibration.date = date_at(environment.clock->now());
  calibration.accuracy = std::move(*records);
  fabric.workers_per_vm = 1;
  for (const LawRow& row : table->rows) {
    fabric.workers_per_vm = std::max(*fabric.workers_per_vm, row.input.workers_on_fullest_vm);
  }
  calibration.fabric = fabric;
  std::set<std::string> jobs;
  for (const LawRow& row : table->rows) jobs.insert(row.job);
  calibration.data.push_back({.name = std::string(name_of(request.format)),
                              .provenance = stated_provenance(request),
                              .rows = static_cast<int>(table->rows.size()),
                              .jobs = {jobs.begin(), jobs.end()}});
  const Status kept = keep_calibration(calibration, request);
  if (!kept.ok()) return kept.error();
  return calibration;
}

Result<Calibration> calibrate_devices(const Environment& environment,
                                      const CalibrateRequest& request) {
  const Status fine = check_calibration(request);
  if (!fine.ok()) return fine.error();
  Rows rows;
  std::vector<FittedData> data;
  for (const std::string& text : request.train) {
    const auto file = tagged_file(text);
    if (!file.ok()) return file.error();
    const auto more = read_step_tables(file->first, {file->second}, TableUse::kLearn);
    if (!more.ok()) return more.error();
    std::set<std::string> jobs;
    FittedData source{.name = std::string(name_of(file->first)),
                      .provenance = stated_provenance(request)};
    for (const StepRow& row : *more) {
      if (workers(row) != 1 || !row.time || !row.unusable.empty()) continue;
      jobs.insert(row.job);
      ++source.rows;
      rows.push_back(row);
    }
    source.jobs.assign(jobs.begin(), jobs.end());
    data.push_back(std::move(source));
  }
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  const auto pairs = device_pairs(rows, catalog->noun);
  const auto fit = fit_devices(pairs);
  if (!fit.ok()) return fit.error();
  Calibration calibration = to_calibration(*fit, request.name);
  // Tables with one batch for each job say nothing of the batch: the shipped share then holds.
  const auto batches = fit_fixed_share(batch_pairs(rows));
  if (batches.ok()) add_to(calibration, *batches);
  calibration.date = date_at(environment.clock->now());
  calibration.data = std::move(data);
  const Status kept = keep_calibration(calibration, request);
  if (!kept.ok()) return kept.error();
  return calibration;
}

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
