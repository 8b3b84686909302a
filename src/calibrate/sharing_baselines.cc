#include "calibrate/sharing_baselines.h"

#include <cmath>

namespace stint {
namespace {

std::optional<SharedRates> same_share(const PackedPair& pair, double share) {
  if (!can_predict_sharing(pair)) return std::nullopt;
  return SharedRates{.first = {.median = share * *pair.first.alone},
                     .second = {.median = share * *pair.second.alone}};
}

}  // namespace

std::optional<SharedRates> half_speed(const PackedPair& pair) { return same_share(pair, 0.5); }

MeanSlowdown::MeanSlowdown(std::span<const PackedPair> pairs) {
  for (const PackedPair& pair : pairs) {
    if (!can_teach_sharing(pair)) continue;
    for (const PackedSide* side : {&pair.first, &pair.second}) {
      const double log_share = std::log(*side->packed / *side->alone);
      for (Sum* sum : {&devices_[sharing_device(pair)], &all_}) {
        sum->log_shares += log_share;
        sum->count += 1;
      }
    }
  }
}

std::optional<SharedRates> MeanSlowdown::predict(const PackedPair& pair) const {
  const auto found = devices_.find(sharing_device(pair));
  const Sum& sum = found == devices_.end() ? all_ : found->second;
  if (sum.count == 0) return half_speed(pair);
  return same_share(pair, std::exp(sum.log_shares / sum.count));
}

}  // namespace stint
