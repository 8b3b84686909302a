#include "risk/group_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/check.h"

namespace stint {
namespace {

double tail(const GroupLoss& group) { return 1 / group.reach - 1; }  // The b of Beta(1, b).

void check(const GroupLoss& group, int machines) {
  CHECK(group.shared >= 0 && group.shared <= 1);
  CHECK(group.reach > 0 && group.reach < 1);
  CHECK(machines >= 0);
}

/// Events among `machines` per loss of one machine.
double events(const GroupLoss& group, double machines) {
  const double b = tail(group);
  return (1 - group.shared) * machines + group.shared * (1 + b) * machines / (b + machines);
}

/// Rates at which `machines` lose 1, 2, … of them at once, per rate of one machine. Sizes of shocks
/// are beta-binomial: p(0) = b/(b + n), p(d + 1)/p(d) = (n − d)/(b + n − d − 1).
std::vector<double> size_rates(const GroupLoss& group, int machines) {
  const double b = tail(group);
  const double shocks = group.shared / group.reach;
  std::vector<double> rates(static_cast<std::size_t>(machines));
  double share = b / (b + machines);
  for (int d = 0; d < machines; ++d) {
    share *= (machines - d) / (b + machines - d - 1);
    rates[static_cast<std::size_t>(d)] = shocks * share;
  }
  if (machines > 0) rates.front() += (1 - group.shared) * machines;
  return rates;
}

/// The rates of all states from 0 to `machines`.
std::vector<std::vector<double>> all_rates(const GroupLoss& group, int machines) {
  std::vector<std::vector<double>> rates;
  for (int k = 0; k <= machines; ++k) rates.push_back(size_rates(group, k));
  return rates;
}

// A machine survives this integrated rate with a probability of 2e-22, so that none of a pool is
// left to the precision of a number.
constexpr double kAmountMax = 50;
// Probabilities under this take as long as others and add nothing: the large states of a pool that
// has nearly gone.
constexpr double kNegligible = 1e-300;

/// Uniformisation: events occur at the largest of the states' rates, some of them without effect,
/// so that their number is Poisson-distributed. `rates` has the states up to `machines` at least.
std::vector<double> left_after(const std::vector<std::vector<double>>& rates, int machines,
                               const GroupLoss& group, double amount) {
  const auto n = static_cast<std::size_t>(machines);
  std::vector<double> now(n + 1);
  now[n] = 1;
  const double fastest = events(group, machines);
  const double mean = fastest * amount;
  if (mean <= 0) return now;
  std::vector<double> left(n + 1);
  if (amount > kAmountMax) {
    left[0] = 1;
    return left;
  }
  constexpr double kMargin = 10;  // Standard deviations of the number of events to include.
  const double last = mean + kMargin * std::sqrt(mean) + 2 * kMargin;
  double log_weight = -mean;
  for (int step = 0; step <= last; ++step) {
    const double weight = std::exp(log_weight);
    for (std::size_t k = 0; k <= n; ++k) left[k] += weight * now[k];
    std::vector<double> next(n + 1);
    for (std::size_t k = 0; k <= n; ++k) {
      if (now[k] < kNegligible) continue;
      double stay = now[k];
      for (std::size_t d = 0; d < k; ++d) {
        const double moved = now[k] * rates[k][d] / fastest;
        next[k - d - 1] += moved;
        stay -= moved;
      }
      next[k] += stay;
    }
    now = std::move(next);
    log_weight += std::log(mean / (step + 1));
  }
  return left;
}

/// The number of ticks in which a pool of `first` machines lost `second` of them.
using Drops = std::map<std::pair<int, int>, int>;

/// Larger pools are thinned: a part of a pool follows the same law.
constexpr int kLargestPool = 96;

Drops drops_of(std::span<const AvailabilityTrace> traces) {
  Drops drops;
  for (const AvailabilityTrace& trace : traces) {
    for (std::size_t i = 0; i + 1 < trace.counts.size(); ++i) {
      const int before = trace.counts[i];
      if (before < 2) continue;
      const int pool = std::min(before, kLargestPool);
      const double lost = std::max(0, before - trace.counts[i + 1]);
      ++drops[{pool, static_cast<int>(std::lround(lost * pool / before))}];
    }
  }
  return drops;
}

double log_likelihood(const GroupLoss& group, const Drops& drops, double amount) {
  const auto rates = all_rates(group, drops.rbegin()->first.first);
  double sum = 0;
  int machines = -1;
  std::vector<double> left;
  for (const auto& [drop, count] : drops) {
    if (drop.first != machines) {
      machines = drop.first;
      left = left_after(rates, machines, group, amount);
    }
    const double share = left[static_cast<std::size_t>(machines - drop.second)];
    sum += count * std::log(std::max(share, 1e-300));
  }
  return sum;
}

/// A search on successively finer grids around the best so far: shared on its own scale, reach by
/// its logit.
GroupLoss most_likely(const Drops& drops, double amount) {
  constexpr int kRounds = 4;
  constexpr int kHalf = 4;  // Grid points on each side.
  GroupLoss best;
  double best_score = -std::numeric_limits<double>::infinity();
  double shared_width = 0.5 / kHalf;
  double logit_width = 1.0;
  GroupLoss centre{.shared = 0.5, .reach = 0.3};
  for (int round = 0; round < kRounds; ++round) {
    for (int i = -kHalf; i <= kHalf; ++i) {
      for (int j = -kHalf; j <= kHalf; ++j) {
        const double logit = std::log(centre.reach / (1 - centre.reach)) + j * logit_width;
        const GroupLoss at{.shared = std::clamp(centre.shared + i * shared_width, 0.0, 1.0),
                           .reach = std::clamp(1 / (1 + std::exp(-logit)), 0.005, 0.99)};
        const double score = log_likelihood(at, drops, amount);
        if (score <= best_score) continue;
        best_score = score;
        best = at;
      }
    }
    centre = best;
    shared_width /= kHalf;
    logit_width /= kHalf;
  }
  return best;
}

}  // namespace

PerSecond events_rate(const GroupLoss& group, int machines, PerSecond rate) {
  check(group, machines);
  return machines == 0 ? PerSecond() : events(group, machines) * rate;
}

double all_survive(const GroupLoss& group, int machines, double amount) {
  check(group, machines);
  return machines == 0 ? 1 : std::exp(-events(group, machines) * amount);
}

std::vector<double> left_distribution(const GroupLoss& group, int machines, double amount) {
  check(group, machines);
  CHECK(amount >= 0);
  return left_after(all_rates(group, machines), machines, group, amount);
}

MachinesLeft summary_of(const std::vector<double>& left) {
  CHECK(!left.empty());
  MachinesLeft summary{.mean = 0, .p10 = static_cast<int>(left.size()) - 1, .p90 = 0};
  double below = 0;
  for (std::size_t k = 0; k < left.size(); ++k) {
    summary.mean += static_cast<double>(k) * left[k];
    if (below < 0.1) summary.p10 = static_cast<int>(k);
    if (below < 0.9) summary.p90 = static_cast<int>(k);
    below += left[k];
  }
  return summary;
}

double all_lost_share(const GroupLoss& group, int machines) {
  check(group, machines);
  CHECK(machines >= 1);
  if (machines == 1) return 1;
  // A shock takes all with the probability ∫ pⁿ b (1 − p)^(b − 1) dp.
  const double b = tail(group);
  const double all =
      std::exp(std::lgamma(machines + 1) + std::lgamma(b + 1) - std::lgamma(machines + b + 1));
  return group.shared / group.reach * all / events(group, machines);
}

int sample_event_size(const GroupLoss& group, int machines, Random& random) {
  check(group, machines);
  CHECK(machines >= 1);
  const std::vector<double> rates = size_rates(group, machines);
  double at = random.uniform() * events(group, machines);
  for (int d = 0; d < machines; ++d) {
    at -= rates[static_cast<std::size_t>(d)];
    if (at < 0) return d + 1;
  }
  return machines;
}

std::optional<GroupLoss> fit_group_loss(std::span<const AvailabilityTrace> traces) {
  const Drops drops = drops_of(traces);
  double lost = 0;
  double watched = 0;
  for (const auto& [drop, count] : drops) {
    lost += drop.second * count;
    watched += drop.first * count;
  }
  if (lost <= 0) return std::nullopt;
  return most_likely(drops, -std::log1p(-std::min(lost / watched, 0.999)));
}

}  // namespace stint
