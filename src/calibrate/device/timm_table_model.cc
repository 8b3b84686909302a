#include "calibrate/device/timm_table_model.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "calibrate/device/shape_fit.h"
#include "calibrate/score.h"
#include "catalog/gpu_spelling.h"
#include "measure/tables/timm_table.h"

namespace stint {
namespace {

constexpr const char* kTwoConstants = "two-constants";
constexpr std::size_t kInnerFolds = 5;     // Groups of families that are held out for intervals.
constexpr std::size_t kFewResiduals = 20;  // With fewer there is no interval.

/// Rows that one fit is about.
struct Condition {
  std::string mode;
  std::string layout;
  std::string gpu;
  std::string torch;

  auto operator<=>(const Condition&) const = default;
};

Condition condition_of(const TimmRow& row) { return {row.mode, row.layout, row.gpu, row.torch}; }

/// A fit and the logarithms of measured over predicted seconds: of families that were held out,
/// and the mean of each model that was fitted.
struct ConditionFit {
  ShapeFit fit;
  std::vector<double> residuals;  // Sorted.
  std::map<std::string, double> models;
};

/// A training row of a condition.
struct Known {
  std::string model;
  std::string family;
  ShapeSample sample;
};

std::vector<ShapeSample> samples_of(const std::vector<Known>& rows) {
  std::vector<ShapeSample> samples;
  for (const Known& row : rows) samples.push_back(row.sample);
  return samples;
}

std::vector<double> left_out_residuals(const std::vector<Known>& rows) {
  std::map<std::string, std::size_t> group;
  for (const Known& row : rows) group.emplace(row.family, 0);
  std::size_t next = 0;
  for (auto& [family, number] : group) number = next++ % kInnerFolds;
  std::vector<double> residuals;
  for (std::size_t k = 0; k < std::min(kInnerFolds, group.size()); ++k) {
    std::vector<Known> train;
    for (const Known& row : rows) {
      if (group.at(row.family) != k) train.push_back(row);
    }
    const auto fit = ShapeFit::fit(samples_of(train));
    if (!fit.ok()) continue;
    for (const Known& row : rows) {
      if (group.at(row.family) != k) continue;
      residuals.push_back(std::log(row.sample.seconds) - fit->log_seconds(row.sample));
    }
  }
  std::sort(residuals.begin(), residuals.end());
  return residuals;
}

Result<ConditionFit> fit_condition(const std::vector<Known>& rows, bool ours) {
  const auto fit = ShapeFit::fit(samples_of(rows));
  if (!fit.ok()) return fit.error();
  ConditionFit found{.fit = *fit, .residuals = {}, .models = {}};
  if (!ours) return found;
  found.residuals = left_out_residuals(rows);
  std::map<std::string, int> counts;
  for (const Known& row : rows) {
    double& mean = found.models[row.model];
    const double residual = std::log(row.sample.seconds) - fit->log_seconds(row.sample);
    mean += (residual - mean) / ++counts[row.model];
  }
  return found;
}

/// Constants of another accelerator: arithmetic by peak, memory by bandwidth.
TwoConstants carried_over(const TwoConstants& constants, const Gpu& from, const Gpu& to) {
  return {
      .per_gmac = constants.per_gmac * (*from.fp16 / *to.fp16),
      .per_activation = constants.per_activation * (*from.memory_bandwidth / *to.memory_bandwidth)};
}

bool has_figures(const Gpu* gpu) {
  return gpu != nullptr && gpu->fp16.has_value() && gpu->memory_bandwidth.has_value();
}

class TimmTable final : public DeviceTable {
 public:
  explicit TimmTable(const Catalog& catalog) : catalog_(catalog) {}

  Status add(const Csv& csv, const std::string& source, TableRole role) override {
    if (!is_timm_table(csv)) {
      return bad_input(source +
                       ": its header has none of the columns gmacs_forward (training) and gmacs "
                       "with mode (inference), so it is not a table of timm");
    }
    const auto read = read_timm_table(csv);
    if (!read.ok()) return read.error();
    for (const TimmRow& row : *read) {
      const std::string family = timm_family(row.model);
      rows_.push_back({.role = role,
                       .gpu = row.gpu,
                       .family = family,
                       .job = family,
                       .groups = {fmt::format("{} {} {}", row.mode, row.gpu, row.layout)},
                       .measured = row.step});
      timm_.push_back(row);
      if (row.gmacs && row.activations_m) shapes_[row.model].emplace(row.image_size, row);
    }
    return {};
  }

  std::span<const DeviceRow> rows() const override { return rows_; }
  std::vector<std::string> baselines() const override { return {kTwoConstants}; }

