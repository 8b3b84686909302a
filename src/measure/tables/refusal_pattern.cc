#include "measure/tables/refusal_pattern.h"

#include <algorithm>
#include <map>
#include <utility>

namespace stint {

Result<RefusalPattern> refusal_pattern(std::span<const CreationFailure> failures,
                                       const std::string& source) {
  std::map<std::pair<std::string, std::string>, std::vector<Seconds>> kinds;
  for (const CreationFailure& it : failures) kinds[{it.provider, it.device}].push_back(it.time);
  if (kinds.empty()) return bad_input(source + ": the table has no failed starts");
  // A kind that says its GPU comes before one that does not.
  const auto most = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return std::pair(!a.first.second.empty(), a.second.size()) <
           std::pair(!b.first.second.empty(), b.second.size());
  });
  std::vector<Seconds> times = most->second;
  std::sort(times.begin(), times.end());
  const Seconds first = times.front();
  for (Seconds& time : times) time -= first;
  return RefusalPattern{.provider = most->first.first,
                        .device = most->first.second,
                        .first = first,
                        .times = std::move(times)};
}

std::vector<bool> refused_ticks(const RefusalPattern& pattern, Seconds gap, int ticks) {
  std::vector<bool> refused(static_cast<std::size_t>(ticks), false);
  for (const Seconds time : pattern.times) {
    if (time >= static_cast<double>(ticks) * gap) break;
    refused[static_cast<std::size_t>(time / gap)] = true;
  }
  return refused;
}

}  // namespace stint
