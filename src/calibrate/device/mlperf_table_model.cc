#include "calibrate/device/mlperf_table_model.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "calibrate/device/carried_row.h"
#include "calibrate/device/interval_scale.h"
#include "calibrate/device/mlperf_effects.h"
#include "calibrate/score.h"
#include "catalog/gpu_spelling.h"
#include "measure/tables/mlperf_clusters.h"

namespace stint {
namespace {

/// Why no model is about the row; empty when one is.
std::string unusable_reason(const MlperfRow& row, const Gpu* gpu) {
  if (!is_one_node(row)) return "the row is of several machines; only one is predicted";
  if (!row.accelerators) return "the row has no accelerators";
  if (!row.global_batch) return "the row has no global_batch";
  if (gpu == nullptr || !gpu->fp16 || !gpu->memory_bandwidth) {
    return fmt::format("the catalogue has no figures of the accelerator {}",
                       printable(row.accelerator));
  }
  return "";
}

/// "H100" for all forms of it. The table's own short names take an L40 for an L4.
std::string short_name(const MlperfRow& row) {
  std::string name = read_gpu_spelling(row.accelerator).model;
  if (name.empty()) return row.gpu;
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

/// Rounds are half a year apart: v2.1 is 0, v3.0 is 1, v4.1 is 4. A name of another form counts as
/// the middle one.
double round_number(std::string_view round) {
  constexpr double kMiddle = 2;
  const std::vector<std::string> parts = split(round.substr(round.starts_with("v") ? 1 : 0), '.');
  if (parts.size() != 2) return kMiddle;
  const auto major = parse_int(parts[0]);
  const auto minor = parse_int(parts[1]);
  return major && minor ? 2.0 * *major + *minor - 5 : kMiddle;
}

class MlperfTable final : public DeviceTable {
 public:
  explicit MlperfTable(const Catalog& catalog) : catalog_(catalog) {}

  Status add(const Csv& csv, const std::string& source, TableRole role) override {
    if (is_mlperf_runs(csv)) {
      notes_.push_back(fmt::format("{} has times to train and no rates; it is not used.", source));
      return {};
    }
    const auto read = read_mlperf_clusters(csv);
    if (!read.ok()) return read.error();
    for (const MlperfRow& row : *read) add_row(row, role);
    return {};
  }

  std::span<const DeviceRow> rows() const override { return rows_; }
  std::vector<std::string> baselines() const override { return carried_baselines(); }
  std::vector<std::string> notes() const override { return notes_; }

  Result<std::vector<DeviceForecast>> forecast(const Fold& fold,
                                               std::string_view model) const override {
    std::vector<std::size_t> known;
    for (const std::size_t i : fold.train) {
      if (rows_[i].measured && rows_[i].unusable.empty()) known.push_back(i);
    }
    if (known.empty()) return bad_input("no training row is of one machine and has a time");
    return model.empty() ? forecast_ours(known, fold.test)
                         : forecast_carried(known, fold.test, carried_by(model));
  }

 private:
  void add_row(const MlperfRow& row, TableRole role) {
    const Gpu* gpu = find_spelled_gpu(catalog_, row.accelerator);
    if (row.accelerator.empty()) gpu = find_spelled_gpu(catalog_, row.gpu);
    const std::string name = short_name(row);
    rows_.push_back({.role = role,
                     .gpu = name,
                     .family = row.benchmark,
                     .job = row.benchmark,
                     .groups = {name},
                     .measured = row.step,
                     .unusable = unusable_reason(row, gpu)});
    mlperf_.push_back(row);
    gpus_.push_back(gpu);
  }

  using Rows = std::vector<std::size_t>;

  std::vector<DeviceForecast> forecast_carried(const Rows& known, const Rows& test,
                                               CarriedBy by) const {
    std::vector<CarriedRow> carried_rows;
    for (const std::size_t i : known) carried_rows.push_back(carried(i));
    std::vector<DeviceForecast> forecasts;
    for (const std::size_t i : test) {
      DeviceForecast& it = forecasts.emplace_back(DeviceForecast{.note = rows_[i].unusable});
      if (!it.note.empty()) continue;
      const auto log_time = carried_log_time(carried_rows, carried(i), by);
      if (log_time) {
        it.time = std::exp(*log_time) * per_accelerator(i) * kSecond;
      } else {
        it.note = no_benchmark(i);
      }
    }
    return forecasts;
  }

  std::vector<DeviceForecast> forecast_ours(const Rows& known, const Rows& test) const {
    const auto usual = usual_batches(known);
    const BenchmarkTimes times = BenchmarkTimes::fit(points_of(known, usual));
    std::set<std::string> architectures;
    for (const std::size_t i : known) architectures.insert(architecture_of(i));
    const IntervalScales of_gpus =
        left_out_scales(known, usual, [&](std::size_t i) { return rows_[i].gpu; });
    const IntervalScales of_architectures =
        left_out_scales(known, usual, [&](std::size_t i) { return architecture_of(i); });
    std::vector<DeviceForecast> forecasts;
    for (const std::size_t i : test) {
      DeviceForecast& it = forecasts.emplace_back(DeviceForecast{.note = rows_[i].unusable});
      if (!it.note.empty()) continue;
      if (!usual.contains(rows_[i].job)) {
        it.note = no_benchmark(i);
        continue;
      }
      const LogEstimate estimate = times.estimate(point_of(i, usual));
      const bool seen = architectures.contains(architecture_of(i));
      const double scale = (seen ? of_gpus : of_architectures).of(rows_[i].job);
      const double reach = kInterval80 * scale * estimate.deviation;
      it.time = std::exp(estimate.mean) * per_accelerator(i) * kSecond;
      it.p10 = std::exp(estimate.mean - reach) * per_accelerator(i) * kSecond;
      it.p90 = std::exp(estimate.mean + reach) * per_accelerator(i) * kSecond;
      if (!seen) {
        it.note = fmt::format("unvalidated: no training row is of the architecture {}",
                              printable(architecture_of(i)));
      }
    }
    return forecasts;
  }

  using UnitOf = std::function<std::string(std::size_t row)>;

  /// What makes intervals of an unseen unit hold: each unit of the training rows is predicted from
  /// the others.
  IntervalScales left_out_scales(const Rows& known, const std::map<std::string, double>& usual,
                                 const UnitOf& unit_of) const {
    constexpr int kFewRows = 5;  // Of a unit; they say little and cost a fit.
    std::map<std::string, int> units;
    for (const std::size_t i : known) ++units[unit_of(i)];
    IntervalScales scales;
    for (const auto& [unit, count] : units) {
      if (count < kFewRows) continue;
      Rows train;
      Rows rest;
      for (const std::size_t i : known) (unit_of(i) == unit ? rest : train).push_back(i);
      if (train.empty()) continue;
      const BenchmarkTimes times = BenchmarkTimes::fit(points_of(train, usual));
      for (const std::size_t i : rest) {
        const BenchmarkPoint point = point_of(i, usual);
        const LogEstimate estimate = times.estimate(point);
        scales.add(unit, point.benchmark, (point.log_time - estimate.mean) / estimate.deviation);
      }
    }
    return scales;
  }

  std::string architecture_of(std::size_t i) const { return gpus_[i]->architecture.value_or(""); }

  std::string no_benchmark(std::size_t i) const {
    return fmt::format("no training row has the benchmark {}", printable(rows_[i].job));
  }

  /// The median batch per accelerator of each benchmark.
  std::map<std::string, double> usual_batches(const Rows& known) const {
    std::map<std::string, std::vector<double>> batches;
    for (const std::size_t i : known) batches[rows_[i].job].push_back(per_accelerator(i));
    std::map<std::string, double> usual;
    for (auto& [job, its] : batches) {
      std::sort(its.begin(), its.end());
      usual[job] = quantile(its, 0.5);
    }
    return usual;
  }

  BenchmarkPoint point_of(std::size_t i, const std::map<std::string, double>& usual) const {
    const MlperfRow& row = mlperf_[i];
    const double batch = per_accelerator(i);
    return {.benchmark = row.benchmark,
            .submitter = row.submitter,
            .gpu = gpus_[i],
            .round = round_number(row.round),
            .batch = batch,
            .batch_usual = usual.at(rows_[i].job),
            .log_time = row.step ? std::log(row.step->in(kSecond) / batch) : 0};
  }

  std::vector<BenchmarkPoint> points_of(const Rows& known,
                                        const std::map<std::string, double>& usual) const {
    std::vector<BenchmarkPoint> points;
    for (const std::size_t i : known) points.push_back(point_of(i, usual));
    return points;
  }

  double per_accelerator(std::size_t i) const {
    return *mlperf_[i].global_batch / *mlperf_[i].accelerators;
  }

  CarriedRow carried(std::size_t i) const {
    const MlperfRow& row = mlperf_[i];
    const double batch = per_accelerator(i);
    return {.job = rows_[i].job,
            .gpu = gpus_[i],
            .peak = *gpus_[i]->fp16,
            .bandwidth = *gpus_[i]->memory_bandwidth,
            .batch = batch,
            .log_time = row.step ? std::log(row.step->in(kSecond) / batch) : 0};
  }

  const Catalog& catalog_;
  std::vector<DeviceRow> rows_;
  std::vector<MlperfRow> mlperf_;
  std::vector<const Gpu*> gpus_;
  std::vector<std::string> notes_;
};

}  // namespace

std::unique_ptr<DeviceTable> make_mlperf_table(const Catalog& catalog) {
  return std::make_unique<MlperfTable>(catalog);
}

}  // namespace stint
