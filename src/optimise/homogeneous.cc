#include "optimise/homogeneous.h"

#include <algorithm>
#include <map>

namespace stint {
namespace {

/// The search over clusters of one machine.
class MachineSearch {
 public:
  MachineSearch(Search& search, const Families& families, std::vector<int> rentals)
      : search_(search), families_(families), rentals_(std::move(rentals)) {}

  /// How many configurations were evaluated.
  std::int64_t run() {
    int vms_max = 0;
    for (const int rental : rentals_) vms_max = std::max(vms_max, of(rental).vms_max);
    for (int vms = 1; vms <= vms_max; ++vms) {
      for (const int workers : machine().worker_choices) {
        const Part part{.rental = rentals_.front(), .vms = vms, .workers_per_vm = workers};
        synchronisation_ = search_.bounds.synchronisation(part);
        const auto& choices = search_.evaluator.question().work.choices;
        for (std::size_t i = 0; i < choices.size(); ++i) look(part, static_cast<int>(i));
      }
    }
    return evaluated_;
  }

 private:
  const Rental& of(int rental) const {
    return search_.evaluator.space().rentals[static_cast<std::size_t>(rental)];
  }
  const Machine& machine() const { return search_.evaluator.space().machine_of(rentals_.front()); }

  /// Rentals that may have as many VMs.
  template <class Visit>
  void for_each_rental(int vms, Visit visit) const {
    for (const int rental : rentals_) {
      if (vms <= of(rental).vms_max) visit(rental);
    }
  }

  bool wanted(const Part& part, int choice, const Bounds::Parts& least) const {
    return !search_.prunes || (wanted(part, choice, least.quick()) &&
                               wanted(part, choice, search_.bounds.iteration(least)));
  }

  bool wanted(const Part& part, int choice, Seconds iteration) const {
    const Seconds time = search_.evaluator.choice_at(choice).iterations * iteration;
    bool wanted = false;
    for_each_rental(part.vms, [&](int rental) {
      const auto family = families_.of[static_cast<std::size_t>(rental)];
      wanted = wanted || search_.wants(family, choice, time, part.vms * of(rental).price * time);
    });
    return wanted;
  }

  void look(const Part& part, int choice) {
    const int batch = search_.evaluator.choice_at(choice).global_batch;
    const int workers = part.vms * part.workers_per_vm;
    const auto& accumulations = search_.evaluator.accumulations(choice);
    if (workers > batch) return;
    if (!wanted(part, choice, search_.bounds.of_cluster(std::span(&part, 1), batch, 1))) return;
    for (const int m : accumulations) {
      if (batch / m < workers) break;
      const int per_worker = (batch / m + workers - 1) / workers;
      if (per_worker > machine().batch_max) continue;
      const Bounds::Parts least = search_.bounds.of_equal(part, per_worker, m, synchronisation_);
      if (wanted(part, choice, least)) evaluate(part, choice, m);
    }
  }

  void evaluate(const Part& part, int choice, int accumulation) {
    Config config{.parts = {part}, .choice = choice, .accumulation = accumulation};
    for (const Collective collective : {Collective::kRing, Collective::kHierarchical}) {
      if (collective != Collective::kRing && !search_.both_collectives) break;
      config.collective = collective;
      const auto outcome = search_.evaluator.outcome(config);
      ++evaluated_;
      if (!outcome) continue;
      for_each_rental(part.vms, [&](int rental) {
        Found found{config, *outcome};
        found.config.parts[0].rental = rental;
        found.outcome.cost = part.vms * of(rental).price * outcome->time;
        search_.offer(families_.of[static_cast<std::size_t>(rental)], found);
      });
    }
  }

  Search& search_;
  const Families& families_;
  std::vector<int> rentals_;
  Seconds synchronisation_;
  std::int64_t evaluated_ = 0;
};

/// Dollars per sample at least, of the cheapest rental.
double least_cost(const Search& search, const std::vector<int>& rentals) {
  double least = std::numeric_limits<double>::infinity();
  for (const int index : rentals) {
    const Rental& rental = search.evaluator.space().rentals[static_cast<std::size_t>(index)];
    const int workers = search.evaluator.space().machine_of(index).worker_choices.back();
    const Seconds per_sample = search.bounds.of(index).compute.per_sample / workers;
    least = std::min(least, (rental.price * per_sample).in(kDollar));
  }
  return least;
}

}  // namespace

std::vector<int> undominated(const Space& space) {
  std::map<std::pair<int, Market>, int> cheapest;
  for (std::size_t i = 0; i < space.rentals.size(); ++i) {
    const Rental& rental = space.rentals[i];
    const auto at =
        cheapest.emplace(std::make_pair(rental.machine, rental.market), static_cast<int>(i)).first;
    if (rental.price < space.rentals[static_cast<std::size_t>(at->second)].price) {
      at->second = static_cast<int>(i);
    }
  }
  std::vector<int> kept;
  for (const auto& [key, rental] : cheapest) kept.push_back(rental);
  return kept;
}

std::int64_t search_homogeneous(Search& search, const Families& families,
                                const std::vector<int>& rentals) {
  std::map<int, std::vector<int>> by_machine;
  for (const int rental : rentals) {
    by_machine[search.evaluator.space().rentals[static_cast<std::size_t>(rental)].machine]
        .push_back(rental);
  }
  // Good plans found early prune more.
  std::vector<std::vector<int>> machines;
  for (auto& [machine, own] : by_machine) machines.push_back(std::move(own));
  std::stable_sort(machines.begin(), machines.end(), [&](const auto& a, const auto& b) {
    return least_cost(search, a) < least_cost(search, b);
  });
  std::int64_t evaluated = 0;
  for (std::vector<int>& own : machines) {
    evaluated += MachineSearch(search, families, std::move(own)).run();
  }
  return evaluated;
}

}  // namespace stint
