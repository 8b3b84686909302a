#include "optimise/mixed.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"

namespace stint {
namespace {

/// Least work of any batch: the fewest samples, and the fewest iterations.
struct LeastWork {
  double samples = std::numeric_limits<double>::infinity();
  double iterations = std::numeric_limits<double>::infinity();
  int surest = 0;  // The choice of batch whose number of iterations is least unsure.
};

LeastWork least_work(const Evaluator& evaluator) {
  LeastWork least;
  const auto& choices = evaluator.question().work.choices;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    least.samples = std::min(least.samples, choices[i].iterations * choices[i].global_batch);
    least.iterations = std::min(least.iterations, choices[i].iterations);
    const auto index = static_cast<int>(i);
    if (evaluator.deviation_min(index) < evaluator.deviation_min(least.surest)) {
      least.surest = index;
    }
  }
  return least;
}

/// One rental as the coarse bound sees it, in plain numbers: this is the innermost loop.
struct Coarse {
  double rate = 0;          // Samples per second of a VM at most, computing.
  double forward_rate = 0;  // And of its forward pass.
  double fixed = 0;         // What a VM spends besides, in samples per iteration, at least.
  double forward_fixed = 0;
  double price = 0;        // Dollars per second.
  double price_floor = 0;  // The same, with what losses cost in any case.
  // Seconds of a synchronisation in a cluster of so many VMs or more.
  std::vector<double> synchronisation;
};

/// So many VMs of both kinds, from and to.
struct Counts {
  std::array<int, 2> low;
  std::array<int, 2> high;

  bool single() const { return low == high; }
};

/// The search over clusters of two rentals.
class PairSearch {
 public:
  PairSearch(Search& search, const LeastWork& least, std::size_t family, int first, int second)
      : search_(search),
        least_(least),
        family_(family),
        rentals_{first, second},
        coarse_{coarse_of(first), coarse_of(second)} {}

