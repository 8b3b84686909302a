#include "calibrate/scaling/scaling_baselines.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "base/check.h"
#include "base/text.h"

namespace stint {
namespace {

using Known = std::vector<const ScalingRow*>;

double batch_per_worker(const ScalingRow& row) { return row.global_batch / row.workers; }

Known comparable(std::span<const ScalingRow> train, const ScalingRow& row) {
  Known series;
  Known owner;
  Known device;
  for (const ScalingRow& it : train) {
    const bool same = it.job == row.job && it.device == row.device;
    if (!it.unusable.empty() || !it.time || !same) continue;
    device.push_back(&it);
    if (it.owner != row.owner) continue;
    owner.push_back(&it);
    if (it.edition == row.edition) series.push_back(&it);
  }
  if (!series.empty()) return series;
  return owner.empty() ? device : owner;
}

/// The rows of the largest cluster below `workers`, else of the smallest.
Known nearest(const Known& rows, int workers) {
  int below = 0;
  int least = rows.front()->workers;
  for (const ScalingRow* row : rows) {
    if (row->workers < workers) below = std::max(below, row->workers);
    least = std::min(least, row->workers);
  }
  Known found = rows;
  const int size = below > 0 ? below : least;
  std::erase_if(found, [&](const ScalingRow* row) { return row->workers != size; });
  return found;
}

template <class Value>
double median_of(const Known& rows, Value value) {
  std::vector<double> values;
  for (const ScalingRow* row : rows) values.push_back(value(*row));
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double perfect_seconds(const Known& rows, const ScalingRow& row) {
  return batch_per_worker(row) * median_of(nearest(rows, row.workers), [](const ScalingRow& it) {
           return it.time->in(kSecond) / batch_per_worker(it);
         });
}

double amdahl_seconds(const Known& rows, const ScalingRow& row) {
  double b = 0;
  double t = 0;
  const auto n = static_cast<double>(rows.size());
  for (const ScalingRow* it : rows) {
    b += batch_per_worker(*it) / n;
    t += it->time->in(kSecond) / n;
  }
  double bb = 0;
  double bt = 0;
  for (const ScalingRow* it : rows) {
    const double off = batch_per_worker(*it) - b;
    bb += off * off;
    bt += off * (it->time->in(kSecond)-t);
  }
  if (bb < 1e-9 * b * b) return perfect_seconds(rows, row);
  // A slope within these bounds leaves neither the slope nor the constant negative.
  const double slope = std::clamp(bt / bb, 0.0, t / b);
  return t + slope * (batch_per_worker(row) - b);
}

}  // namespace

std::span<const EnumName<ScalingBaseline>> names_of(ScalingBaseline /*type*/) {
  static constexpr EnumName<ScalingBaseline> kNames[] = {
      {ScalingBaseline::kPerfect, "perfect"},
      {ScalingBaseline::kConstantStep, "constant-step"},
      {ScalingBaseline::kAmdahl, "amdahl"}};
  return kNames;
}

Forecast scaling_baseline(ScalingBaseline baseline, std::span<const ScalingRow> train,
                          const ScalingRow& row) {
  if (!row.unusable.empty()) return {.note = row.unusable};
  const Known rows = comparable(train, row);
  if (rows.empty()) {
    return {.note =
                fmt::format("there is no training data for {} on that device", printable(row.job))};
  }
  switch (baseline) {
    case ScalingBaseline::kPerfect:
      return {.time = perfect_seconds(rows, row) * kSecond, .note = {}};
    case ScalingBaseline::kConstantStep:
      return {.time = median_of(nearest(rows, row.workers),
                                [](const ScalingRow& it) { return it.time->in(kSecond); }) *
                      kSecond,
              .note = {}};
    case ScalingBaseline::kAmdahl:
      return {.time = amdahl_seconds(rows, row) * kSecond, .note = {}};
  }
  CHECK(false);
  return {};
}

}  // namespace stint
