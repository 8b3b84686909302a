#include "supervise/run_terms.h"

#include <map>
#include <memory>
#include <utility>

namespace stint {

std::vector<int> training_slots(const RunTerms& terms) {
  std::vector<int> found;
  for (std::size_t i = 0; i < terms.slots.size(); ++i) {
    if (terms.slots[i].trains) found.push_back(static_cast<int>(i));
  }
  return found;
}

StepTime remembered(StepTime step_time) {
  // Shared, because functions are copied.
  auto known = std::make_shared<std::map<std::vector<int>, Seconds>>();
  return [known, step_time = std::move(step_time)](std::span<const int> slots) {
    std::vector<int> key(slots.begin(), slots.end());
    const auto found = known->find(key);
    if (found != known->end()) return found->second;
    return known->emplace(std::move(key), step_time(slots)).first->second;
  };
}

}  // namespace stint
