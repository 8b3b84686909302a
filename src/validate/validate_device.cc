#include "validate/validate_device.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "calibrate/device/device_table.h"
#include "calibrate/device/neusight_table_model.h"
#include "calibrate/score.h"
#include "load/catalog_cases.h"
#include "load/predict_inputs.h"

namespace stint {
namespace {

/// The keys of rows that a split holds out together; each is one fold.
struct DeviceSplit {
  std::string DeviceRow::*key = &DeviceRow::gpu;
  std::vector<std::set<std::string>> held_out;  // Empty: each key in turn.
};

Result<DeviceSplit> parse_device_split(const std::string& text) {
  const std::map<std::string, std::string DeviceRow::*> keys{
      {"gpu", &DeviceRow::gpu}, {"family", &DeviceRow::family}, {"job", &DeviceRow::job}};
  for (const auto& [name, key] : keys) {
    if (text == "leave-one-" + name + "-out") return DeviceSplit{.key = key};
    if (!text.starts_with(name + "=")) continue;
    std::set<std::string> names;
    for (const std::string& it : split(text.substr(name.size() + 1), ',')) {
      if (!it.empty()) names.insert(it);
    }
    if (!names.empty()) return DeviceSplit{.key = key, .held_out = {std::move(names)}};
  }
  return bad_usage(
      fmt::format("--split must be leave-one-gpu-out, leave-one-family-out, leave-one-job-out, "
                  "gpu=NAMES, family=NAMES or job=NAMES, not '{}'",
                  printable(text)));
}

Status add_file(DeviceTable& table, const std::string& file, TableRole role) {
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  const auto csv = Csv::parse(*text, file);
  if (!csv.ok()) return csv.error();
  return table.add(*csv, file, role);
}

Status add_files(DeviceTable& table, const DeviceRequest& request) {
  for (const PriorFile& prior : request.priors) {
    if (prior.format != request.format) continue;  // See notes_of.
    const Status added = add_file(table, prior.file, TableRole::kPrior);
    if (!added.ok()) return added;
  }
  for (const std::string& file : request.train) {
    const Status added = add_file(table, file, TableRole::kTrain);
    if (!added.ok()) return added;
  }
  for (const std::string& file : request.test) {
    const Status added = add_file(table, file, TableRole::kTest);
    if (!added.ok()) return added;
  }
  return {};
}

/// Training on everything and predicting the test files, rows that no model is about included.
Fold test_fold(std::span<const DeviceRow> rows) {
  Fold fold;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool tested = rows[i].role == TableRole::kTest;
    (tested ? fold.test : fold.train).push_back(i);
  }
  return fold;
}

Result<std::vector<Fold>> split_folds(std::span<const DeviceRow> rows, const DeviceSplit& split) {
  std::vector<std::set<std::string>> held_out = split.held_out;
  std::set<std::string> names;
  for (const DeviceRow& row : rows) {
    if (row.role == TableRole::kTrain && row.unusable.empty()) names.insert(row.*split.key);
  }
  if (held_out.empty()) {
    for (const std::string& name : names) held_out.push_back({name});
  }
  std::vector<Fold> folds;
  for (const std::set<std::string>& out : held_out) {
    for (const std::string& name : out) {
      if (names.contains(name)) continue;
      return bad_usage(fmt::format(
          "--split: no training row has '{}'.{}", printable(name),
          did_you_mean(nearest_names(name, std::vector(names.begin(), names.end()), 3))));
    }
    Fold fold;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool held = out.contains(rows[i].*split.key);
      if (!held) fold.train.push_back(i);
      const bool scored = rows[i].role == TableRole::kTrain && rows[i].unusable.empty();
      if (held && scored) fold.test.push_back(i);
    }
    folds.push_back(std::move(fold));
  }
  return folds;
}

/// The number of each row among the rows of its role, which is its number in the files.
std::vector<std::size_t> numbers_of(std::span<const DeviceRow> rows) {
  std::map<TableRole, std::size_t> counts;
  std::vector<std::size_t> numbers;
  for (const DeviceRow& row : rows) numbers.push_back(counts[row.role]++);
  return numbers;
}

std::optional<double> in_seconds(const std::optional<Seconds>& time) {
  return time ? std::optional(time->in(kSecond)) : std::nullopt;
}

/// The forecasts of all folds by one model, and their scores.
struct Outcome {
  std::vector<std::size_t> rows;
  std::vector<DeviceForecast> forecasts;
};

Result<Outcome> run_folds(const DeviceTable& table, const std::vector<Fold>& folds,
                          std::string_view model) {
  Outcome outcome;
  for (const Fold& fold : folds) {
    const auto forecasts = table.forecast(fold, model);
    if (!forecasts.ok()) return forecasts.error();
    CHECK(forecasts->size() == fold.test.size());
    outcome.rows.insert(outcome.rows.end(), fold.test.begin(), fold.test.end());
    outcome.forecasts.insert(outcome.forecasts.end(), forecasts->begin(), forecasts->end());
  }
  return outcome;
}

