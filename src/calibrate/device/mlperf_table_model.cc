#include "calibrate/device/mlperf_table_model.h"

#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "calibrate/device/carried_row.h"
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
    std::vector<CarriedRow> known;
    for (const std::size_t i : fold.train) {
      if (rows_[i].measured && rows_[i].unusable.empty()) known.push_back(carried(i));
    }
    const CarriedBy by = carried_by(model.empty() ? "peak-flops" : model);
    std::vector<DeviceForecast> forecasts;
    for (const std::size_t i : fold.test) {
      DeviceForecast& it = forecasts.emplace_back();
      it.note = rows_[i].unusable;
      if (!it.note.empty()) continue;
      const auto log_time = carried_log_time(known, carried(i), by);
      if (log_time) {
        it.time = std::exp(*log_time) * per_accelerator(i) * kSecond;
      } else {
        it.note = fmt::format("no training row has the benchmark {}", printable(rows_[i].job));
      }
    }
    return forecasts;
  }

 private:
  void add_row(const MlperfRow& row, TableRole role) {
    const Gpu* gpu = find_spelled_gpu(catalog_, row.accelerator);
    if (gpu == nullptr) gpu = find_spelled_gpu(catalog_, row.gpu);
    rows_.push_back({.role = role,
                     .gpu = row.gpu,
                     .family = row.benchmark,
                     .job = row.benchmark,
                     .groups = {row.gpu},
                     .measured = row.step,
                     .unusable = unusable_reason(row, gpu)});
    mlperf_.push_back(row);
    gpus_.push_back(gpu);
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
