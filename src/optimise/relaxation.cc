#include "optimise/relaxation.h"

#include <algorithm>
#include <vector>

#include "optimise/mixed.h"
#include "solver/linear_program.h"

namespace stint {
namespace {

/// The program of one place, in VM-hours and shares of the work.
class PlaceProgram {
 public:
  PlaceProgram(const Search& search, double samples, std::optional<Seconds> longest)
      : search_(search), samples_(samples), longest_(longest) {}

  void add(int index) {
    const Rental& rental = search_.evaluator.space().rentals[static_cast<std::size_t>(index)];
    const Machine& machine = search_.evaluator.space().machine_of(index);
    // A worker alone is not slowed at all.
    const double slow = std::min(1.0, search_.bounds.crowding_min(index));
    const Seconds per_sample = slow * search_.bounds.of(index).per_sample;
    const double share_per_hour = machine.worker_choices.back() * (kHour / per_sample) / samples_;
    // More hours than do all of the work are never of use.
    double most = 1 / share_per_hour;
    if (longest_) most = std::min(most, rental.vms_max * longest_->in(kHour));
    const auto variable = static_cast<int>(program_.variables.size());
    program_.variables.push_back({.cost = rental.price.in(kDollar / kHour), .min = 0, .max = most});
    work_.push_back({variable, share_per_hour});
    vms_.push_back({variable, 1});
    rate_.push_back({variable, rental.price.in(kDollar / kHour)});
    const double vcpus = std::max(1, machine.type->vcpus.value_or(1));
    for (const int quota : rental.quotas) quotas_[quota].push_back({variable, vcpus});
  }

  /// Nothing when no hours do the work.
  Result<std::optional<Dollars>> solve() {
    const Constraints& constraints = search_.evaluator.question().constraints;
    // A share of the work that rounding may take away.
    constexpr double kAllOfIt = 1 - 1e-7;
    program_.rows.push_back({.terms = work_, .min = kAllOfIt});
    if (longest_) {
      const double hours = longest_->in(kHour);
      program_.rows.push_back({.terms = vms_, .max = hours * constraints.vms_max});
      if (constraints.rate_max) {
        program_.rows.push_back(
            {.terms = rate_, .max = hours * constraints.rate_max->in(kDollar / kHour)});
      }
      for (const auto& [quota, terms] : quotas_) {
        const int vcpus = constraints.quotas[static_cast<std::size_t>(quota)].vcpus;
        program_.rows.push_back({.terms = terms, .max = hours * vcpus});
      }
    }
    const auto solution = stint::solve(program_);
    if (!solution.ok()) return solution.error();
    if (solution->outcome != LinearOutcome::kOptimal) return std::optional<Dollars>{};
    return std::optional<Dollars>{std::max(0.0, solution->bound) * kDollar};
  }

 private:
  const Search& search_;
  double samples_;
  std::optional<Seconds> longest_;
  LinearProgram program_;
  std::vector<LinearTerm> work_;
  std::vector<LinearTerm> vms_;
  std::vector<LinearTerm> rate_;
  std::map<int, std::vector<LinearTerm>> quotas_;
};

}  // namespace

std::map<std::string, Dollars> relaxed_costs(const Search& search) {
  const Space& space = search.evaluator.space();
  double samples = std::numeric_limits<double>::infinity();
  for (const BatchChoice& choice : search.evaluator.question().work.choices) {
    samples = std::min(samples, choice.iterations * choice.global_batch);
  }
  std::map<std::string, PlaceProgram> places;
  for (std::size_t i = 0; i < space.rentals.size(); ++i) {
    const auto index = static_cast<int>(i);
    if (space.machine_of(index).sharded) continue;  // Not mixed with others.
    const PlaceProgram fresh(search, samples, search.evaluator.question().constraints.deadline);
    places.emplace(place_of(space, index), fresh).first->second.add(index);
  }
  std::map<std::string, Dollars> costs;
  for (auto& [place, program] : places) {
    // A program that cannot be solved bounds nothing.
    const auto cost = program.solve();
    if (!cost.ok()) costs[place] = Dollars{};
    if (cost.ok() && *cost) costs[place] = **cost;
  }
  return costs;
}

}  // namespace stint
