#include "interleave/pairing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "predict/law.h"
#include "solver/matching.h"

namespace stint {
namespace {

/// The uncertain quantities of a job.
enum class Doubt { kCompute, kNetwork, kIterations };

/// The job with one of these longer by a factor.
ShareJob stretched(ShareJob job, Doubt what, double factor) {
  if (what == Doubt::kIterations) {
    job.iterations *= factor;
    return job;
  }
  const Seconds before = total(step_parts(job.setup));
  for (StepGroup& group : job.setup.groups) {
    if (what == Doubt::kCompute) {
      group.forward = factor * group.forward;
      group.backward = factor * group.backward;
      group.update = factor * group.update;
    } else {
      stretch_links(group, factor);
    }
  }
  job.alone = job.alone * (total(step_parts(job.setup)) / before);
  return job;
}

/// Deviations are limited to a factor of two.
const double kDoubtMax = std::log(2.0);

/// Deviations of the logarithms of computing and communication of a job.
struct PartDoubts {
  double compute = 0;
  double network = 0;
};

/// With s the slope of the logarithm of an iteration's time by that of a part, and d its deviation,
/// a measured computing time leaves the whole deviation to communication, as far as possible:
///
///   network = d / s_network,  compute = √(d² − (s_network · network)²) / s_compute
///
/// and else both are d / √(s_compute² + s_network²); each ln 2 at most.
PartDoubts part_doubts(const ShareJob& job) {
  constexpr double kStep = 0.01;
  const auto slope = [&](Doubt what) {
    return std::log(stretched(job, what, 1 + kStep).alone / job.alone) / std::log1p(kStep);
  };
  const double compute = slope(Doubt::kCompute);
  const double network = slope(Doubt::kNetwork);
  const double both = std::hypot(compute, network);
  if (both <= 0) return {};
  const double equal = std::min(job.deviation / both, kDoubtMax);
  if (!job.compute_measured) return {.compute = equal, .network = equal};
  PartDoubts doubts;
  if (network > 0) doubts.network = std::min(job.deviation / network, kDoubtMax);
  const double explained = network * doubts.network;
  const double rest = std::max(0.0, job.deviation * job.deviation - explained * explained);
  if (compute > 0) doubts.compute = std::min(std::sqrt(rest) / compute, kDoubtMax);
  return doubts;
}

constexpr DollarsPerSecond kAnyRate = 1 * kDollar / kHour;
constexpr Dollars kMicroDollar = 1e-6 * kDollar;
constexpr double kWeightMax = 1e15;  // Limit of the solver; a billion dollars.

}  // namespace

TimeRange saved_range(const ShareJob& first, const ShareJob& second, const PairOption& option,
                      const PairTerms& terms) {
  const auto saved = [&](const ShareJob& a, const ShareJob& b) {
    const auto other = pair_option({a, b, option.mode, option.turns}, terms);
    return other ? other->saved() : option.saved();
  };
  double variance = std::pow((option.pace.deviation * option.outcome.makespan).in(kSecond), 2);
  for (const bool is_first : {true, false}) {
    const ShareJob& job = is_first ? first : second;
    const PartDoubts parts = part_doubts(job);
    const std::array<std::pair<Doubt, double>, 3> doubts{
        {{Doubt::kCompute, parts.compute},
         {Doubt::kNetwork, parts.network},
         {Doubt::kIterations, job.iterations_deviation}}};
    for (const auto& doubt : doubts) {
      if (doubt.second <= 0) continue;
      const auto with = [&](double factor) {
        const ShareJob other = stretched(job, doubt.first, factor);
        return is_first ? saved(other, second) : saved(first, other);
      };
      const Seconds difference = with(std::exp(doubt.second)) - with(std::exp(-doubt.second));
      variance += std::pow(difference.in(kSecond) / 2, 2);
    }
  }
  const Seconds width = kEightInTen * std::sqrt(variance) * kSecond;
  Seconds low = option.saved();
  Seconds high = low;
  if (!first.overlap_known || !second.overlap_known) {
    for (const NetworkWhile network : {NetworkWhile::kIdle, NetworkWhile::kBusy}) {
      const Seconds extreme = saved(with_network(first, network), with_network(second, network));
      low = std::min(low, extreme);
      high = std::max(high, extreme);
    }
  }
  return {.mean = option.saved(), .p10 = low - width, .p90 = high + width};
}

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
