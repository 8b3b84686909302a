#include "measure/tables/price_table.h"

#include <fmt/format.h>
#include <optional>

#include "base/csv.h"
#include "base/date.h"
#include "base/text.h"
#include "measure/tables/number_cells.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

/// "2019-12-22T23:47:44.000Z"; fractions of a second do not matter to prices.
std::optional<Seconds> instant_of(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return parse_instant(text);
  return parse_instant(std::string(text.substr(0, point)) + "Z");
}

/// "2/24/2020".
std::optional<Seconds> american_date(std::string_view text) {
  const std::size_t first = text.find('/');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = text.find('/', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto month = count_of(text.substr(0, first));
  const auto day = count_of(text.substr(first + 1, second - first - 1));
  const auto year = count_of(text.substr(second + 1));
  if (!month || !day || !year) return std::nullopt;
  return parse_instant(fmt::format("{:04}-{:02}-{:02}", *year, *month, *day));
}

/// The columns of a published table that say where and when.
struct Columns {
  const char* place;
  const char* time;
  const char* example;
  std::optional<Seconds> (*read_time)(std::string_view text);
};

constexpr Columns kAws{.place = "zone",
                       .time = "time_utc",
                       .example = "2020-01-31T23:47:44Z",
                       .read_time = instant_of};
constexpr Columns kAzure{
    .place = "region", .time = "date_mdy", .example = "1/31/2020", .read_time = american_date};

Result<PriceRow> read_row(const Csv& csv, std::size_t i, const Columns& columns) {
  for (const char* name : {"instance_type", columns.place}) {
    if (csv.cell(i, name).empty()) return csv.error_at(i, name, "must not be empty");
  }
  const std::string_view text = csv.cell(i, columns.time);
  const auto time = columns.read_time(text);
  if (!time) {
    return csv.error_at(
        i, columns.time,
        fmt::format("must be a time such as {}, not '{}'", columns.example, printable(text)));
  }
  const auto price = needed_number(csv, i, "spot_usd_per_h");
  if (!price.ok()) return price.error();
  return PriceRow{.type = std::string(csv.cell(i, "instance_type")),
                  .zone = std::string(csv.cell(i, columns.place)),
                  .time = *time,
                  .price = *price * kDollar / kHour};
}

}  // namespace

std::string pool_of(const PriceRow& row) { return row.type + " " + row.zone; }

std::string region_of(const PriceRow& row) {
  const std::string& zone = row.zone;
  const bool lettered = zone.size() > 1 && zone.back() >= 'a' && zone.back() <= 'z' &&
                        zone[zone.size() - 2] >= '0' && zone[zone.size() - 2] <= '9';
  return lettered ? zone.substr(0, zone.size() - 1) : zone;
}

Result<std::vector<PriceRow>> read_price_rows(std::string_view text, const std::string& source) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  for (const Columns& columns : {kAws, kAzure}) {
    if (!csv->find_column(columns.time)) continue;
    return read_rows<PriceRow>(
        *csv, {"instance_type", columns.place, columns.time, "spot_usd_per_h"},
        [&](const Csv& table, std::size_t i) { return read_row(table, i, columns); });
  }
  return bad_input(fmt::format(
      "{}: its header has neither time_utc nor date_mdy, so it is not a table of dated prices",
      source));
}

}  // namespace stint
