// CSV: a table that is read must survive being written and read again, and the catalogue readers
// must accept or refuse any contents without a crash.
#include "base/csv.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "catalog/table_format.h"

namespace {

std::string written(const stint::Csv& csv) {
  std::string text = stint::csv_line(csv.header());
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    std::vector<std::string> cells;
    for (std::size_t column = 0; column < csv.header().size(); ++column) {
      cells.push_back(csv.cell(row, column));
    }
    text += stint::csv_line(cells);
  }
  return text;
}

void try_csv(std::string_view text) {
  const auto csv = stint::Csv::parse(text, "fuzz");
  if (!csv.ok()) return;
  const auto back = stint::Csv::parse(written(*csv), "fuzz");
  // A header or a row whose only cell is blank is dropped as a blank line, so counts may shrink;
  // with two columns or more nothing may be lost.
  if (csv->header().size() < 2) return;
  CHECK(back.ok());
  CHECK(back->rows() == csv->rows());
  CHECK(written(*back) == written(*csv));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try_csv(text);
  const stint::TableOrigin origin{
      .provider = "fuzz", .name = "fuzz.csv", .date = {.year = 2026, .month = 1}};
  const auto catalog = stint::read_catalog_table(text, "fuzz.csv", origin);
  if (!catalog.ok()) return 0;
  CHECK(stint::validate(catalog->noun).ok());
  const std::string table = stint::write_catalog_table(catalog->noun);
  const auto back = stint::read_catalog_table(table, "fuzz.csv", origin);
  CHECK(back.ok());
  CHECK(stint::write_catalog_table(back->noun) == table);
  return 0;
}
