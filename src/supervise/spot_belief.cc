#include "supervise/spot_belief.h"

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace stint {
namespace {

constexpr int kDrawnTicks = 5000;
// Far more than the prior has, and soon outweighed by observations.
constexpr double kWeightTicks = 500;
constexpr std::uint64_t kSeed = 5;  // The same estimate each time a journal is replayed.

}  // namespace

CountBelief spot_belief(const std::optional<SpotSpells>& expected, Seconds tick, int places) {
  CountBelief belief(places);
  Random random(kSeed);
  std::vector<bool> there(static_cast<std::size_t>(places), true);
  std::vector<int> counts;
  const bool goes = expected && expected->away;
  const double leaves = goes ? std::min(1.0, tick / expected->stay) : 0;
  const double comes = goes ? std::min(1.0, tick / *expected->away) : 1;
  for (int drawn = 0; drawn < kDrawnTicks; ++drawn) {
    for (std::size_t i = 0; i < there.size(); ++i) {
      if (random.uniform() < (there[i] ? leaves : comes)) there[i] = !there[i];
    }
    counts.push_back(static_cast<int>(std::count(there.begin(), there.end(), true)));
  }
  belief.learn_from(counts, kWeightTicks);
  return belief;
}

}  // namespace stint