  /// How many configurations were evaluated.
  std::int64_t run() {
    branch({.low = {1, 1}, .high = {of(0).vms_max, of(1).vms_max}});
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

  Coarse coarse_of(int rental) const {
    const MachineBound& bound = search_.bounds.of(rental);
    const Space& space = search_.evaluator.space();
    const double workers = space.machine_of(rental).worker_choices.back();
    const double slow = search_.bounds.crowding_min(rental);
    Coarse coarse{
        .rate = workers / (slow * bound.compute.per_sample).in(kSecond),
        .forward_rate = workers / (slow * bound.forward.per_sample).in(kSecond),
        .fixed = bound.compute.fixed / bound.compute.per_sample,
        .forward_fixed = bound.forward.fixed / bound.forward.per_sample,
        .price = space.rentals[static_cast<std::size_t>(rental)].price.in(kDollar / kSecond),
        .price_floor = search_.evaluator.risk().price_floor(rental).in(kDollar / kSecond)};
    for (const Seconds time : bound.synchronisation) {
      coarse.synchronisation.push_back(time.in(kSecond));
    }
    for (std::size_t n = coarse.synchronisation.size() - 1; n-- > 0;) {
      coarse.synchronisation[n] =
          std::min(coarse.synchronisation[n], coarse.synchronisation[n + 1]);
    }
    return coarse;
  }

  /// Halves the larger side until single numbers of VMs are left.
  void branch(Counts counts) {
    for (const std::size_t i : {0U, 1U}) {
      counts.high[i] = std::min(counts.high[i], constraints().vms_max - counts.low[1 - i]);
      if (counts.high[i] < counts.low[i]) return;
    }
    if (search_.prunes && !wanted(counts)) return;
    if (counts.single()) {
      look(counts.low[0], counts.low[1]);
      return;
    }
    const std::size_t side =
        counts.high[0] - counts.low[0] >= counts.high[1] - counts.low[1] ? 0 : 1;
    const int middle = counts.low[side] + (counts.high[side] - counts.low[side]) / 2;
    Counts half = counts;
    half.high[side] = middle;
    branch(half);
    half = counts;
    half.low[side] = middle + 1;
    branch(half);
  }

  /// Whether any configuration of so many VMs could be of use, by the coarse bound: the most
  /// workers compute, the fewest have fixed costs, at the least work of any batch. The dollars per
  /// sample of a mix lie between those of its kinds, so they are least at a corner.
  bool wanted(const Counts& counts) const {
    const auto sum = [&](const std::array<int, 2>& vms, double Coarse::*figure) {
      return vms[0] * (coarse_[0].*figure) + vms[1] * (coarse_[1].*figure);
    };
    const std::array<int, 2> more_first{counts.high[0], counts.low[1]};
    const std::array<int, 2> more_second{counts.low[0], counts.high[1]};
    const auto least_per_sample = [&](double Coarse::*rate) {
      return std::min(sum(more_first, &Coarse::price_floor) / sum(more_first, rate),
                      sum(more_second, &Coarse::price_floor) / sum(more_second, rate));
    };
    const auto work = [&](double Coarse::*fixed) {
      return least_.samples + least_.iterations * sum(counts.low, fixed);
    };
    const auto vms =
        static_cast<std::size_t>(counts.low[0]) + static_cast<std::size_t>(counts.low[1]);
    const double synchronisation = least_.iterations * std::max(coarse_[0].synchronisation[vms],
                                                                coarse_[1].synchronisation[vms]);
    const double compute = work(&Coarse::fixed);
    const double forward = work(&Coarse::forward_fixed);
    const double time =
        std::max(compute / sum(counts.high, &Coarse::rate),
                 forward / sum(counts.high, &Coarse::forward_rate) + synchronisation);
    const double price = sum(counts.low, &Coarse::price_floor);
    const double cost =
        std::max({time * price, compute * least_per_sample(&Coarse::rate),
                  forward * least_per_sample(&Coarse::forward_rate) + synchronisation * price});
    const std::array<Part, 2> fewest{Part{rentals_[0], counts.low[0]},
                                     Part{rentals_[1], counts.low[1]}};
    LeastRun least = search_.evaluator.risk().least(
        fewest, sum(counts.low, &Coarse::price) * kDollar / kSecond, time * kSecond);
    least.cost = std::max(least.cost, cost * kDollar);
    return search_.wants(family_, least_.surest, least);
  }

  void look(int first, int second) {
    const std::array<std::pair<int, int>, 2> counts{std::make_pair(rentals_[0], first),
                                                    std::make_pair(rentals_[1], second)};
    if (!constraints().quotas.empty() &&
        !within_quotas(search_.evaluator.space(), constraints(), counts)) {
      return;
    }
    const DollarsPerSecond rate = first * of(0).price + second * of(1).price;
    constexpr double kRounding = 1 + 1e-12;
    if (constraints().rate_max && rate > *constraints().rate_max * kRounding) return;
    look(first, second, rate);
  }

  void look(int first, int second, DollarsPerSecond rate) {
    for (const int workers : machine(0).worker_choices) {
      for (const int others : machine(1).worker_choices) {
        if (of(0).machine == of(1).machine && workers != others) continue;
        const std::array<Part, 2> parts{Part{rentals_[0], first, workers},
                                        Part{rentals_[1], second, others}};
        const auto& choices = search_.evaluator.question().work.choices;
        for (std::size_t i = 0; i < choices.size(); ++i) {
          look(parts, static_cast<int>(i), rate);
        }
      }
    }
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
      if (search_.prunes && accumulation > 1 && !wanted(accumulation)) break;
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
  const LeastWork& least_;
  std::size_t family_;
  std::array<int, 2> rentals_;
  std::array<Coarse, 2> coarse_;
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
  const LeastWork least = least_work(search.evaluator);
  std::int64_t evaluated = 0;
  pairs.for_each([&](int first, int second) {
    evaluated += PairSearch(search, least, families.count - 1, first, second).run();
  });
  return evaluated;
}

}  // namespace stint
