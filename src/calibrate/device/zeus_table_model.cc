#include "calibrate/device/zeus_table_model.h"

#include <cmath>
#include <fmt/format.h>
#include <map>

#include "base/text.h"
#include "calibrate/device/carried_row.h"
#include "catalog/gpu_spelling.h"
#include "measure/tables/zeus_table.h"

namespace stint {
namespace {

class ZeusTable final : public DeviceTable {
 public:
  explicit ZeusTable(const Catalog& catalog) : catalog_(catalog) {}

  Status add(const Csv& csv, const std::string& source, TableRole role) override {
    if (is_zeus_targets(csv)) {
      notes_.push_back(
          fmt::format("{} has epochs to a target and no times; it is not used.", source));
      return {};
    }
    const auto read = read_zeus_epochs(csv);
    if (!read.ok()) return read.error();
    for (const ZeusRow& row : *read) add_row(row, role);
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
        it.time = std::exp(*log_time) * kSecond;
      } else {
        it.note = fmt::format("no training row has the workload {}", printable(rows_[i].job));
      }
    }
    return forecasts;
  }

 private:
  void add_row(const ZeusRow& row, TableRole role) {
    const Gpu* gpu = find_spelled_gpu(catalog_, row.gpu);
    const std::string job = fmt::format("{} {} {}", row.dataset, row.network, row.optimizer);
    DeviceRow common{.role = role,
                     .gpu = row.gpu,
                     .family = row.network,
                     .job = job,
                     .groups = {row.gpu},
                     .measured = row.epoch};
    if (gpu == nullptr || !gpu->fp32 || !gpu->memory_bandwidth) {
      common.unusable =
          fmt::format("the catalogue has no figures of the GPU {}", printable(row.gpu));
    }
    double& largest = power_max_[row.gpu];
    largest = std::max(largest, row.power_limit_w);
    rows_.push_back(std::move(common));
    zeus_.push_back(row);
    gpus_.push_back(gpu);
  }

  CarriedRow carried(std::size_t i) const {
    const ZeusRow& row = zeus_[i];
    return {.job = rows_[i].job,
            .gpu = gpus_[i],
            .peak = *gpus_[i]->fp32,
            .bandwidth = *gpus_[i]->memory_bandwidth,
            .batch = row.batch,
            .power = row.power_limit_w / power_max_.at(row.gpu),
            .log_time = row.epoch ? std::log(row.epoch->in(kSecond)) : 0};
  }

  const Catalog& catalog_;
  std::vector<DeviceRow> rows_;
  std::vector<ZeusRow> zeus_;
  std::vector<const Gpu*> gpus_;
  std::map<std::string, double> power_max_;
  std::vector<std::string> notes_;
};

}  // namespace

std::unique_ptr<DeviceTable> make_zeus_table(const Catalog& catalog) {
  return std::make_unique<ZeusTable>(catalog);
}

}  // namespace stint
