#include "validate/validate_collective_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "calibrate/collectives/fabric_baselines.h"
#include "calibrate/collectives/fabric_fit.h"
#include "calibrate/score.h"
#include "load/catalog_cases.h"
#include "load/job_files.h"
#include "load/predict_inputs.h"

namespace stint {
namespace {

constexpr const char* kBundled = "bundled";
constexpr const char* kShippedName = "collectives";

// Sizes that the split "sizes" predicts, as without --format.
constexpr Bytes kTestFrom = 1 * kMiB;
constexpr Bytes kTestBelow = 64 * kMiB;
constexpr const char* kSizes = "sizes";

// Bands of "leave-one-size-out" are this many doublings wide.
constexpr double kBandDoublings = 2;

struct Row {
  CollectiveMeasurement measurement;
  CollectiveCase as_case;
};

using Key = std::string (*)(const Row&);

struct NamedKey {
  const char* split;
  const char* what;  // Of which a table must have two.
  Key key;
};

constexpr std::array<NamedKey, 6> kKeys{{
    {"leave-one-gpu-out", "GPU", [](const Row& it) { return it.measurement.gpu; }},
    {"leave-one-type-out", "VM type", [](const Row& it) { return it.measurement.vm_type; }},
    {"leave-one-collective-out", "collective",
     [](const Row& it) {
       // Of SimAI's tables two are rings.
       return it.measurement.format == CollectiveFormat::kSimai ? it.measurement.system
                                                                : it.measurement.collective;
     }},
    {"leave-one-cluster-size-out", "number of VMs",
     [](const Row& it) { return fmt::format("{:06}", it.measurement.vms); }},
    {"leave-one-gpu-count-out", "number of GPUs",
     [](const Row& it) {
       return fmt::format("{:06}", it.measurement.vms * it.measurement.workers_per_vm);
     }},
    {"leave-one-size-out", "size",
     [](const Row& it) {
       const double band = std::log2(it.measurement.stated.in(kByte)) / kBandDoublings;
       return fmt::format("{:03}", static_cast<int>(std::floor(band)));
     }},
}};

Result<std::vector<Row>> read_files(const std::vector<std::string>& files, CollectiveFormat format,
                                    const Catalog& catalog) {
  std::vector<Row> all;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    auto rows = read_collective_format(*text, file, format);
    if (!rows.ok()) return rows.error();
    for (CollectiveMeasurement& row : *rows) {
      CollectiveCase as_case = collective_case(row, catalog);
      all.push_back({.measurement = std::move(row), .as_case = std::move(as_case)});
    }
  }
  return all;
}

/// The rows of "FORMAT=FILE".
Result<std::vector<Row>> read_priors(const std::vector<std::string>& priors,
                                     const Catalog& catalog) {
  std::vector<Row> all;
  for (const std::string& text : priors) {
    const std::size_t equals = text.find('=');
    std::optional<CollectiveFormat> format;
    for (const auto& [value, name] : names_of(CollectiveFormat{})) {
      if (equals != std::string::npos && text.substr(0, equals) == name) format = value;
    }
    if (!format) {
      return bad_usage(
          fmt::format("--prior must be FORMAT=FILE with simai, ml-engineering, aceso, vtrain or "
                      "nccl as the format, not '{}'",
                      printable(text)));
    }
    auto rows = read_files({text.substr(equals + 1)}, *format, catalog);
    if (!rows.ok()) return rows.error();
    std::move(rows->begin(), rows->end(), std::back_inserter(all));
  }
  return all;
}

/// Folds over `rows`, which are the training rows for a split, else those and the test rows.
Result<std::vector<Fold>> folds_of(const std::string& split, std::span<const Row> rows,
                                   std::size_t train) {
  if (split.empty()) return std::vector{train_then_test(train, rows.size())};
  if (split == kSizes) {
    Fold fold;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Bytes size = rows[i].measurement.stated;
      (size >= kTestFrom && size < kTestBelow ? fold.test : fold.train).push_back(i);
    }
    return std::vector{fold};
  }
  for (const NamedKey& it : kKeys) {
    if (split != it.split) continue;
    std::vector<std::string> keys;
    for (const Row& row : rows) keys.push_back(it.key(row));
    std::vector<Fold> folds = leave_one_out(keys);
    if (folds.size() >= 2) return folds;
    return bad_usage(fmt::format("--split {} needs two of them in --train; the files have one {}",
                                 split, it.what));
  }
  return bad_usage(fmt::format("--split must be one of {}, not '{}'",
                               join(collective_splits(), ", "), printable(split)));
}

PredictionLine predict_row(const std::string& model, const FabricModel& ours,
                           std::span<const CollectiveCase> train, const CollectiveCase& it) {
  PredictionLine line;
  if (!it.note.empty()) {
    line.note = it.note;
    return line;
  }
  if (model.empty()) {
    const CollectiveValue value = value_of(it, ours.estimate(it));
    line.predicted = value.mean;
    line.p10 = value.p10;
    line.p90 = value.p90;
    return line;
  }
  const auto time = model == "line-rate"    ? std::optional(line_rate_time(it))
                    : model == "alpha-beta" ? alpha_beta_time(train, it)
                                            : nearest_size_time(train, it);
  if (time) {
    line.predicted = value_of(it, *time);
  } else {
    line.note = "there are too few training rows";
  }
  return line;
}

