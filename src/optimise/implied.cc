#include "optimise/implied.h"

#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "optimise/mixed.h"

namespace stint {
namespace {

constexpr std::int64_t kCollectives = 2;

/// The samples of a micro-step, for every batch and number of micro-steps: each of so many workers
/// or fewer has one.
std::vector<int> micro_batches(const Evaluator& evaluator) {
  std::vector<int> samples;
  const auto& choices = evaluator.question().work.choices;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (const int m : evaluator.accumulations(static_cast<int>(i))) {
      samples.push_back(choices[i].global_batch / m);
    }
  }
  return samples;
}

/// What two rentals of a place may have: VMs, and workers on each.
struct Kind {
  int vms_max = 1;
  std::vector<int> workers;

  auto operator<=>(const Kind&) const = default;
};

/// Configurations of two kinds: with all pairs of workers per VM, or only equal ones.
class Pairs {
 public:
  Pairs(const Evaluator& evaluator)
      : samples_(micro_batches(evaluator)), vms_max_(evaluator.question().constraints.vms_max) {}

  std::int64_t of(const Kind& a, const Kind& b, bool equal) {
    const auto [at, fresh] = known_.emplace(std::make_tuple(a, b, equal), 0);
    if (!fresh) return at->second;
    for (const int workers : a.workers) {
      for (const int others : b.workers) {
        if (!equal || workers == others) at->second += count(a, b, workers, others);
      }
    }
    return at->second;
  }

 private:
  std::int64_t count(const Kind& a, const Kind& b, std::int64_t workers,
                     std::int64_t others) const {
    std::int64_t count = 0;
    for (const int samples : samples_) {
      for (std::int64_t first = 1; first <= std::min(a.vms_max, vms_max_ - 1); ++first) {
        if (first * workers >= samples) break;
        const std::int64_t second = (samples - first * workers) / others;
        count += std::min({second, std::int64_t{b.vms_max}, vms_max_ - first});
      }
    }
    return count;
  }

  std::vector<int> samples_;
  int vms_max_;
  std::map<std::tuple<Kind, Kind, bool>, std::int64_t> known_;
};

}  // namespace

std::int64_t implied_homogeneous(const Evaluator& evaluator) {
  const std::vector<int> micro = micro_batches(evaluator);
  const Space& space = evaluator.space();
  std::int64_t count = 0;
  for (const Rental& rental : space.rentals) {
    const Machine& machine = space.machines[static_cast<std::size_t>(rental.machine)];
    if (machine.sharded) continue;
    for (const int workers : machine.worker_choices) {
      for (const int samples : micro) count += std::min(rental.vms_max, samples / workers);
    }
  }
  return kCollectives * count;
}

std::int64_t implied_layouts(const Evaluator& evaluator) {
  const Space& space = evaluator.space();
  const auto choices = static_cast<std::int64_t>(evaluator.question().work.choices.size());
  std::int64_t count = 0;
  for (const Rental& rental : space.rentals) {
    const Machine& machine = space.machines[static_cast<std::size_t>(rental.machine)];
    if (machine.sharded) count += choices * rental.vms_max;
  }
  return count;
}

std::int64_t implied_mixed(const Evaluator& evaluator) {
  const Space& space = evaluator.space();
  std::map<std::string, std::map<Kind, std::int64_t>> places;
  std::map<std::pair<std::string, int>, std::vector<Kind>> markets;  // Of one machine in a place.
  for (std::size_t i = 0; i < space.rentals.size(); ++i) {
    const auto index = static_cast<int>(i);
    const Machine& machine = space.machine_of(index);
    if (machine.vms_max < 2 || machine.sharded) continue;
    const Kind kind{space.rentals[i].vms_max, machine.worker_choices};
    ++places[place_of(space, index)][kind];
    markets[{place_of(space, index), space.rentals[i].machine}].push_back(kind);
  }
  Pairs pairs(evaluator);
  std::int64_t count = 0;
  for (const auto& [place, kinds] : places) {
    for (auto a = kinds.begin(); a != kinds.end(); ++a) {
      for (auto b = a; b != kinds.end(); ++b) {
        const std::int64_t many = a == b ? a->second * (a->second - 1) / 2 : a->second * b->second;
        if (many > 0) count += many * pairs.of(a->first, b->first, false);
      }
    }
  }
  // One machine on both markets has the same workers on each VM.
  for (const auto& [machine, kinds] : markets) {
    if (kinds.size() < 2) continue;
    const Kind& low = std::min(kinds[0], kinds[1]);
    const Kind& high = std::max(kinds[0], kinds[1]);
    count += pairs.of(low, high, true) - pairs.of(low, high, false);
  }
  return kCollectives * count;
}

}  // namespace stint