Validation score_outcome(std::span<const DeviceRow> rows, const Outcome& outcome) {
  std::vector<Scored> scored;
  std::map<std::string, std::vector<Scored>> by_group;
  for (std::size_t i = 0; i < outcome.rows.size(); ++i) {
    const DeviceRow& row = rows[outcome.rows[i]];
    const DeviceForecast& forecast = outcome.forecasts[i];
    if (!row.measured || !row.unusable.empty()) continue;
    scored.push_back({.job = row.job,
                      .predicted = forecast.time,
                      .measured = row.measured,
                      .p10 = forecast.p10,
                      .p90 = forecast.p90});
    for (const std::string& group : row.groups) by_group[group].push_back(scored.back());
  }
  Validation validation{.what = "device", .overall = score(scored), .jobs = score_by_job(scored)};
  validation.mean_over_jobs = mean_over(validation.jobs);
  for (const auto& [name, its] : by_group) validation.groups[name] = score(its);
  return validation;
}

std::vector<PredictionLine> lines_of(const Outcome& outcome,
                                     const std::vector<std::size_t>& numbers) {
  std::vector<PredictionLine> lines;
  for (std::size_t i = 0; i < outcome.rows.size(); ++i) {
    const DeviceForecast& it = outcome.forecasts[i];
    lines.push_back({.row = numbers[outcome.rows[i]],
                     .predicted = in_seconds(it.time),
                     .p10 = in_seconds(it.p10),
                     .p90 = in_seconds(it.p90),
                     .note = it.note});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const PredictionLine& a, const PredictionLine& b) { return a.row < b.row; });
  return lines;
}

Status check(const DeviceRequest& request, const DeviceTable& table) {
  const Status files = check_validation_files(request.train, request.test, request.split);
  if (!files.ok()) return files;
  const bool shipped = request.bundled && request.format == DeviceTableFormat::kNeusight;
  if (shipped && !request.split.empty()) {
    return bad_usage(
        "--calibration bundled and --split exclude each other: the shipped calibration may have "
        "been fitted to the rows that a split holds out");
  }
  const std::vector<std::string> names = table.baselines();
  const bool known = request.baseline.empty() ||
                     std::find(names.begin(), names.end(), request.baseline) != names.end();
  if (known) return {};
  return bad_usage(fmt::format("--baseline: the format {} has {}, not '{}'",
                               name_of(request.format), join(names, ", "),
                               printable(request.baseline)));
}

std::vector<std::string> notes_of(const DeviceRequest& request, const DeviceTable& table) {
  std::vector<std::string> notes = table.notes();
  for (const PriorFile& prior : request.priors) {
    if (prior.format == request.format) continue;
    notes.push_back(fmt::format("{} is not used: the model of {} tables does not learn from {}.",
                                printable(prior.file), name_of(request.format),
                                name_of(prior.format)));
  }
  if (request.bundled && request.format == DeviceTableFormat::kNeusight) {
    notes.push_back(
        "the shipped device model answers; NeuSight's published rows, to which it was fitted, do "
        "not test it.");
  } else if (request.bundled) {
    notes.push_back(
        fmt::format("no calibration of {} tables is shipped.", name_of(request.format)));
  }
  return notes;
}

/// The table of a request, which the shipped device model answers if that is asked for.
Result<std::unique_ptr<DeviceTable>> table_of(const DeviceRequest& request,
                                              const Catalog& catalog) {
  if (!request.bundled || request.format != DeviceTableFormat::kNeusight) {
    return make_device_table(request.format, catalog);
  }
  const auto shipped = load_calibration("device-model");
  if (!shipped.ok()) return shipped.error();
  const auto model = device_model(shipped->noun);
  if (!model.ok()) return model.error();
  std::unique_ptr<DeviceModelTable> table = make_neusight_table(catalog);
  table->answer_with(*model);
  return std::unique_ptr<DeviceTable>(std::move(table));
}

Result<std::vector<Fold>> folds_of(std::span<const DeviceRow> rows, const std::string& split) {
  if (split.empty()) return std::vector{test_fold(rows)};
  const auto parsed = parse_device_split(split);
  if (!parsed.ok()) return parsed.error();
  return split_folds(rows, *parsed);
}

}  // namespace

Result<ValidationReport> validate_device(const Environment& environment,
                                         const DeviceRequest& request) {
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  const auto made = table_of(request, catalog->noun);
  if (!made.ok()) return made.error();
  const std::unique_ptr<DeviceTable>& table = *made;
  const Status fine = check(request, *table);
  if (!fine.ok()) return fine.error();
  const Status read = add_files(*table, request);
  if (!read.ok()) return read.error();
  const auto folds = folds_of(table->rows(), request.split);
  if (!folds.ok()) return folds.error();

  ValidationReport report;
  std::vector<std::string> models = table->baselines();
  models.insert(models.begin(), "");
  for (const std::string& model : models) {
    if (request.alone && model != request.baseline) continue;
    const auto outcome = run_folds(*table, *folds, model);
    if (!outcome.ok()) return outcome.error();
    Validation validation = score_outcome(table->rows(), *outcome);
    if (!model.empty()) validation.baseline = model;
    if (!request.split.empty()) validation.split = request.split;
    if (model == request.baseline) {
      validation.notes = notes_of(request, *table);
      report.validation = std::move(validation);
      report.predictions = lines_of(*outcome, numbers_of(table->rows()));
    } else {
      report.beside.push_back(std::move(validation));
    }
  }
  return report;
}

std::vector<std::string> device_baseline_names() { return device_baselines(); }

}  // namespace stint
