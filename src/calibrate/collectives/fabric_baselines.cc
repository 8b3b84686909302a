#include "calibrate/collectives/fabric_baselines.h"

#include <algorithm>
#include <cmath>

namespace stint {
namespace {

bool counts(const CollectiveCase& it) { return it.note.empty() && it.value.has_value(); }
bool crosses(const CollectiveCase& it) { return it.fabric.vms > 1; }

}  // namespace

std::vector<const CollectiveCase*> nearest_curve(std::span<const CollectiveCase> train,
                                                 const CollectiveCase& it) {
  const auto distance = [&](const CollectiveCase& other) {
    const auto workers = [](const Fabric& fabric) { return fabric.vms * fabric.workers_per_vm; };
    // Farther than any number of workers.
    constexpr double kElsewhere = 100;
    return (other.system == it.system ? 0 : kElsewhere) +
           (other.collective == it.collective ? 0 : kElsewhere) +
           (crosses(other) == crosses(it) ? 0 : kElsewhere) +
           std::abs(std::log2(static_cast<double>(workers(other.fabric)) / workers(it.fabric)));
  };
  const CollectiveCase* nearest = nullptr;
  for (const CollectiveCase& other : train) {
    if (!counts(other)) continue;
    if (nearest == nullptr || distance(other) < distance(*nearest)) nearest = &other;
  }
  std::vector<const CollectiveCase*> rows;
  for (const CollectiveCase& other : train) {
    if (nearest != nullptr && counts(other) && same_curve(other, *nearest)) rows.push_back(&other);
  }
  return rows;
}

std::optional<Seconds> alpha_beta_time(std::span<const CollectiveCase> train,
                                       const CollectiveCase& it) {
  // As in collective_fit.cc, for line-rate times instead of sizes: minimises Σ ((a + b M)/T − 1)².
  double w = 0;
  double wm = 0;
  double wmm = 0;
  double wt = 0;
  double wmt = 0;
  const double own = line_rate_time(it).in(kSecond);
  for (const CollectiveCase* other : nearest_curve(train, it)) {
    const double time = measured_time(*other)->in(kSecond);
    const double moving = line_rate_time(*other).in(kSecond) / own;
    const double weight = 1 / (time * time);
    w += weight;
    wm += weight * moving;
    wmm += weight * moving * moving;
    wt += weight * time;
    wmt += weight * moving * time;
  }
  const double determinant = w * wmm - wm * wm;
  constexpr double kSingular = 1e-12;
  if (determinant <= kSingular * w * wmm) return std::nullopt;
  const double time = (wmm * wt - wm * wmt + w * wmt - wm * wt) / determinant;
  if (time <= 0) return std::nullopt;
  return time * kSecond;
}

std::optional<Seconds> nearest_size_time(std::span<const CollectiveCase> train,
                                         const CollectiveCase& it) {
  const auto rows = nearest_curve(train, it);
  if (rows.empty()) return std::nullopt;
  const auto distance = [&](const CollectiveCase* other) {
    return std::abs(std::log(other->payload / it.payload));
  };
  const CollectiveCase* nearest = *std::min_element(
      rows.begin(), rows.end(),
      [&](const CollectiveCase* a, const CollectiveCase* b) { return distance(a) < distance(b); });
  return line_rate_time(it) / line_rate_time(*nearest) * *measured_time(*nearest);
}

}  // namespace stint
