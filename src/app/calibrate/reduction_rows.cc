#include "app/calibrate/reduction_rows.h"

#include <algorithm>
#include <fmt/format.h>

#include "catalog/lookup.h"
#include "measure/trace/timing_of.h"

namespace stint {

Result<std::vector<ReductionRow>> reduction_rows(const std::vector<MeasuredReduction>& reductions,
                                                 const Catalog& catalog) {
  std::vector<ReductionRow> rows;
  for (const MeasuredReduction& reduction : reductions) {
    const Timing timing = timing_of(times_of(reduction));
    ReductionRow row{.vms = static_cast<int>(reduction.vms.size()),
                     .bytes = reduction.bytes,
                     .time = timing.median,
                     .deviation = timing.spread.value_or(Seconds{}) / timing.median};
    const std::vector<VmName> names = vms_of(reduction.cluster);
    for (const int vm : reduction.vms) {
      const VmName& name = names[static_cast<std::size_t>(vm)];
      const auto type = find_type(catalog, name);
      if (!type.ok()) return type.error();
      const auto rate = network_rate(**type);
      if (!rate) {
        return bad_input(
            fmt::format("{} has no network figure in the catalogue; add one", to_text(name)));
      }
      row.total += *rate;
      const bool first = row.slowest == BytesPerSecond{};
      row.slowest = first ? *rate : std::min(row.slowest, *rate);
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace stint
