#include "optimise/mixed.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"

namespace stint {
namespace {

/// The search over clusters of two rentals.
class PairSearch {
 public:
  PairSearch(Search& search, std::size_t family, int first, int second)
      : search_(search), family_(family), rentals_{first, second} {}

  /// How many configurations were evaluated.
  std::int64_t run() {
    Box box{.sides = {&search_.boxes.side(rentals_[0]), &search_.boxes.side(rentals_[1])},
            .low = {1, 1},
            .high = {of(0).vms_max, of(1).vms_max},
            .kinds = 2};
    const BoxWork& least = search_.boxes.least_work();
    if (!narrowed(box) || !wanted(box, least)) return 0;
    const bool same = of(0).machine == of(1).machine;
    for (std::size_t i = 0; i < machine(0).worker_choices.size(); ++i) {
      for (std::size_t k = 0; k < machine(1).worker_choices.size(); ++k) {
        if (same && i != k) continue;
        box.sides = {&search_.boxes.side(rentals_[0], i), &search_.boxes.side(rentals_[1], k)};
        if (wanted(box, least)) each_batch(box);
      }
    }
    return evaluated_;
  }

 private:
  const Rental& of(std::size_t i) const {
    return search_.evaluator.space().rentals[static_cast<std::size_t>(rentals_[i])];
  }
  const Machine& machine(std::size_t i) const {
    return search_.evaluator.space().machine_of(rentals_[i]);
  }
  const Constraints& constraints() const { return search_.evaluator.question().constraints; }

  void each_batch(const Box& box) {
    const auto choices = static_cast<int>(search_.evaluator.question().work.choices.size());
    for (int choice = 0; choice < choices; ++choice) branch(box, search_.boxes.work(choice));
  }

  /// The box without numbers of VMs that are too many together; false when none are left.
  bool narrowed(Box& box) const {
    for (const std::size_t i : {0U, 1U}) {
      box.high[i] = std::min(box.high[i], constraints().vms_max - box.low[1 - i]);
      if (box.high[i] < box.low[i]) return false;
    }
    return true;
  }

  /// Halves the larger side until single numbers of VMs are left.
  void branch(Box box, const BoxWork& work) {
    if (!narrowed(box) || !wanted(box, work)) return;
    if (box.single()) {
      look(box, work.choice);
      return;
    }
    const std::size_t side = box.high[0] - box.low[0] >= box.high[1] - box.low[1] ? 0 : 1;
    const int middle = box.low[side] + (box.high[side] - box.low[side]) / 2;
    Box half = box;
    half.high[side] = middle;
    branch(half, work);
    half = box;
    half.low[side] = middle + 1;
    branch(half, work);
  }

  /// Whether any configuration of the box could be of use.
  bool wanted(const Box& box, const BoxWork& work) const {
    return search_.wants(family_, box, work);
  }

  void look(const Box& box, int choice) {
    const std::array<std::pair<int, int>, 2> counts{std::make_pair(rentals_[0], box.low[0]),
                                                    std::make_pair(rentals_[1], box.low[1])};
    if (!constraints().quotas.empty() &&
        !within_quotas(search_.evaluator.space(), constraints(), counts)) {
      return;
    }
    const DollarsPerSecond rate = box.low[0] * of(0).price + box.low[1] * of(1).price;
    constexpr double kRounding = 1 + 1e-12;
    if (constraints().rate_max && rate > *constraints().rate_max * kRounding) return;
    const std::array<Part, 2> parts{Part{rentals_[0], box.low[0], box.sides[0]->workers_min},
                                    Part{rentals_[1], box.low[1], box.sides[1]->workers_min}};
    look(parts, choice, rate);
  }

