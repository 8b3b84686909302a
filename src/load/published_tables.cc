#include "load/published_tables.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "calibrate/space_sharing.h"
#include "catalog/lookup.h"
#include "load/catalog_cases.h"
#include "load/job_files.h"
#include "load/predict_inputs.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

template <class Row>
Status append(const Result<std::vector<Row>>& rows, std::vector<Row>& all) {
  if (!rows.ok()) return rows.error();
  all.insert(all.end(), rows->begin(), rows->end());
  return {};
}

Status read_table(const std::string& file, PairTables& tables) {
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  const auto csv = Csv::parse(*text, file);
  if (!csv.ok()) return csv.error();
  if (csv->find_column("model_a")) return append(read_packed_pairs(*text, file), tables.pairs);
  if (csv->find_column("batch_per_gpu")) {
    return append(read_isolated_rates(*text, file), tables.alone);
  }
  return bad_input(
      fmt::format("{}: its header has neither model_a (packed pairs) nor batch_per_gpu (jobs "
                  "alone), so it is not a table of jobs on one GPU",
                  file));
}

using RatesByBatch = std::map<int, PerSecond>;

/// By device and job.
using RatesAlone = std::map<std::pair<std::string, std::string>, RatesByBatch>;

/// The rate at `batch`, by the equation in the header. Requires a rate.
PerSecond rate_at(const RatesByBatch& rates, int batch) {
  if (const auto exact = rates.find(batch); exact != rates.end()) return exact->second;
  // The batches on both sides of it, or the two at the end that it is beyond.
  auto upper = rates.upper_bound(batch);
  if (upper == rates.end()) upper = std::prev(upper);
  if (upper == rates.begin() && rates.size() > 1) upper = std::next(upper);
  const auto lower = upper == rates.begin() ? upper : std::prev(upper);
  double exponent = 1;
  if (lower != upper) {
    const double steps = std::log(lower->second / upper->second);
    const double batches = std::log(static_cast<double>(upper->first) / lower->first);
    exponent = std::clamp(steps / batches, 0.0, 1.0);
  }
  const bool above = batch > upper->first;
  const auto& [known, rate] = above ? *upper : *lower;
  return rate * std::pow(static_cast<double>(known) / batch, exponent);
}

double log_rate(PerSecond rate) { return std::log(rate.in(1 / kSecond)); }

PerSecond usual_rate(const RatesByBatch& rates) {
  double sum = 0;
  for (const auto& [batch, rate] : rates) sum += log_rate(rate);
  return std::exp(sum / static_cast<double>(rates.size())) / kSecond;
}

/// Of each GPU on the largest server; nothing for a single GPU.
std::optional<PerSecond> rate_in_full_server(std::span<const IsolatedRate> alone,
                                             const SizedJob& job, const std::string& device) {
  const IsolatedRate* most = nullptr;
  for (const IsolatedRate& it : alone) {
    if (it.gpus < 2 || !it.each_in_server || it.device != device || it.job != job) continue;
    if (most == nullptr || it.gpus > most->gpus) most = &it;
  }
  return most == nullptr ? std::nullopt : most->each_in_server;
}

/// No time of a step or a sample lies out here, and what is computed with such figures may leave
/// the range of numbers altogether.
constexpr Seconds kShortest = 1e-15 * kSecond;
constexpr Seconds kLongest = 1e12 * kSecond;

bool is_a_time(const std::optional<Seconds>& time) {
  return !time || (*time >= kShortest && *time <= kLongest);
}

/// Makes rows unmeasured whose times cannot be.
void take_away_odd_times(Rows& rows) {
  for (StepRow& row : rows) {
    if (!is_a_time(row.time)) {
      mark_unmeasured(row, fmt::format("{:g} s is not a valid time", row.time->in(kSecond)));
    }
    if (!is_a_time(row.repeat)) row.repeat.reset();
  }
}

Status check_times(const Rows& rows, const std::string& source) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& time : {rows[i].time, rows[i].repeat}) {
      if (is_a_time(time)) continue;
      return bad_input(fmt::format(
          "{}: row {} (the first is 0): {:g} s is not a valid time; correct it or leave it blank",
          source, i, time->in(kSecond)));
    }
  }
  return {};
}

bool same_link(const InsideLink& a, const InsideLink& b) {
  return a.kind == b.kind && a.one_way == b.one_way;
}

/// The link between several accelerators called `device`, where all VM types agree.
std::optional<InsideLink> usual_inside(const Catalog& catalog, const std::string& device) {
  std::optional<InsideLink> usual;
  for (const VmType& type : catalog.types) {
    const bool several = type.accelerator && type.accelerator->count > 1;
    if (device.empty() || !several || !has_gpu(type, device)) continue;
    const auto link = inside_link(catalog, type);
    if (!link || (usual && !same_link(*usual, *link))) return std::nullopt;
    usual = link;
  }
  return usual;
}

/// The published table of Pollux has no odd rows, so that one in its format is somebody's slip. The
/// tables of others hold marks such as "out of memory" among their figures.
Status check_rows(StepFormat format, const Rows& rows, const std::string& source) {
  if (format != StepFormat::kPollux) return {};
  for (const StepRow& row : rows) {
    const std::string& wrong = row.unusable.empty() ? row.unmeasured : row.unusable;
    if (!wrong.empty()) return bad_input(fmt::format("{}:{}: {}", source, row.line, wrong));
  }
  return {};
}

}  // namespace

