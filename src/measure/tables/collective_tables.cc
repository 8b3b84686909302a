#include "measure/tables/collective_tables.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "base/csv.h"
#include "base/text.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

/// Accelerators in the VMs of all five tables.
constexpr int kPerVm = 8;

/// Aceso's mark of a collective that did not fit into memory.
constexpr double kFailedSeconds = 1e5;

/// Aceso counts whole MiB; a size of 0 is below one.
constexpr double kBelowOne = 0.25;

using Row = CollectiveMeasurement;

Status read_count(const Csv& csv, std::size_t i, const char* column, int& count) {
  // "4 (from the plot's name)" is a count with a remark.
  const std::string_view cell = csv.cell(i, column);
  const auto read = count_of(trim(cell.substr(0, cell.find('('))));
  if (!read) return csv.error_at(i, column, "must be a whole number of 1 or more");
  count = *read;
  return {};
}

Status read_bytes(const Csv& csv, std::size_t i, Row& row) {
  const auto bytes = whole_of(csv.cell(i, "bytes"));
  if (!bytes) return csv.error_at(i, "bytes", "must be a whole number of 1 or more");
  row.payload = static_cast<double>(*bytes) * kByte;
  row.stated = row.payload;
  return {};
}

Status read_value(const Csv& csv, std::size_t i, const char* column, Row& row) {
  const std::string_view cell = csv.cell(i, column);
  if (cell.empty()) return {};
  row.value = positive_of(cell);
  if (row.value) return {};
  return csv.error_at(i, column,
                      fmt::format("must be a number above zero, not '{}'", printable(cell)));
}

/// The first of `steps` that fails, else the row.
template <class... Steps>
Result<Row> checked(Row row, Steps... steps) {
  Status failed;
  const bool fine = ((failed = steps(row), failed.ok()) && ...);
  if (!fine) return failed.error();
  return row;
}

auto value_in(const Csv& csv, std::size_t i, const char* column) {
  return [&csv, i, column](Row& row) { return read_value(csv, i, column, row); };
}

auto bytes_in(const Csv& csv, std::size_t i) {
  return [&csv, i](Row& row) { return read_bytes(csv, i, row); };
}

auto count_in(const Csv& csv, std::size_t i, const char* column, int Row::*member) {
  return [&csv, i, column, member](Row& row) { return read_count(csv, i, column, row.*member); };
}

Result<Row> read_simai(const Csv& csv, std::size_t i) {
  const std::string table(csv.cell(i, "table"));
  Row row{.format = CollectiveFormat::kSimai,
          .system = table,
          .collective = table.starts_with("ata") ? "all_to_all" : "ring",
          .workers_per_vm = kPerVm,
          .quantity = CollectiveQuantity::kLineShare};
  const auto nodes = [&](Row& it) {
    if (!csv.cell(i, "nodes_of_8").empty()) return read_count(csv, i, "nodes_of_8", it.vms);
    it.system = std::string(csv.cell(i, "column_as_published"));
    it.collective = "point_to_point";
    it.vms = 2;
    return Status{};
  };
  return checked(std::move(row), bytes_in(csv, i), nodes,
                 value_in(csv, i, "fraction_of_line_rate"));
}

Result<Row> read_ml_engineering(const Csv& csv, std::size_t i) {
  Row row{.format = CollectiveFormat::kMlEngineering,
          .gpu = std::string(csv.cell(i, "gpu")),
          .network = std::string(csv.cell(i, "network")),
          .collective = std::string(csv.cell(i, "collective")),
          .quantity = CollectiveQuantity::kBusRate};
  row.system = row.gpu;
  return checked(std::move(row), count_in(csv, i, "nodes", &Row::vms),
                 count_in(csv, i, "gpus_per_node", &Row::workers_per_vm), bytes_in(csv, i),
                 value_in(csv, i, "busbw_gb_s"));
}

Status read_mebibytes(const Csv& csv, std::size_t i, Row& row) {
  const std::string_view cell = csv.cell(i, "mb");
  const auto size = cell == "0" ? std::optional(kBelowOne) : positive_of(cell);
  if (!size) return csv.error_at(i, "mb", "must be a number of 0 or more");
  row.stated = *size * kMiB;
  row.payload = row.collective == "all_gather" ? row.workers_per_vm * row.stated : row.stated;
  return {};
}

Row v100(std::string collective, CollectiveQuantity quantity) {
  return {.format = CollectiveFormat::kAceso,
          .system = "V100",
          .gpu = "V100",
          .collective = std::move(collective),
          .accelerators_per_vm = kPerVm,
          .quantity = quantity};
}

Result<Row> read_aceso(const Csv& csv, std::size_t i) {
  Row row = v100(std::string(csv.cell(i, "collective")), CollectiveQuantity::kSeconds);
  const auto unfit = [](Row& it) {
    if (it.value.value_or(0) < kFailedSeconds) return Status{};
    it.value.reset();
    it.unusable = "did not fit into memory";
    return Status{};
  };
  return checked(
      std::move(row), count_in(csv, i, "gpus", &Row::workers_per_vm),
      [&](Row& it) { return read_mebibytes(csv, i, it); }, value_in(csv, i, "time_s_median"),
      unfit);
}