  void look(const std::array<Part, 2>& parts, int choice, DollarsPerSecond rate) {
    const BatchChoice& batch = search_.evaluator.choice_at(choice);
    const int workers =
        parts[0].vms * parts[0].workers_per_vm + parts[1].vms * parts[1].workers_per_vm;
    if (workers > batch.global_batch) return;
    const auto wanted = [&](int accumulation) {
      const auto takes = [&](Seconds iteration) {
        const Seconds work = batch.iterations * iteration;
        const LeastRun least_run = search_.evaluator.risk().least(parts, rate, work);
        return search_.wants(family_, choice, least_run, parts);
      };
      Bounds::Parts least = search_.bounds.of_cluster(parts, batch.global_batch, accumulation);
      if (!takes(least.quick())) return false;
      least.synchronisation = search_.bounds.synchronisation(parts);
      return takes(search_.bounds.iteration(least));
    };
    if (search_.prunes && !wanted(1)) return;
    for (const int accumulation : search_.evaluator.accumulations(choice)) {
      if (batch.global_batch / accumulation < workers) break;
      if (search_.prunes && accumulation > 1 && !wanted(accumulation)) continue;
      evaluate({.parts = parts, .kinds = 2, .choice = choice, .accumulation = accumulation});
    }
  }

  void evaluate(const Config& config) {
    if (!search_.evaluator.accumulates_rightly(config)) return;
    evaluated_ += search_.evaluate_collectives(config, [&](const Config& one, Seconds iteration) {
      return search_.offer(family_, one, iteration);
    });
  }

  Search& search_;
  std::size_t family_;
  std::array<int, 2> rentals_;
  std::int64_t evaluated_ = 0;
};

/// Pairs of rentals of one place each, without those that are both no better than elsewhere.
class Pairs {
 public:
  Pairs(const Space& space, bool dominance) : space_(space), dominance_(dominance) {}

  void add(int first, int second) {
    const auto& a = space_.rentals[static_cast<std::size_t>(first)];
    const auto& b = space_.rentals[static_cast<std::size_t>(second)];
    const Key key{a.machine, b.machine, static_cast<int>(a.market), static_cast<int>(b.market)};
    std::vector<std::pair<int, int>>& places = pairs_[key];
    const auto no_worse_one = [&](int x, int y) {
      return no_worse(space_.rentals[static_cast<std::size_t>(x)],
                      space_.rentals[static_cast<std::size_t>(y)]);
    };
    if (dominance_) {
      for (const auto& [other, another] : places) {
        if (no_worse_one(other, first) && no_worse_one(another, second)) return;
      }
      std::erase_if(places, [&](const auto& place) {
        return no_worse_one(first, place.first) && no_worse_one(second, place.second);
      });
    }
    places.emplace_back(first, second);
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [key, places] : pairs_) {
      for (const auto& [first, second] : places) visit(first, second);
    }
  }

 private:
  using Key = std::array<int, 4>;
  const Space& space_;
  bool dominance_;
  std::map<Key, std::vector<std::pair<int, int>>> pairs_;
};

}  // namespace

std::string place_of(const Space& space, int rental) {
  const std::string& region = space.rentals[static_cast<std::size_t>(rental)].region;
  return space.machine_of(rental).type->provider + "/" + to_lower(region);
}

std::int64_t search_mixed(Search& search, const Families& families,
                          const std::vector<std::string>& places_skipped) {
  const Space& space = search.evaluator.space();
  const bool quotas = !search.evaluator.question().constraints.quotas.empty();
  std::map<std::string, std::vector<int>> places;
  for (std::size_t i = 0; i < space.rentals.size(); ++i) {
    const auto rental = static_cast<int>(i);
    if (space.machine_of(rental).sharded) continue;
    if (space.machine_of(rental).vms_max > 1) places[place_of(space, rental)].push_back(rental);
  }
  const bool dominance = search.prunes && !quotas;
  Pairs pairs(space, dominance);
  for (auto& [place, rentals] : places) {
    if (std::find(places_skipped.begin(), places_skipped.end(), place) != places_skipped.end()) {
      continue;
    }
    for (std::size_t i = 0; i < rentals.size(); ++i) {
      for (std::size_t k = i + 1; k < rentals.size(); ++k) pairs.add(rentals[i], rentals[k]);
    }
  }
  std::int64_t evaluated = 0;
  pairs.for_each([&](int first, int second) {
    evaluated += PairSearch(search, families.count - 1, first, second).run();
  });
  return evaluated;
}

}  // namespace stint
