#include "validate/validate_survival.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "calibrate/score.h"
#include "risk/hazard_fit.h"
#include "validate/row_files.h"

namespace stint {
namespace {

constexpr double kHorizonHours[] = {1, 3, 6, 12, 24};
constexpr int kZoneMachines = 100;
constexpr const char* kSmallZones = "small zones";

/// The key by which rows are grouped.
Result<std::vector<std::string>> keys_of(const std::vector<Lifetime>& rows,
                                         const std::string& split) {
  std::map<std::string, int> zones;
  for (const Lifetime& it : rows) ++zones[it.zone];
  std::vector<std::string> keys;
  for (const Lifetime& it : rows) {
    const bool small = zones[it.zone] < kZoneMachines;
    keys.push_back(split == "providers" ? it.provider : small ? kSmallZones : it.zone);
  }
  const bool one = std::all_of(keys.begin(), keys.end(),
                               [&](const std::string& key) { return key == keys.front(); });
  if (one) {
    return bad_input(fmt::format(
        "the training files have one group of {} only, so none is left to learn from; give --test",
        split));
  }
  return keys;
}

std::vector<Lifetime> picked(const std::vector<Lifetime>& rows,
                             const std::vector<std::size_t>& which) {
  std::vector<Lifetime> some;
  some.reserve(which.size());
  for (const std::size_t i : which) some.push_back(rows[i]);
  return some;
}

/// The quantile of the lifetime of machines, if all machines end at some time.
std::optional<double> lifetime_quantile(const Hazard& hazard, double share) {
  const double seconds = hazard.age_at(-std::log1p(-share)).in(kSecond);
  return std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
}

void fill(PredictionLine& line, const Hazard& hazard) {
  line.predicted = lifetime_quantile(hazard, 0.5);
  line.p10 = lifetime_quantile(hazard, 0.1);
  line.p90 = lifetime_quantile(hazard, 0.9);
  if (!line.predicted) line.note = "no machine of the training rows was lost";
}

struct Predicted {
  SurvivalGroup group;
  std::vector<PredictionLine> ours;
  std::vector<PredictionLine> exponential;
};

Predicted predict_fold(const std::vector<Lifetime>& rows, const Fold& fold, std::string name) {
  const std::vector<Lifetime> train = picked(rows, fold.train);
  const std::vector<Lifetime> test = picked(rows, fold.test);
  const HazardFit fit = fit_hazard(train);
  const Hazard hazard = hazard_of(fit, test);
  const Hazard constant = fit_exponential(train);
  const KaplanMeier measured(test);
  Predicted predicted{.group = {.name = std::move(name),
                                .machines = measured.machines(),
                                .losses = measured.losses(),
                                .machines_train = KaplanMeier(train).machines(),
                                .losses_train = fit.losses,
                                .horizons = {}},
                      .ours = {},
                      .exponential = {}};
  for (const double hours : kHorizonHours) {
    const Seconds age = hours * kHour;
    predicted.group.horizons.push_back({.age = age,
                                        .predicted = hazard.survival(age),
                                        .exponential = constant.survival(age),
                                        .measured = measured.at(age)});
  }
  std::map<std::pair<std::string, std::string>, Hazard> known;
  for (std::size_t i = 0; i < test.size(); ++i) {
    const auto kind = std::pair(kind_of(test[i]), test[i].zone);
    if (known.count(kind) == 0) known.emplace(kind, hazard_of(fit, std::span(&test[i], 1)));
    PredictionLine line{.row = fold.test[i], .predicted = {}, .p10 = {}, .p90 = {}};
    fill(line, known.at(kind));
    predicted.ours.push_back(line);
    fill(line, constant);
    predicted.exponential.push_back(std::move(line));
  }
  return predicted;
}

Score score_of(std::vector<double> errors, int skipped) {
  Score score{.n = static_cast<int>(errors.size()), .skipped = skipped};
  if (errors.empty()) return score;
  std::sort(errors.begin(), errors.end());
  for (const double it : errors) score.mape += it / static_cast<double>(errors.size());
  score.median_ape = quantile(errors, 0.5);
  score.p90_ape = quantile(errors, 0.9);
  return score;
}

Validation scored(const std::vector<SurvivalGroup>& groups, const SurvivalRequest& request,
                  double SurvivalHorizon::*model) {
  Validation validation{.what = "survival"};
  std::vector<double> all;
  int all_skipped = 0;
  for (const SurvivalGroup& group : groups) {
    std::vector<double> errors;
    int skipped = 0;
    for (const SurvivalHorizon& it : group.horizons) {
      if (it.measured) {
        errors.push_back(std::abs(it.*model - it.measured->share));
      } else {
        ++skipped;
      }
    }
    all.insert(all.end(), errors.begin(), errors.end());
    all_skipped += skipped;
    validation.jobs[group.name] = score_of(std::move(errors), skipped);
  }
  validation.overall = score_of(std::move(all), all_skipped);
  validation.mean_over_jobs = mean_over(validation.jobs);
  if (!request.split.empty()) validation.split = request.split;
  validation.notes.emplace_back(
      "Errors are |predicted - measured| of the share of machines alive at 1, 3, 6, 12 and 24 h; "
      "the measured share is the Kaplan-Meier estimate, a loss between two observations counts at "
      "the middle, and Google's limit of 24 h is no loss.");
  return validation;
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json groups_json(const std::vector<SurvivalGroup>& groups) {
  Json::Array list;
  for (const SurvivalGroup& group : groups) {
    Json::Array horizons;
    for (const SurvivalHorizon& it : group.horizons) {
      const auto& measured = it.measured;
      Json horizon;
      horizon.add("hours", Json(it.age.in(kHour)));
      horizon.add("predicted", Json(it.predicted));
      horizon.add("exponential", Json(it.exponential));
      horizon.add("measured",
                  number_or_null(measured ? std::optional(measured->share) : std::nullopt));
      horizon.add("low", number_or_null(measured ? std::optional(measured->low) : std::nullopt));
      horizon.add("high", number_or_null(measured ? std::optional(measured->high) : std::nullopt));
      horizons.push_back(std::move(horizon));
    }
    Json entry;
    entry.add("name", Json(group.name));
    entry.add("machines", Json(group.machines));
    entry.add("losses", Json(group.losses));
    entry.add("train_machines", Json(group.machines_train));
    entry.add("train_losses", Json(group.losses_train));
    entry.add("horizons", Json(std::move(horizons)));
    list.push_back(std::move(entry));
  }
  return Json(std::move(list));
}

}  // namespace

Result<SurvivalReport> validate_survival(const SurvivalRequest& request) {
  const Status files = check_validation_files(request.train, request.test, request.split);
  if (!files.ok()) return files.error();
  auto rows = rows_of_files<Lifetime>(request.train, read_lifetimes);
  if (!rows.ok()) return rows.error();
  const auto test = rows_of_files<Lifetime>(request.test, read_lifetimes);
  if (!test.ok()) return test.error();
  if (rows->empty()) return bad_input("the training files have no lifetimes");
  const std::size_t learned = rows->size();
  rows->insert(rows->end(), test->begin(), test->end());

  std::vector<Fold> folds{train_then_test(learned, rows->size())};
  std::vector<std::string> keys(rows->size(), "test rows");
  if (!request.split.empty()) {
    auto groups = keys_of(*rows, request.split);
    if (!groups.ok()) return groups.error();
    keys = std::move(*groups);
    folds = leave_one_out(keys);
  }
  SurvivalReport report;
  std::vector<PredictionLine> lines;
  for (const Fold& fold : folds) {
    if (fold.test.empty()) return bad_input("the test files have no rows");
    Predicted predicted = predict_fold(*rows, fold, keys[fold.test.front()]);
    report.groups.push_back(std::move(predicted.group));
    auto& wanted = request.exponential ? predicted.exponential : predicted.ours;
    lines.insert(lines.end(), wanted.begin(), wanted.end());
  }
  std::sort(lines.begin(), lines.end(),
            [](const PredictionLine& a, const PredictionLine& b) { return a.row < b.row; });
  for (PredictionLine& line : lines) line.row -= request.split.empty() ? learned : 0;

  Validation ours = scored(report.groups, request, &SurvivalHorizon::predicted);
  Validation constant = scored(report.groups, request, &SurvivalHorizon::exponential);
  constant.baseline = "exponential";
  if (request.exponential) std::swap(ours, constant);
  ours.unknown.emplace_back("survival", groups_json(report.groups));
  report.scores = {std::move(ours), {std::move(constant)}, std::move(lines)};
  return report;
}

}  // namespace stint
