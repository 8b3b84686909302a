#include "measure/tables/zeus_table.h"

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
  const auto epoch = maybe_number(csv, i, "epoch_s");
  if (!epoch.ok()) return epoch.error();
  if (*epoch) row.epoch = **epoch * kSecond;
  return row;
}

}  // namespace

bool is_zeus_epochs(const Csv& csv) { return csv.find_column("power_limit_w").has_value(); }

bool is_zeus_targets(const Csv& csv) { return csv.find_column("target_metric").has_value(); }

Result<std::vector<ZeusRow>> read_zeus_epochs(const Csv& csv) {
  return read_rows<ZeusRow>(
      csv, {"gpu", "dataset", "network", "batch", "optimizer", "power_limit_w"}, read_row);
}

}  // namespace stint
