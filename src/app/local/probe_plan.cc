#include "app/local/probe_plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace stint {
namespace {

constexpr Bytes kNumber = 4 * kByte;  // Sums are over such numbers.

/// Pairs by the distance of their numbers around a circle.
std::vector<std::vector<int>> pairs_of(int vms) {
  std::vector<std::vector<int>> pairs;
  for (int distance = 1; distance <= vms / 2; ++distance) {
    for (int first = 0; first < vms; ++first) {
      const int second = (first + distance) % vms;
      std::vector<int> pair = {std::min(first, second), std::max(first, second)};
      const bool known = std::find(pairs.begin(), pairs.end(), pair) != pairs.end();
      if (!known && pairs.size() < kPairsMax) pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

}  // namespace

std::vector<int> usual_counts(int vms) {
  std::vector<int> counts;
  for (int count = 2; count < vms; count *= 2) counts.push_back(count);
  counts.push_back(vms);
  return counts;
}

Result<std::vector<PlannedSum>> planned_sums(int vms, const std::vector<int>& counts,
                                             std::vector<Bytes> sizes) {
  if (vms < 2) return bad_usage("a network is probed between two VMs or more");
  if (sizes.empty()) return bad_usage("there is no size to sum: give --sizes");
  for (Bytes& size : sizes) {
    if (size < kNumber) return bad_usage("a sum is of 4 bytes or more");
    size = std::floor(size / kNumber) * kNumber;
  }
  std::sort(sizes.begin(), sizes.end());
  std::vector<PlannedSum> sums;
  for (const int count : counts) {
    if (count < 2 || count > vms) {
      return bad_usage(fmt::format(
          "--vms: there are sums over 2 to {} VMs of this cluster, not over {}", vms, count));
    }
    std::vector<int> first(static_cast<std::size_t>(count));
    std::iota(first.begin(), first.end(), 0);
    for (const Bytes size : sizes) sums.push_back({.vms = first, .bytes = size});
  }
  const Bytes middle = sizes[sizes.size() / 2];
  for (const auto& pair : pairs_of(vms)) {
    const auto known = std::find(sums.begin(), sums.end(), PlannedSum{pair, middle, false});
    if (known != sums.end()) {
      known->pair = true;
    } else {
      sums.push_back({.vms = pair, .bytes = middle, .pair = true});
    }
  }
  return sums;
}

Json plan_json(const std::vector<PlannedSum>& sums) {
  Json::Array list;
  for (const PlannedSum& sum : sums) {
    Json::Array vms;
    for (const int vm : sum.vms) vms.emplace_back(vm);
    Json one;
    one.add("vms", {std::move(vms)});
    one.add("bytes", Json(Json::Value{static_cast<std::int64_t>(sum.bytes.in(kByte))}));
    list.push_back(std::move(one));
  }
  return {std::move(list)};
}

}  // namespace stint
