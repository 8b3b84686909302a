#include "app/share/sharing_models.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "load/predict_inputs.h"

namespace stint {
namespace {

/// The slices' slowdowns on `device`.
SharedPace pace_on(const std::string& device, const FreeSharingLaw& law,
                   const SharingQuestion& question, const SharedPace& slices) {
  const FreeShares shares = free_shares(law, device, {question.first.alone, question.second.alone});
  SharedPace pace;
  double deviation = 0;
  for (std::size_t i = 0; i < pace.slowdown.size(); ++i) {
    const double met = std::max(0.0, slices.slowdown[i] - 1);
    pace.slowdown[i] = 1 + met * (1 / shares.share[i] - 1);
    // d log slowdown / d log r.
    const double tells = met / shares.share[i] / pace.slowdown[i];
    deviation = std::max(deviation, tells * shares.deviation);
  }
  pace.deviation = std::hypot(deviation, slices.deviation);
  return pace;
}

}  // namespace

Result<FreeSharingLaw> load_free_sharing_law() {
  const auto calibration = load_calibration("free-sharing");
  if (!calibration.ok()) return calibration.error();
  return free_sharing_law(calibration->noun);
}

SharingModel free_sharing_model(FreeSharingLaw law, std::vector<std::string> devices,
                                SharingModel slices) {
  if (devices.empty()) return slices;
  return [law = std::move(law), devices = std::move(devices),
          slices = std::move(slices)](const SharingQuestion& question) {
    auto answer = slices(question);
    if (!answer) return answer;
    SharedPace slowest{.slowdown = {0, 0}};
    for (const std::string& device : devices) {
      const SharedPace pace = pace_on(device, law, question, *answer);
      for (std::size_t i = 0; i < slowest.slowdown.size(); ++i) {
        slowest.slowdown[i] = std::max(slowest.slowdown[i], pace.slowdown[i]);
      }
      slowest.deviation = std::max(slowest.deviation, pace.deviation);
    }
    return std::optional(slowest);
  };
}

bool emulated(std::span<const PredictedGroup> groups) {
  return std::all_of(groups.begin(), groups.end(),
                     [](const PredictedGroup& it) { return it.vm.starts_with("local/"); });
}

TwinOptions twin_options(std::span<const PredictedGroup> groups, double compute_slowdown) {
  return {.compute_slowdown = compute_slowdown,
          .sharing = emulated(groups) ? LinkSharing::kWindows : LinkSharing::kFair};
}

SharingModels sharing_models(std::span<const PredictedGroup> groups, double compute_slowdown) {
  SharingModels models = twin_models(twin_options(groups, compute_slowdown));
  if (emulated(groups)) return models;
  const auto law = load_free_sharing_law();
  std::vector<std::string> devices;
  for (const PredictedGroup& group : groups) devices.push_back(group.device);
  models.freely = law.ok() ? free_sharing_model(*law, std::move(devices), models.freely) : nullptr;
  return models;
}

}  // namespace stint
