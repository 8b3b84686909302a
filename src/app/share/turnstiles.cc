#include "app/share/turnstiles.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>

#include "run/shared_cluster.h"
#include "turnstile/turnstile.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

constexpr std::array kStates = {"absent", "idle", "waiting", "holding"};

Seconds from_nanoseconds(std::int64_t count) { return static_cast<double>(count) * 1e-9 * kSecond; }

TurnstileMember member_of(const StintTurnFigures& figures) {
  return {.run = figures.name,
          .state = figures.state < kStates.size() ? kStates[figures.state] : "unknown",
          .since = from_nanoseconds(figures.since_ns),
          .turns = static_cast<std::int64_t>(figures.turns),
          .held = from_nanoseconds(figures.held_ns),
          .waited = from_nanoseconds(figures.waited_ns)};
}

}  // namespace

std::vector<TurnstileStanding> turnstiles_in(const std::string& folder) {
  std::vector<TurnstileStanding> all;
  const auto status = std::make_unique<StintTurnStatus>();
  std::array<char, 512> reason{};
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string vm = entry->path().stem().string();
    const std::string path = turnstile_path(folder, vm);
    if (entry->path().string() != path) continue;
    if (stint_turn_status(path.c_str(), status.get(), reason.data(), reason.size()) !=
        kStintTurnOk) {
      continue;
    }
    TurnstileStanding standing{.vm = vm, .deaths = static_cast<std::int64_t>(status->deaths)};
    for (std::uint32_t i = 0; i < status->count; ++i) {
      standing.members.push_back(member_of(status->members[i]));
    }
    all.push_back(std::move(standing));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.vm.size() != b.vm.size() ? a.vm.size() < b.vm.size() : a.vm < b.vm;
  });
  return all;
}

}  // namespace stint
