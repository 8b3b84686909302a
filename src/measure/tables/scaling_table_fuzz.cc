// Tables of clusters of several sizes: the first byte chooses the reader. A row that is read must
// be one that the law of scaling accepts, and every data row of a table must come back.
#include "measure/tables/scaling_table.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/csv.h"

namespace {

void check_row(const stint::ScalingRow& row) {
  CHECK(row.unmeasured.empty() || !row.time);
  if (row.time) CHECK(*row.time > stint::Seconds{});
  if (!row.unusable.empty()) return;
  CHECK(!row.job.empty());
  CHECK(row.vms >= 1);
  CHECK(row.workers >= row.vms);
  CHECK(row.workers_per_vm >= 1);
  CHECK(row.micro_steps > 0);
  CHECK(row.degree >= 1);
  CHECK(std::isfinite(row.degree));
  CHECK(stint::samples_per_worker(row) > 0);
  CHECK(std::isfinite(stint::samples_per_worker(row)));
  if (row.network) CHECK(*row.network > stint::BytesPerSecond{});
  if (row.parameters) CHECK(*row.parameters > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const auto format = bytes[0] == 'm' ? stint::ScalingFormat::kMlperf : stint::ScalingFormat::kDgxc;
  const auto rows = stint::read_scaling(format, text, "fuzz");
  if (!rows.ok()) {
    CHECK(!rows.error().message.empty());
    return 0;
  }
  const auto csv = stint::Csv::parse(text, "fuzz");
  CHECK(csv.ok());
  CHECK(rows->size() == csv->rows());
  for (const stint::ScalingRow& row : *rows) check_row(row);
  return 0;
}
