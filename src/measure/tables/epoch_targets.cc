#include "measure/tables/epoch_targets.h"

#include <cmath>
#include <fmt/format.h>

#include "base/csv.h"
#include "base/limits.h"
#include "base/text.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

constexpr double kEpochsMost = 1e6;

Status take_epochs(const Csv& csv, std::size_t i, Measured measured, EpochTargetRow& row) {
  const std::string_view text = csv.cell(i, "epochs");
  if (text.empty() && measured == Measured::kOptional) return {};
  row.never_reached = to_lower(text) == "nan";
  if (row.never_reached) return {};
  row.epochs = parse_double(text);
  if (row.epochs && *row.epochs > 0 && *row.epochs <= kEpochsMost) return {};
  return csv.error_at(i, "epochs",
                      fmt::format("must be a number above 0 and at most {:.0f}, or nan, not '{}'",
                                  kEpochsMost, printable(text)));
}

Result<EpochTargetRow> read_row(const Csv& csv, std::size_t i, Measured measured) {
  EpochTargetRow row;
  for (const char* column : {"dataset", "network", "optimizer"}) {
    const std::string_view text = csv.cell(i, column);
    if (text.empty()) return csv.error_at(i, column, "must not be empty");
    row.workload += (row.workload.empty() ? "" : " ") + std::string(text);
  }
  const auto batch = parse_int(csv.cell(i, "batch"));
  if (!batch || *batch < 1 || *batch > kCountMax) {
    return csv.error_at(i, "batch",
                        fmt::format("must be a whole number from 1 to {}, not '{}'", kCountMax,
                                    printable(csv.cell(i, "batch"))));
  }
  row.batch = *batch;
  const auto target = parse_double(csv.cell(i, "target_metric"));
  if (!target || std::abs(*target) > NumberLimits().max) {
    return csv.error_at(
        i, "target_metric",
        fmt::format("must be a number, not '{}'", printable(csv.cell(i, "target_metric"))));
  }
  row.target = *target;
  const Status taken = take_epochs(csv, i, measured, row);
  if (!taken.ok()) return taken.error();
  return row;
}

}  // namespace

Result<std::vector<EpochTargetRow>> read_epoch_targets(std::string_view text,
                                                       const std::string& source,
                                                       Measured measured) {
  std::vector<std::string> columns{"dataset", "network", "optimizer", "batch", "target_metric"};
  if (measured == Measured::kRequired) columns.emplace_back("epochs");
  return read_rows<EpochTargetRow>(text, source, columns, [&](const Csv& csv, std::size_t i) {
    return read_row(csv, i, measured);
  });
}

}  // namespace stint
