#include "measure/tables/collective_table.h"

#include <fmt/format.h>

#include "base/csv.h"
#include "base/text.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

Result<CollectiveRow> read_row(const Csv& csv, std::size_t i) {
  CollectiveRow row{.cluster = std::string(csv.cell(i, "instance_type")),
                    .collective = std::string(csv.cell(i, "collective"))};
  const auto vms = count_of(csv.cell(i, "nodes"));
  if (!vms) return csv.error_at(i, "nodes", "must be a whole number of 1 or more");
  row.vms = *vms;
  const auto workers = count_of(csv.cell(i, "ranks"));
  if (!workers || *workers < *vms) {
    return csv.error_at(i, "ranks", fmt::format("must be a whole number of {} or more", *vms));
  }
  row.workers = *workers;
  const auto payload = whole_of(csv.cell(i, "bytes"));
  if (!payload) return csv.error_at(i, "bytes", "must be a whole number of 1 or more");
  row.payload = static_cast<double>(*payload) * kByte;
  const std::string_view time = csv.cell(i, "time_us_out_of_place");
  if (time.empty()) return row;
  const auto microseconds = positive_of(time);
  if (!microseconds) {
    return csv.error_at(i, "time_us_out_of_place",
                        fmt::format("must be more than zero, not '{}'", printable(time)));
  }
  row.time = *microseconds * kMicrosecond;
  return row;
}

}  // namespace

Result<std::vector<CollectiveRow>> read_collective_table(std::string_view text,
                                                         const std::string& source) {
  return read_rows<CollectiveRow>(
      text, source, {"instance_type", "nodes", "ranks", "collective", "bytes"}, read_row);
}

}  // namespace stint
