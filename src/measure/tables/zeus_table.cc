#include "measure/tables/zeus_table.h"

#include <map>
#include <tuple>

#include "measure/tables/number_cells.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

Result<ZeusRow> read_row(const Csv& csv, std::size_t i) {
  ZeusRow row{.gpu = std::string(csv.cell(i, "gpu")),
              .dataset = std::string(csv.cell(i, "dataset")),
              .network = std::string(csv.cell(i, "network")),
              .optimizer = std::string(csv.cell(i, "optimizer"))};
  if (row.gpu.empty()) return csv.error_at(i, "gpu", "must not be empty");
  const auto batch = needed_number(csv, i, "batch");
  if (!batch.ok()) return batch.error();
  row.batch = *batch;
  const auto limit = needed_number(csv, i, "power_limit_w");
  if (!limit.ok()) return limit.error();
  row.power_limit_w = *limit;
  const auto power = maybe_number(csv, i, "average_power_w");
  if (!power.ok()) return power.error();
  row.average_power_w = *power;
  const auto epoch = maybe_number(csv, i, "epoch_s");
  if (!epoch.ok()) return epoch.error();
  if (*epoch) row.epoch = **epoch * kSecond;
  return row;
}

}  // namespace

bool is_zeus_epochs(const Csv& csv) { return csv.find_column("power_limit_w").has_value(); }

ZeusMachine zeus_machine(const std::string& gpu) {
  // Unverified, as the paper was not at hand: Zeus (NSDI'23) had V100 in CloudLab's r7525, whose
  // boards are V100S, with EPYC 7542; RTX6000 with Xeon Gold 6126 and P100 with Xeon E5-2670 v3,
  // both of Chameleon Cloud; A40 with EPYC 7513.
  if (gpu == "V100") return {"V100S-PCIe", 2019, "AMD"};
  if (gpu == "P100") return {"P100-PCIe", 2014, "Intel"};
  if (gpu == "RTX6000") return {"Quadro-RTX-6000", 2017, "Intel"};
  if (gpu == "A40") return {"A40", 2021, "AMD"};
  return {.board = gpu, .processor_year = {}, .processor_maker = {}};
}

bool is_mixed_precision(const std::string& network) {
  // Unverified, as the recipe was not at hand, but the rows of the V100 leave no other way: 960 h
  // of speech are 1.7e8 steps of 20 ms, a network of some 80 million weights computes six
  // operations for each weight in each, and an epoch takes 5,400 s. That is 15 TFLOP/s, of a peak
  // of 16.4 in FP32 that recurrent layers do not come near.
  return network == "deepspeech2";
}

bool is_zeus_targets(const Csv& csv) { return csv.find_column("target_metric").has_value(); }

Result<std::vector<ZeusRow>> read_zeus_epochs(const Csv& csv) {
  return read_rows<ZeusRow>(
      csv, {"gpu", "dataset", "network", "batch", "optimizer", "power_limit_w"}, read_row);
}

std::vector<StepRow> steps_of(std::span<const ZeusRow> rows) {
  using Setup = std::tuple<std::string, std::string, std::string, std::string, double>;
  std::map<Setup, const ZeusRow*> fastest;
  for (const ZeusRow& row : rows) {
    if (!row.epoch) continue;
    const ZeusRow*& best = fastest[{row.dataset, row.network, row.optimizer, row.gpu, row.batch}];
    if (best == nullptr || row.power_limit_w > best->power_limit_w) best = &row;
  }
  std::vector<StepRow> steps;
  for (const auto& [setup, row] : fastest) {
    steps.push_back({.job = row->dataset + " " + row->network,
                     .series = row->optimizer,
                     .device = zeus_machine(row->gpu).board,
                     .workers_by_vm = {1},
                     .batch_per_worker = row->batch,
                     .time = row->epoch,
                     .times_per_step = row->batch});
  }
  return steps;
}

}  // namespace stint