std::string group_of(const CollectiveCase& it) {
  return fmt::format("{} {} x {}", it.collective, it.fabric.vms, it.fabric.workers_per_vm);
}

struct Scorer {
  std::vector<Scored> by_system;
  std::vector<Scored> by_group;

  void add(const Row& row, const PredictionLine& line) {
    const CollectiveCase& it = row.as_case;
    if (!it.value) return;
    const auto number = [](const std::optional<double>& value) {
      return value ? std::optional(*value * kSecond) : std::nullopt;
    };
    Scored scored{.job = row.measurement.system,
                  .predicted = number(line.predicted),
                  .measured = *it.value * kSecond,
                  .p10 = number(line.p10),
                  .p90 = number(line.p90)};
    by_system.push_back(scored);
    scored.job = group_of(it);
    by_group.push_back(scored);
  }

  Validation validation() const {
    Validation it{.what = "collective"};
    it.overall = score(by_system);
    it.jobs = score_by_job(by_system);
    it.mean_over_jobs = mean_over(it.jobs);
    it.groups = score_by_job(by_group);
    return it;
  }
};

Status check_request(const CollectiveTablesRequest& request) {
  const std::vector<std::string> baselines = collective_baselines();
  if (!request.baseline.empty() &&
      std::find(baselines.begin(), baselines.end(), request.baseline) == baselines.end()) {
    return bad_usage(fmt::format("--baseline must be one of {} with --format, not '{}'",
                                 join(baselines, ", "), printable(request.baseline)));
  }
  if (!request.calibration.empty() && !request.split.empty()) {
    return bad_usage(
        "--calibration and --split exclude each other: the shipped constants have seen the rows "
        "that a split leaves out");
  }
  // With constants, there may be nothing to learn.
  if (!request.calibration.empty() && request.train.empty() && !request.test.empty()) return {};
  return check_validation_files(request.train, request.test, request.split);
}

Result<std::optional<Calibration>> constants_of(const std::string& name) {
  if (name.empty()) return std::optional<Calibration>();
  auto loaded = load_calibration(name == kBundled ? kShippedName : name);
  if (!loaded.ok()) return loaded.error();
  const auto law = collective_law(loaded->noun);
  if (!law.ok()) return law.error();
  return std::optional(std::move(loaded->noun));
}

/// Rows of the test or training files, and of the priors.
struct Rows {
  std::vector<Row> scored;  // Training rows, then test rows.
  std::size_t train = 0;
  std::vector<CollectiveCase> priors;
};

Result<Rows> read_all(const CollectiveTablesRequest& request, const Catalog& catalog) {
  auto train = read_files(request.train, request.format, catalog);
  if (!train.ok()) return train.error();
  auto test = read_files(request.test, request.format, catalog);
  if (!test.ok()) return test.error();
  auto priors = read_priors(request.priors, catalog);
  if (!priors.ok()) return priors.error();
  Rows rows{.scored = std::move(*train)};
  rows.train = rows.scored.size();
  std::move(test->begin(), test->end(), std::back_inserter(rows.scored));
  for (Row& row : *priors) rows.priors.push_back(std::move(row.as_case));
  return rows;
}

}  // namespace

std::vector<std::string> collective_splits() {
  std::vector<std::string> names;
  for (const NamedKey& it : kKeys) names.emplace_back(it.split);
  names.emplace_back(kSizes);
  return names;
}

std::vector<std::string> collective_baselines() {
  return {"line-rate", "alpha-beta", "nearest-size"};
}

Result<ValidationReport> validate_collective_tables(const Environment& environment,
                                                    const CollectiveTablesRequest& request) {
  const Status fine = check_request(request);
  if (!fine.ok()) return fine.error();
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  const auto constants = constants_of(request.calibration);
  if (!constants.ok()) return constants.error();
  const auto rows = read_all(request, catalog->noun);
  if (!rows.ok()) return rows.error();
  const auto folds = folds_of(request.split, rows->scored, rows->train);
  if (!folds.ok()) return folds.error();

  std::vector<std::string> models = collective_baselines();
  models.insert(models.begin(), "");
  std::vector<Scorer> scorers(models.size());
  ValidationReport report;
  for (const Fold& fold : *folds) {
    std::vector<CollectiveCase> train = rows->priors;
    for (const std::size_t i : fold.train) train.push_back(rows->scored[i].as_case);
    const auto ours = FabricModel::fit(train, *constants ? &**constants : nullptr);
    if (!ours.ok()) return ours.error();
    for (const std::size_t i : fold.test) {
      const CollectiveCase& it = rows->scored[i].as_case;
      for (std::size_t m = 0; m < models.size(); ++m) {
        PredictionLine line = predict_row(models[m], *ours, train, it);
        scorers[m].add(rows->scored[i], line);
        if (models[m] != request.baseline) continue;
        line.row = request.split.empty() ? i - rows->train : i;
        report.predictions.push_back(std::move(line));
      }
    }
  }
  std::sort(report.predictions.begin(), report.predictions.end(),
            [](const PredictionLine& a, const PredictionLine& b) { return a.row < b.row; });
  for (std::size_t m = 0; m < models.size(); ++m) {
    Validation validation = scorers[m].validation();
    if (!models[m].empty()) validation.baseline = models[m];
    if (!request.split.empty()) validation.split = request.split;
    if (models[m] == request.baseline) {
      report.validation = std::move(validation);
    } else {
      report.beside.push_back(std::move(validation));
    }
  }
  return report;
}

}  // namespace stint
