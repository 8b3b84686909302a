// Tables of sharded trainings: the first byte chooses the reader. A row that is read must be one
// that the law accepts, and every data row of a table must come back.
#include "measure/sharded/sharded_table.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/csv.h"

namespace {

void check_row(const stint::ShardedRow& row) {
  CHECK(row.unmeasured.empty() || !row.time);
  if (row.time) CHECK(*row.time > stint::Seconds{});
  if (!row.unusable.empty()) return;
  CHECK(!row.job.empty());
  CHECK(row.gpus >= 1);
  CHECK(row.gpus_per_vm >= 1);
  CHECK(row.sequence > 0);
  CHECK(row.global_batch > 0);
  CHECK(row.shape.layers >= 1);
  CHECK(row.shape.hidden > 0);
  CHECK(row.shape.heads > 0);
  CHECK(stint::workers(row.layout) == row.gpus);
  CHECK(row.layout.zero >= 0);
  CHECK(row.layout.zero <= 3);
  if (row.network) CHECK(*row.network > stint::BytesPerSecond{});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const auto names = stint::names_of(stint::ShardedFormat{});
  const stint::ShardedFormat format = names[bytes[0] % names.size()].first;
  const auto rows = stint::read_sharded(format, text, "fuzz");
  if (!rows.ok()) {
    CHECK(!rows.error().message.empty());
    return 0;
  }
  const auto csv = stint::Csv::parse(text, "fuzz");
  CHECK(csv.ok());
  CHECK(rows->size() == csv->rows());
  for (const stint::ShardedRow& row : *rows) check_row(row);
  return 0;
}
