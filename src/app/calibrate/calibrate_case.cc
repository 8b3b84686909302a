#include "app/calibrate/calibrate_case.h"

#include <fmt/format.h>
#include <set>
#include <span>
#include <utility>

#include "app/calibrate/bucket_runs.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "calibrate/batch_fit.h"
#include "calibrate/device_fit.h"
#include "calibrate/free_sharing_fit.h"
#include "calibrate/law_calibration.h"
#include "calibrate/network_probe.h"
#include "catalog/lookup.h"
#include "load/catalog_cases.h"
#include "load/job_files.h"
#include "load/published_tables.h"
#include "measure/tables/device_table_format.h"
#include "measure/tables/mlperf_clusters.h"
#include "measure/tables/zeus_table.h"
#include "predict/resolve.h"

namespace stint {
namespace {

/// The all-reduces of probes, and what the catalogue knows of the first VM of them.
struct Probes {
  std::vector<ReductionRow> rows;
  FabricFacts facts = {};
};

Result<Probes> read_probes(const Environment& environment, const CalibrateRequest& request) {
  if (request.format != StepFormat::kStint) return Probes{};
  const auto measured = read_all(request.train, read_reductions);
  if (!measured.ok()) return measured.error();
  if (measured->empty()) return Probes{};
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  auto rows = reduction_rows(*measured, catalog->noun);
  if (!rows.ok()) return rows.error();
  const auto type = find_type(catalog->noun, vms_of(measured->front().cluster).front());
  if (!type.ok()) return type.error();
  return Probes{.rows = std::move(*rows), .facts = fabric_facts(catalog->noun, **type)};
}

/// What is known of the network of the request, where it does not say: that of the probed VMs.
FabricFacts stated_or_probed(const FabricFacts& stated, const Probes& probes) {
  FabricFacts facts = stated;
  if (probes.rows.empty()) return facts;
  if (!facts.transport) facts.transport = probes.facts.transport;
  if (!facts.inside) {
    facts.inside = probes.facts.inside;
    facts.inside_rate = probes.facts.inside_rate;
  }
  return facts;
}

/// Moves the prior of the network by what was probed, and returns the error of probes.
Result<std::vector<AccuracyRecord>> fold_probes(const Probes& probes, const FabricFacts& fabric,
                                                LawPriors& priors) {
  if (probes.rows.empty()) return std::vector<AccuracyRecord>{};
  const FabricPhysics physics = shipped_networks().physics;
  const ProbedNetwork network{
      .transport = physics.transports.at(fabric.transport.value_or(TransportFamily::kTcp)),
      .reference = *fabric.network};
  const FabricPrior prior{.mean = priors.fabric, .deviation = priors.fabric_deviation};
  const auto probed = probed_prior(prior, probes.rows, network);
  if (!probed.ok()) return probed.error();
  priors.fabric = probed->mean;
  priors.fabric_deviation = probed->deviation;
  auto record = probe_accuracy(prior, probes.rows, network);
  if (!record.ok()) return record.error();
  return std::vector{std::move(*record)};
}

/// The network that costs are fitted for. Rows of our own runs name their VM type as the device:
/// each gets its network relative to that of the first, and `otherwise` is that of VMs without
/// rows.
Result<BytesPerSecond> reference_network(const Environment& environment,
                                         const CalibrateRequest& request, BytesPerSecond otherwise,
                                         Rows& rows) {
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
  return first.value_or(otherwise);
}

/// The rows of a table of seconds on devices, as steps of one worker.
Result<Rows> device_steps(DeviceTableFormat format, const std::string& file) {
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  const auto csv = Csv::parse(*text, file);
  if (!csv.ok()) return csv.error();
  if (format == DeviceTableFormat::kZeus) {
    const auto epochs = read_zeus_epochs(*csv);
    if (!epochs.ok()) return epochs.error();
    return steps_of(*epochs);
  }
  const auto clusters = read_mlperf_clusters(*csv);
  if (!clusters.ok()) return clusters.error();
  return steps_of(*clusters);
}

/// The rows of one worker of a file.
struct TaggedRows {
  Rows rows;
  std::string format;
  bool batches = false;  // Whether a step at one batch compares with a step at another.
};

/// The rows of "gavel:isolated.csv", a file with its format.
Result<TaggedRows> tagged_rows(const std::string& text) {
  const std::size_t colon = text.find(':');
  TaggedRows tagged{.rows = {}, .format = colon == std::string::npos ? "" : text.substr(0, colon)};
  std::optional<Result<Rows>> read;
  for (const auto& [format, name] : names_of(StepFormat{})) {
    if (tagged.format != name) continue;
    read = read_step_tables(format, {text.substr(colon + 1)}, TableUse::kLearn);
    tagged.batches = true;
  }
  for (const DeviceTableFormat format : {DeviceTableFormat::kZeus, DeviceTableFormat::kMlperf}) {
    if (tagged.format == name_of(format)) read = device_steps(format, text.substr(colon + 1));
  }
  if (!read) {
    return bad_usage(fmt::format("'{}' has no table format; write it as gavel:FILE or mlperf:FILE",
                                 printable(text)));
  }
  if (!read->ok()) return read->error();
  for (StepRow& row : **read) {
    const bool unsteady = tagged.format == name_of(StepFormat::kGavel) && row.job == kUnsteadyJob;
    const bool usable = workers(row) == 1 && row.time && row.unusable.empty() && !unsteady;
    if (usable) tagged.rows.push_back(std::move(row));
  }
  return tagged;
}

/// What the calibration says of the rows.
FittedData data_of(const TaggedRows& tagged, const Catalog& catalog, std::string provenance) {
  std::set<std::string> jobs;
  std::set<std::string> devices;
  for (const StepRow& row : tagged.rows) {
    jobs.insert(row.job);
    if (const Gpu* gpu = gpu_of_row(catalog, row)) devices.insert(gpu->name);
  }
  return {.name = tagged.format,
          .provenance = std::move(provenance),
          .rows = static_cast<int>(tagged.rows.size()),
          .jobs = {jobs.begin(), jobs.end()},
          .devices = {devices.begin(), devices.end()}};
}

/// Leaves the devices of which the fit has a pair: rows of one device alone say nothing of it.
void keep_paired(std::span<const DevicePair> pairs, std::vector<FittedData>& data) {
  std::set<std::string> paired;
  for (const DevicePair& pair : pairs) paired.insert(pair.to->name);
  for (FittedData& it : data) {
    std::erase_if(it.devices, [&](const std::string& name) { return !paired.contains(name); });
  }
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
  const auto probes = read_probes(environment, request);
  if (!probes.ok()) return probes.error();
  const auto reference = reference_network(
      environment, request, probes->facts.network.value_or(kReferenceNetwork), *rows);
  if (!reference.ok()) return reference.error();
  FabricFacts fabric = stated_or_probed(request.fabric, *probes);
  if (request.format == StepFormat::kStint) fabric.network = *reference;
  set_network(fabric, *rows);
  fabric = with_inside(fabric, request.format, *rows);
  auto context = fit_context(request.jobs, fabric, request.onto);
  if (!context.ok()) return context.error();
  const LawPriors before = context->priors;
  auto records = fold_probes(*probes, fabric, context->priors);
  if (!records.ok()) return records.error();
  auto table = fit_table(*rows, *context, true);
  if (!table.ok()) return table.error();
  table->law.priors = before;  // What a probe has set counts as identified.
  if (table->rows.empty() && probes->rows.empty()) {
    return bad_input("the training files have no row with several workers and a measured time");
  }
  if (!table->rows.empty()) {
    auto of_steps = accuracy(request);
    if (!of_steps.ok()) return of_steps.error();
    records->insert(records->end(), of_steps->begin(), of_steps->end());
  }

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
  if (!probes->rows.empty()) {
    calibration.data.push_back({.name = "sums over the network",
                                .provenance = stated_provenance(request),
                                .rows = static_cast<int>(probes->rows.size()),
                                .jobs = {}});
  }
  if (!table->rows.empty()) {
    calibration.data.push_back({.name = std::string(name_of(request.format)),
                                .provenance = stated_provenance(request),
                                .rows = static_cast<int>(table->rows.size()),
                                .jobs = {jobs.begin(), jobs.end()}});
  }
  const Status kept = keep_calibration(calibration, request);
  if (!kept.ok()) return kept.error();
  return calibration;
}

Result<Calibration> calibrate_devices(const Environment& environment,
                                      const CalibrateRequest& request) {
  const Status fine = check_calibration(request);
  if (!fine.ok()) return fine.error();
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  Rows rows;
  Rows with_batches;
  std::vector<FittedData> data;
  for (const std::string& text : request.train) {
    const auto tagged = tagged_rows(text);
    if (!tagged.ok()) return tagged.error();
    data.push_back(data_of(*tagged, catalog->noun, stated_provenance(request)));
    rows.insert(rows.end(), tagged->rows.begin(), tagged->rows.end());
    if (!tagged->batches) continue;
    with_batches.insert(with_batches.end(), tagged->rows.begin(), tagged->rows.end());
  }
  const auto pairs = device_pairs(rows, catalog->noun);
  keep_paired(pairs, data);
  const auto fit = fit_devices(pairs);
  if (!fit.ok()) return fit.error();
  Calibration calibration = to_calibration(*fit, request.name);
  // Tables with one batch for each job say nothing of the batch: the shipped share then holds.
  const auto batches = fit_fixed_share(batch_pairs(with_batches));
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
                [](const PackedPair& it) { return it.capped_to_isolated || it.unsteady; });
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