  Result<std::vector<DeviceForecast>> forecast(const Fold& fold,
                                               std::string_view model) const override {
    const auto known = known_rows(fold);
    if (known.empty()) return bad_input("no training row has a time, GMACs and activations");
    std::map<Condition, ConditionFit> fits;
    std::vector<DeviceForecast> forecasts;
    for (const std::size_t i : fold.test) {
      const auto sample = sample_of(timm_[i]);
      if (!sample) {
        forecasts.emplace_back().note =
            "the table has no GMACs and activations of the model at any image size";
        continue;
      }
      const auto& [condition, rows] = nearest(known, condition_of(timm_[i]));
      const auto found = fits.find(condition);
      if (found == fits.end()) {
        auto fit = fit_condition(rows, model != kTwoConstants);
        if (!fit.ok()) return fit.error();
        fits.emplace(condition, std::move(*fit));
      }
      forecasts.push_back(predict(timm_[i], *sample, condition, fits.at(condition), model));
    }
    return forecasts;
  }

 private:
  using KnownRows = std::map<Condition, std::vector<Known>>;

  /// The shape of a row. Where the table does not state it, that of the same model at the nearest
  /// image size: arithmetic and activations of an image grow with its area.
  std::optional<ShapeSample> sample_of(const TimmRow& row) const {
    ShapeSample sample{.parameters_m = row.parameters_m,
                       .image_size = row.image_size,
                       .batch = row.batch,
                       .seconds = row.step ? row.step->in(kSecond) / row.batch : 1};
    const TimmRow* shape = &row;
    if (!row.gmacs || !row.activations_m) {
      const auto found = shapes_.find(row.model);
      if (found == shapes_.end()) return std::nullopt;
      const auto distance = [&](const auto& it) {
        return std::abs(std::log(it.first / row.image_size));
      };
      const auto closest =
          std::min_element(found->second.begin(), found->second.end(),
                           [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
      shape = &closest->second;
    }
    const double side = row.image_size / shape->image_size;
    sample.gmacs = *shape->gmacs * side * side;
    sample.activations_m = *shape->activations_m * side * side;
    return sample;
  }

  KnownRows known_rows(const Fold& fold) const {
    KnownRows known;
    for (const std::size_t i : fold.train) {
      const TimmRow& row = timm_[i];
      if (!row.step || !row.gmacs || !row.activations_m) continue;
      known[condition_of(row)].push_back(
          {.model = row.model, .family = rows_[i].family, .sample = *sample_of(row)});
    }
    return known;
  }

  /// The rows of the same mode and layout before those of the same GPU and version; training is
  /// farther from inference than one mode of inference from another.
  static const KnownRows::value_type& nearest(const KnownRows& known, const Condition& wanted) {
    const auto distance = [&](const KnownRows::value_type& it) {
      return std::tuple((it.first.mode == "train") != (wanted.mode == "train"),
                        it.first.mode != wanted.mode, it.first.layout != wanted.layout,
                        it.first.gpu != wanted.gpu, it.first.torch != wanted.torch);
    };
    return *std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
      return distance(a) < distance(b);
    });
  }

  DeviceForecast predict(const TimmRow& row, const ShapeSample& sample, const Condition& condition,
                         const ConditionFit& its, std::string_view model) const {
    const bool training = row.mode == "train";
    if (training != (condition.mode == "train")) {
      return {.note = fmt::format("no training row is of {}", training ? "training" : "inference")};
    }
    TwoConstants constants = its.fit.constants();
    std::string note;
    if (condition.gpu != row.gpu) {
      const Gpu* from = find_spelled_gpu(catalog_, condition.gpu);
      const Gpu* to = find_spelled_gpu(catalog_, row.gpu);
      if (!has_figures(from) || !has_figures(to)) {
        return {.note = fmt::format("the catalogue has no figures of the GPU {}",
                                    printable(has_figures(to) ? condition.gpu : row.gpu))};
      }
      constants = carried_over(constants, *from, *to);
      note = fmt::format("carried over from {}", printable(condition.gpu));
    }
    if (model == kTwoConstants) {
      return {.time = row.batch * constants.seconds(sample) * kSecond, .note = note};
    }
    double log_time = std::log(row.batch) + its.fit.log_seconds(sample, constants);
    // What is known of the model itself, elsewhere or at another size, corrects its shape.
    const auto own = its.models.find(row.model);
    if (own != its.models.end()) log_time += own->second;
    if (condition.mode != row.mode) {
      note = fmt::format("no training row is of the mode {}", printable(row.mode));
    }
    DeviceForecast forecast{.time = std::exp(log_time) * kSecond, .note = note};
    if (its.residuals.size() >= kFewResiduals) {
      forecast.p10 = std::exp(log_time + quantile(its.residuals, 0.1)) * kSecond;
      forecast.p90 = std::exp(log_time + quantile(its.residuals, 0.9)) * kSecond;
    }
    return forecast;
  }

  const Catalog& catalog_;
  std::vector<DeviceRow> rows_;
  std::vector<TimmRow> timm_;
  std::map<std::string, std::map<double, TimmRow>> shapes_;  // By model and image size.
};

}  // namespace

std::unique_ptr<DeviceTable> make_timm_table(const Catalog& catalog) {
  return std::make_unique<TimmTable>(catalog);
}

}  // namespace stint
