#include "optimise/layouts.h"

#include <algorithm>
#include <map>

namespace stint {
namespace {

/// The search over clusters of one machine whose workers hold parts of the model.
class LayoutSearch {
 public:
  LayoutSearch(Search& search, const Families& families, std::vector<int> rentals)
      : search_(search), families_(families), rentals_(std::move(rentals)) {}

  std::int64_t run() {
    int vms_max = 0;
    for (const int rental : rentals_) vms_max = std::max(vms_max, of(rental).vms_max);
    const auto choices = static_cast<int>(search_.evaluator.question().work.choices.size());
    for (int vms = 1; vms <= vms_max; ++vms) {
      for (int choice = 0; choice < choices; ++choice) look(vms, choice);
    }
    return evaluated_;
  }

 private:
  const Rental& of(int rental) const {
    return search_.evaluator.space().rentals[static_cast<std::size_t>(rental)];
  }

  Part part_of(int rental, int vms) const {
    return {.rental = rental,
            .vms = vms,
            .workers_per_vm = search_.evaluator.space().machine_of(rental).worker_choices.back()};
  }

  /// Whether the cluster could be of use to the rental if an iteration took no longer.
  bool wanted(int rental, int vms, int choice, Seconds iteration) const {
    const Part part = part_of(rental, vms);
    const Seconds work = search_.evaluator.choice_at(choice).iterations * iteration;
    const LeastRun least =
        search_.evaluator.risk().least(std::span(&part, 1), vms * of(rental).price, work);
    const auto family = families_.of[static_cast<std::size_t>(rental)];
    return search_.wants(family, choice, least, std::span(&part, 1));
  }

  void look(int vms, int choice) {
    const Evaluator& evaluator = search_.evaluator;
    const int first = rentals_.front();
    if (!may_fit(evaluator.layout_question(first, vms, choice))) return;
    const double workers = vms * part_of(first, vms).workers_per_vm;
    const Seconds least = evaluator.layout_work(first, choice) / workers;
    bool evaluated = false;
    for (const int rental : rentals_) {
      if (vms > of(rental).vms_max || !wanted(rental, vms, choice, least)) continue;
      const Config config{.parts = {part_of(rental, vms)}, .choice = choice};
      const auto iteration = evaluator.iteration(config);
      evaluated = true;
      if (!iteration) break;  // The others differ by their price only.
      search_.offer(families_.of[static_cast<std::size_t>(rental)], config, *iteration);
    }
    if (evaluated) ++evaluated_;
  }

  Search& search_;
  const Families& families_;
  std::vector<int> rentals_;
  std::int64_t evaluated_ = 0;
};

}  // namespace

std::int64_t search_layouts(Search& search, const Families& families,
                            const std::vector<int>& rentals) {
  std::map<int, std::vector<int>> by_machine;
  const Space& space = search.evaluator.space();
  for (const int rental : rentals) {
    by_machine[space.rentals[static_cast<std::size_t>(rental)].machine].push_back(rental);
  }
  // Good plans found early prune more.
  std::vector<std::pair<double, std::vector<int>>> machines;
  for (auto& [machine, own] : by_machine) {
    double least = std::numeric_limits<double>::infinity();
    for (const int rental : own) {
      const double workers = space.machine_of(rental).worker_choices.back();
      const Dollars cost = space.rentals[static_cast<std::size_t>(rental)].price / workers *
                           search.evaluator.layout_work(rental, 0);
      least = std::min(least, cost.in(kDollar));
    }
    machines.emplace_back(least, std::move(own));
  }
  std::stable_sort(machines.begin(), machines.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::int64_t evaluated = 0;
  for (auto& [cost, own] : machines) {
    evaluated += LayoutSearch(search, families, std::move(own)).run();
  }
  return evaluated;
}

}  // namespace stint
