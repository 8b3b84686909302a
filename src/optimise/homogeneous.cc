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
    const auto choices = static_cast<int>(search_.evaluator.question().work.choices.size());
    // Few VMs first, and all their accelerators: what is found early cuts off more.
    for (int low = 1; low <= vms_max; low *= 2) {
      const int high = std::min(2 * low - 1, vms_max);
      for (std::size_t i = machine().worker_choices.size(); i-- > 0;) {
        workers_ = i;
        for (int choice = 0; choice < choices; ++choice) {
          branch(low, high, search_.boxes.work(choice));
        }
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

  /// Halves a range of numbers of VMs until single ones are left.
  void branch(int low, int high, const BoxWork& work) {
    if (search_.prunes && !wanted(low, high, work)) return;
    if (low == high) {
      const Part part{.rental = rentals_.front(),
                      .vms = low,
                      .workers_per_vm = machine().worker_choices[workers_]};
      look(part, work.choice);
      return;
    }
    const int middle = low + (high - low) / 2;
    branch(low, middle, work);
    branch(middle + 1, high, work);
  }

  /// Whether any number of VMs of the range could be of use to any rental.
  bool wanted(int low, int high, const BoxWork& work) const {
    bool wanted = false;
    for_each_rental(low, [&](int rental) {
      if (wanted) return;
      const Box box{.sides = {&search_.boxes.side(rental, workers_), nullptr},
                    .low = {low, 0},
                    .high = {high, 0},
                    .kinds = 1};
      wanted = search_.wants(families_.of[static_cast<std::size_t>(rental)], box, work);
    });
    return wanted;
  }

  bool wanted(const Part& part, int choice, const Bounds::Parts& least, bool lasts) const {
    return !search_.prunes || (wanted(part, choice, least.quick(), false) &&
                               wanted(part, choice, search_.bounds.iteration(least), lasts));
  }

  /// `lasts`: also whether losses leave it time, which takes longer to say.
  bool wanted(const Part& part, int choice, Seconds iteration, bool lasts) const {
    const Seconds time = search_.evaluator.choice_at(choice).iterations * iteration;
    bool wanted = false;
    for_each_rental(part.vms, [&](int rental) {
      const auto family = families_.of[static_cast<std::size_t>(rental)];
      Part own = part;
      own.rental = rental;
      const auto least =
          search_.evaluator.risk().least(std::span(&own, 1), part.vms * of(rental).price, time);
      wanted = wanted || search_.wants(family, choice, least, std::span(&own, lasts ? 1 : 0));
    });
    return wanted;
  }

  void look(const Part& part, int choice) {
    const int batch = search_.evaluator.choice_at(choice).global_batch;
    const int workers = part.vms * part.workers_per_vm;
    const auto& accumulations = search_.evaluator.accumulations(choice);
    if (workers > batch) return;
    const auto any = search_.bounds.of_cluster(std::span(&part, 1), batch, 1);
    if (!wanted(part, choice, any, true)) return;
    synchronisation_ = search_.bounds.synchronisation(part);
    for (const int m : accumulations) {
      if (batch / m < workers) break;
      const int per_worker = (batch / m + workers - 1) / workers;
      if (per_worker > machine().batch_max) continue;
      const Bounds::Parts least = search_.bounds.of_equal(part, per_worker, m, synchronisation_);
      if (wanted(part, choice, least, false)) evaluate(part, choice, m);
    }
  }

  void evaluate(const Part& part, int choice, int accumulation) {
    const Config config{.parts = {part}, .choice = choice, .accumulation = accumulation};
    if (!search_.evaluator.accumulates_rightly(config)) return;
    evaluated_ += search_.evaluate_collectives(config, [&](Config& one, Seconds iteration) {
      bool refused = false;
      for_each_rental(part.vms, [&](int rental) {
        one.parts[0].rental = rental;
        const std::size_t family = families_.of[static_cast<std::size_t>(rental)];
        refused = search_.offer(family, one, iteration) || refused;
      });
      return refused;
    });
  }

  Search& search_;
  const Families& families_;
  std::vector<int> rentals_;
  std::size_t workers_ = 0;  // Index of the choice of workers per VM.
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
  std::map<std::pair<int, Market>, std::vector<int>> best;
  const auto at = [&](int rental) -> const Rental& {
    return space.rentals[static_cast<std::size_t>(rental)];
  };
  for (int i = 0; i < static_cast<int>(space.rentals.size()); ++i) {
    std::vector<int>& others = best[{at(i).machine, at(i).market}];
    const bool dominated = std::any_of(others.begin(), others.end(),
                                       [&](int other) { return no_worse(at(other), at(i)); });
    if (dominated) continue;
    std::erase_if(others, [&](int other) { return no_worse(at(i), at(other)); });
    others.push_back(i);
  }
  std::vector<int> kept;
  for (const auto& [key, rentals] : best) kept.insert(kept.end(), rentals.begin(), rentals.end());
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
