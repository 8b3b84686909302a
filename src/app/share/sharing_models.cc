#include "app/share/sharing_models.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/share/free_sharing_model.h"

namespace stint {

bool emulated(std::span<const PredictedGroup> groups) {
  return std::all_of(groups.begin(), groups.end(),
                     [](const PredictedGroup& it) { return it.vm.starts_with("local/"); });
}

TwinOptions twin_options(std::span<const PredictedGroup> groups, double compute_slowdown) {
  return {.compute_slowdown = compute_slowdown,
          .sharing = emulated(groups) ? LinkSharing::kSenior : LinkSharing::kFair};
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
