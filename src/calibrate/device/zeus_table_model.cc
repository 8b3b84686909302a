#include "calibrate/device/zeus_table_model.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "base/text.h"
#include "calibrate/device/carried_row.h"
#include "calibrate/device/epoch_effects.h"
#include "calibrate/device/interval_scale.h"
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
    std::vector<std::size_t> known;
    for (const std::size_t i : fold.train) {
      if (rows_[i].measured && rows_[i].unusable.empty()) known.push_back(i);
    }
    if (known.empty()) return bad_input("no training row has a time");
    return model.empty() ? forecast_ours(known, fold.test)
                         : forecast_carried(known, fold.test, carried_by(model));
  }

 private:
  void add_row(const ZeusRow& row, TableRole role) {
    const Gpu* gpu = find_spelled_gpu(catalog_, zeus_machine(row.gpu).board);
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
        it.time = std::exp(*log_time) * kSecond;
      } else {
        it.note = no_workload(i);
      }
    }
    return forecasts;
  }

  std::vector<DeviceForecast> forecast_ours(const Rows& known, const Rows& test) const {
    std::vector<EpochPoint> points;
    for (const std::size_t i : known) points.push_back(point_of(i));
    const EpochTimes times = EpochTimes::fit(points);
    std::vector<DeviceForecast> forecasts;
    for (const std::size_t i : test) {
      DeviceForecast& it = forecasts.emplace_back(DeviceForecast{.note = rows_[i].unusable});
      if (!it.note.empty()) continue;
      const auto estimate = times.estimate(point_of(i));
      if (!estimate) {
        it.note = no_workload(i);
        continue;
      }
      const double reach = kInterval80 * estimate->deviation;
      it.time = std::exp(estimate->mean) * kSecond;
      it.p10 = std::exp(estimate->mean - reach) * kSecond;
      it.p90 = std::exp(estimate->mean + reach) * kSecond;
    }
    return forecasts;
  }

  std::string no_workload(std::size_t i) const {
    return fmt::format("no training row has the workload {}", printable(workload_of(i)));
  }

  /// Optimizers take little of an epoch, so they do not tell workloads apart.
  std::string workload_of(std::size_t i) const { return zeus_[i].dataset + " " + zeus_[i].network; }

  EpochPoint point_of(std::size_t i) const {
    const ZeusRow& row = zeus_[i];
    const double largest = power_max_.at(row.gpu);
    const ZeusMachine machine = zeus_machine(row.gpu);
    EpochPoint point{.workload = workload_of(i),
                     .gpu = gpus_[i],
                     .batch = row.batch,
                     .half = is_mixed_precision(row.network),
                     .processor_year = machine.processor_year,
                     .processor_maker = machine.processor_maker,
                     .limit = row.power_limit_w / largest,
                     .log_time = row.epoch ? std::log(row.epoch->in(kSecond)) : 0};
    if (row.average_power_w) point.power_share = *row.average_power_w / largest;
    return point;
  }

  CarriedRow carried(std::size_t i) const {
    const ZeusRow& row = zeus_[i];
    return {.job = workload_of(i),
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
