#include "interleave/pairing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "solver/matching.h"

namespace stint {
namespace {

constexpr DollarsPerSecond kAnyRate = 1 * kDollar / kHour;
constexpr Dollars kMicroDollar = 1e-6 * kDollar;
constexpr double kWeightMax = 1e15;  // Of the solver; a billion dollars.

}  // namespace

std::int64_t matching_weight(Dollars saved) {
  return std::llround(std::clamp(saved.in(kMicroDollar), -kWeightMax, kWeightMax));
}

std::vector<PairJudged> judge_pairs(std::span<const ShareJob> jobs, const PairTerms& terms) {
  std::vector<PairJudged> judged;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (std::size_t k = i + 1; k < jobs.size(); ++k) {
      judged.push_back({i, k, pair_verdict(jobs[i], jobs[k], terms)});
    }
  }
  return judged;
}

Pairing pairing_of(std::span<const ShareJob> jobs, std::vector<PairJudged> pairs) {
  Pairing pairing{.pairs = std::move(pairs)};
  std::vector<bool> paired(jobs.size(), false);
  for (const PairJudged& pair : pairing.pairs) {
    CHECK(!pair.verdict.options.empty());
    pairing.shared += pair.verdict.options.front().outcome.makespan;
    for (const std::size_t job : {pair.first, pair.second}) {
      CHECK(!paired[job]);
      paired[job] = true;
    }
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Seconds alone = jobs[i].iterations * jobs[i].alone;
    pairing.separate += alone;
    if (paired[i]) continue;
    pairing.alone.push_back(i);
    pairing.shared += alone;
  }
  return pairing;
}

Result<Pairing> best_pairing(std::span<const ShareJob> jobs, std::span<const PairJudged> judged,
                             const ShareCluster& cluster) {
  std::vector<MatchEdge> edges;
  for (const PairJudged& it : judged) {
    if (it.verdict.refusal != PairRefusal::kNone) continue;
    edges.push_back({.first = static_cast<int>(it.first),
                     .second = static_cast<int>(it.second),
                     .weight = matching_weight(cluster.rate.value_or(kAnyRate) *
                                               it.verdict.options.front().saved())});
  }
  const auto chosen = maximum_weight_matching(static_cast<int>(jobs.size()), edges);
  if (!chosen.ok()) return chosen.error();
  std::vector<PairJudged> pairs;
  for (const MatchEdge& edge : *chosen) {
    const auto found = std::find_if(judged.begin(), judged.end(), [&](const PairJudged& it) {
      return static_cast<int>(it.first) == edge.first && static_cast<int>(it.second) == edge.second;
    });
    CHECK(found != judged.end());
    pairs.push_back(*found);
  }
  return pairing_of(jobs, std::move(pairs));
}

}  // namespace stint