Result<PairTables> read_pair_tables(const std::vector<std::string>& files) {
  PairTables tables;
  for (const std::string& file : files) {
    const Status read = read_table(file, tables);
    if (!read.ok()) return read.error();
  }
  for (PackedPair& pair : tables.pairs) {
    pair.unsteady = pair.first.job.job == kUnsteadyJob || pair.second.job.job == kUnsteadyJob;
  }
  return tables;
}

void fill_alone(std::vector<PackedPair>& pairs, std::span<const IsolatedRate> alone) {
  RatesAlone rates;
  for (const IsolatedRate& it : alone) {
    if (it.alone) rates[{it.device, it.job.job}].emplace(it.job.batch, *it.alone);
  }
  for (const PackedPair& pair : pairs) {
    for (const PackedSide* side : {&pair.first, &pair.second}) {
      if (!side->alone) continue;
      rates[{sharing_device(pair), side->job.job}].emplace(side->job.batch, *side->alone);
    }
  }
  for (PackedPair& pair : pairs) {
    for (PackedSide* side : {&pair.first, &pair.second}) {
      const auto found = rates.find({sharing_device(pair), side->job.job});
      if (side->alone || found == rates.end()) continue;
      const bool measured = found->second.contains(side->job.batch);
      if (!measured && !pair.in_steps) continue;
      side->alone_worked_out = !measured;
      side->alone = rate_at(found->second, side->job.batch);
    }
  }
  for (PackedPair& pair : pairs) {
    for (PackedSide* side : {&pair.first, &pair.second}) {
      const auto found = rates.find({pair.device, side->job.job});
      if (!pair.in_steps || found == rates.end()) continue;
      side->alone_usual = usual_rate(found->second);
      side->full_server = rate_in_full_server(alone, side->job, pair.device);
    }
  }
}

Result<Rows> read_step_tables(StepFormat format, const std::vector<std::string>& files,
                              TableUse use) {
  Rows all;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    auto rows = read_steps(format, *text, file);
    if (!rows.ok()) return rows.error();
    if (use == TableUse::kLearn) {
      const Status good = check_rows(format, *rows, file);
      if (!good.ok()) return good.error();
      const Status times = check_times(*rows, file);
      if (!times.ok()) return times.error();
    }
    take_away_odd_times(*rows);
    all.insert(all.end(), std::make_move_iterator(rows->begin()),
               std::make_move_iterator(rows->end()));
  }
  return all;
}

Result<FitContext> fit_context(const std::string& jobs_file, const FabricFacts& fabric,
                               const std::string& calibration) {
  FitContext context{.facts = shipped_jobs()};
  if (!jobs_file.empty()) {
    const auto text = read_file(jobs_file);
    if (!text.ok()) return text.error();
    auto jobs = read_jobs(*text, jobs_file);
    if (!jobs.ok()) return jobs.error();
    context.facts = std::move(*jobs);
  }
  const auto priors = law_priors(shipped_priors());
  CHECK(priors.ok());
  context.priors = *priors;
  FabricPrior prior = fabric_prior(shipped_networks(), fabric);
  if (!calibration.empty()) {
    const auto loaded = load_calibration(calibration == "bundled" ? "" : calibration);
    if (!loaded.ok()) return loaded.error();
    const auto law = calibrated_law(loaded->noun);
    if (!law.ok()) return law.error();
    if (law->buckets) {
      return bad_usage(
          fmt::format("the calibration {} follows every bucket, which tables of step times do not "
                      "have; choose one of 'stint calibrate fabric'",
                      printable(calibration)));
    }
    prior = carried_over(*law, shipped_networks(), fabric);
  }
  context.priors.fabric = prior.mean;
  context.priors.fabric_deviation = prior.deviation;
  return context;
}

void set_network(const FabricFacts& fabric, Rows& rows) {
  for (StepRow& row : rows) {
    if (!row.reference) row.reference = fabric.network;
  }
}

FabricFacts with_inside(FabricFacts fabric, StepFormat format, std::span<const StepRow> rows) {
  // Tables in Pollux's format do not name the device; its reader assumes one.
  if (fabric.inside || format == StepFormat::kPollux) return fabric;
  std::set<std::string> devices;
  for (const StepRow& row : rows) {
    if (workers_on_fullest_vm(row) < 2 || !kept_apart(format, row).empty()) continue;
    devices.insert(row.device);
  }
  const auto catalog = load_catalog(Environment{});
  CHECK(catalog.ok());
  std::optional<InsideLink> common;
  for (const std::string& device : devices) {
    const auto link = usual_inside(catalog->noun, device);
    if (!link || (common && !same_link(*common, *link))) return fabric;
    common = link;
  }
  if (!common) return fabric;
  fabric.inside = common->kind;
  fabric.inside_rate = common->one_way;
  return fabric;
}

std::string kept_apart(StepFormat format, const StepRow& row) {
  if (format != StepFormat::kGavel) return "";
  if (row.job == "Recommendation") return "Recommendation";
  const bool one_server = row.workers_by_vm.size() == 1 && workers(row) > 1;
  return row.device == "V100" && one_server ? "V100 on one server" : "";
}

void drop_kept_apart(StepFormat format, Rows& rows) {
  std::erase_if(rows, [&](const StepRow& row) {
    return workers(row) > 1 && !kept_apart(format, row).empty();
  });
}

}  // namespace stint