Result<Row> read_aceso_messages(const Csv& csv, std::size_t i) {
  Row row = v100("point_to_point", CollectiveQuantity::kRate);
  const bool inside = csv.cell(i, "where") == "inside a node";
  if (!inside && csv.cell(i, "where") != "between nodes") {
    return csv.error_at(i, "where", "must be 'inside a node' or 'between nodes'");
  }
  row.vms = inside ? 1 : 2;
  row.workers_per_vm = inside ? 2 : 1;
  return checked(
      std::move(row), [&](Row& it) { return read_mebibytes(csv, i, it); },
      value_in(csv, i, "bandwidth_as_published"));
}

Result<Row> read_vtrain(const Csv& csv, std::size_t i) {
  Row row{.format = CollectiveFormat::kVtrain,
          .gpu = std::string(csv.cell(i, "gpu")),
          .collective = "all_reduce",
          .quantity = CollectiveQuantity::kMicroseconds};
  row.system = row.gpu;
  return checked(std::move(row), count_in(csv, i, "gpus", &Row::workers_per_vm), bytes_in(csv, i),
                 value_in(csv, i, "time_us_out_of_place"));
}

Result<Row> read_nccl(const Csv& csv, std::size_t i) {
  // "p5.48xlarge (instance type not stated)" is a guess of whoever wrote the table.
  const std::string_view type = csv.cell(i, "instance_type");
  Row row{.format = CollectiveFormat::kNccl,
          .vm_type = std::string(trim(type.substr(0, type.find('(')))),
          .collective = std::string(csv.cell(i, "collective")),
          .quantity = CollectiveQuantity::kMicroseconds};
  row.system = row.vm_type;
  const auto ranks = [&](Row& it) {
    int workers = 0;
    const Status read = read_count(csv, i, "ranks", workers);
    if (!read.ok()) return read;
    if (workers % it.vms != 0) {
      return Status(csv.error_at(i, "ranks", fmt::format("must be a multiple of {}", it.vms)));
    }
    it.workers_per_vm = workers / it.vms;
    return Status{};
  };
  return checked(std::move(row), count_in(csv, i, "nodes", &Row::vms), ranks, bytes_in(csv, i),
                 value_in(csv, i, "time_us_out_of_place"));
}

using Read = Result<Row> (*)(const Csv&, std::size_t);

struct Table {
  CollectiveFormat format;
  std::vector<std::string> given;
  std::string measured;
  Read read;
};

const std::vector<Table>& tables() {
  using F = CollectiveFormat;
  static const std::vector<Table> kTables{
      {F::kSimai,
       {"table", "bytes", "column_as_published", "nodes_of_8"},
       "fraction_of_line_rate",
       read_simai},
      {F::kMlEngineering,
       {"gpu", "nodes", "gpus_per_node", "network", "collective", "bytes"},
       "busbw_gb_s",
       read_ml_engineering},
      {F::kAceso, {"collective", "gpus", "mb"}, "time_s_median", read_aceso},
      {F::kAceso, {"where", "mb"}, "bandwidth_as_published", read_aceso_messages},
      {F::kVtrain, {"gpu", "gpus", "bytes"}, "time_us_out_of_place", read_vtrain},
      {F::kNccl,
       {"instance_type", "nodes", "ranks", "collective", "bytes"},
       "time_us_out_of_place",
       read_nccl}};
  return kTables;
}

bool has_all(const Csv& csv, const std::vector<std::string>& columns) {
  return std::all_of(columns.begin(), columns.end(),
                     [&](const std::string& name) { return csv.find_column(name).has_value(); });
}

const char* name_of(CollectiveFormat format) {
  for (const auto& [value, name] : names_of(CollectiveFormat{})) {
    if (value == format) return name;
  }
  CHECK(false);
}

/// "simai: table, bytes …" for each table that `wanted` accepts.
template <class Wanted>
std::string expected(Wanted wanted) {
  std::vector<std::string> lines;
  for (const Table& table : tables()) {
    if (!wanted(table)) continue;
    lines.push_back(fmt::format("{} ({}; measured: {})", name_of(table.format),
                                join(table.given, ", "), table.measured));
  }
  return join(lines, " or ");
}

}  // namespace

std::span<const EnumName<CollectiveFormat>> names_of(CollectiveFormat /*type*/) {
  static constexpr EnumName<CollectiveFormat> kNames[] = {
      {CollectiveFormat::kSimai, "simai"},
      {CollectiveFormat::kMlEngineering, "ml-engineering"},
      {CollectiveFormat::kAceso, "aceso"},
      {CollectiveFormat::kVtrain, "vtrain"},
      {CollectiveFormat::kNccl, "nccl"}};
  return kNames;
}

std::vector<CollectiveColumns> columns_of(CollectiveFormat format) {
  std::vector<CollectiveColumns> all;
  for (const Table& table : tables()) {
    if (table.format == format) all.push_back({table.given, table.measured});
  }
  return all;
}

Result<std::vector<CollectiveMeasurement>> read_collective_format(std::string_view text,
                                                                  const std::string& source,
                                                                  CollectiveFormat format) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  for (const Table& table : tables()) {
    if (table.format == format && has_all(*csv, table.given)) {
      return read_rows<Row>(*csv, table.given, table.read);
    }
  }
  return bad_input(fmt::format("{}: not a table of {}", source,
                               expected([&](const Table& it) { return it.format == format; })));
}

Result<CollectiveFormat> collective_format(std::string_view text, const std::string& source) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  for (const Table& table : tables()) {
    if (has_all(*csv, table.given)) return table.format;
  }
  return bad_input(
      fmt::format("{}: not a table of {}", source, expected([](const Table&) { return true; })));
}

}  // namespace stint
