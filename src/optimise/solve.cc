#include "optimise/solve.h"

#include <algorithm>

#include "optimise/homogeneous.h"
#include "optimise/implied.h"
#include "optimise/layouts.h"
#include "optimise/mixed.h"
#include "optimise/relaxation.h"

namespace stint {
namespace {

// Plans of other VMs each that are kept to compare the best with, however many are shown; the
// format of plans states the number with p_best.
constexpr int kLeaders = 25;

std::vector<int> all_rentals(const Space& space) {
  std::vector<int> rentals;
  for (std::size_t i = 0; i < space.rentals.size(); ++i) rentals.push_back(static_cast<int>(i));
  return rentals;
}

bool contains(const std::vector<Found>& list, const Found& found) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Found& other) { return other.config == found.config; });
}

/// The knee first, then the others by how far they are from it along the front.
std::vector<Found> from_knee(const std::vector<Found>& points, std::size_t rows) {
  const auto middle = knee(points);
  std::vector<Found> sorted;
  if (!middle) return sorted;
  std::vector<std::size_t> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto distance = [&](std::size_t i) { return i > *middle ? i - *middle : *middle - i; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  for (const std::size_t i : order) {
    if (sorted.size() < rows) sorted.push_back(points[i]);
  }
  return sorted;
}

}  // namespace

bool Passes::enabled(const char* name) const {
  return std::find(disabled_.begin(), disabled_.end(), name) == disabled_.end();
}

Solve::Solve(const PlanQuestion& question, Space space)
    : space_(std::move(space)),
      evaluator_(question, space_),
      bounds_(evaluator_),
      boxes_(evaluator_, bounds_),
      judge_(evaluator_),
      families_(families_of(space_)),
      leaders_(families_.count, std::max(question.rows, kLeaders)) {}

bool Solve::by_front() const {
  const Objective objective = evaluator_.question().objective;
  return objective == Objective::kKnee || objective == Objective::kFront;
}

std::int64_t Solve::kept() const {
  return static_cast<std::int64_t>(leaders_.rows().size() + front_.points().size());
}

void Solve::relax(const Search& search, PassReport& report, std::vector<std::string>& skipped) {
  const auto costs = relaxed_costs(search);
  const double best = leaders_.best().first;
  for (const auto& [place, cost] : costs) {
    relaxed_bound_ = std::min(cost, relaxed_bound_.value_or(cost));
    const bool no_better = cost.in(kDollar) >= best;
    if (no_better && search.front == nullptr) skipped.push_back(place);
  }
  report.kept = static_cast<std::int64_t>(costs.size() - skipped.size());
}

void Solve::run(Passes& passes) {
  const bool dominance = passes.enabled(kDominancePass);
  Search search{.evaluator = evaluator_,
                .bounds = bounds_,
                .boxes = boxes_,
                .judge = judge_,
                .leaders = leaders_,
                .front = passes.enabled(kFrontPass) || by_front() ? &front_ : nullptr,
                .front_passes = by_front(),
                .prunes = passes.enabled(kBoundsPass),
                .both_collectives = !dominance};
  std::vector<int> rentals = all_rentals(space_);
  if (dominance) {
    passes.run(kDominancePass, [&](PassReport& report) {
      rentals = undominated(space_);
      report.kept = static_cast<std::int64_t>(rentals.size());
    });
  }
  const auto parts = std::stable_partition(rentals.begin(), rentals.end(),
                                           [&](int it) { return !space_.machine_of(it).sharded; });
  const std::vector<int> sharded(parts, rentals.end());
  rentals.erase(parts, rentals.end());
  passes.run("homogeneous", [&](PassReport& report) {
    report.evaluated = search_homogeneous(search, families_, rentals);
    report.kept = kept();
  });
  if (!sharded.empty()) {
    passes.run(kLayoutsPass, [&](PassReport& report) {
      report.evaluated = search_layouts(search, families_, sharded);
      report.kept = kept();
    });
  }
  std::vector<std::string> skipped;
  if (passes.enabled(kRelaxationPass) && evaluator_.question().objective == Objective::kCost) {
    passes.run(kRelaxationPass, [&](PassReport& report) { relax(search, report, skipped); });
  }
  if (!passes.enabled(kMixedPass)) return;
  passes.run(kMixedPass, [&](PassReport& report) {
    report.evaluated = search_mixed(search, families_, skipped);
    report.kept = kept();
  });
  complete_ = true;
}

std::vector<Found> Solve::rows() const {
  const auto rows = static_cast<std::size_t>(std::max(1, evaluator_.question().rows));
  switch (evaluator_.question().objective) {
    case Objective::kKnee:
    case Objective::kFront:
      return from_knee(front_.points(), rows);
    case Objective::kCost:
    case Objective::kTime:
      break;
  }
  std::vector<Found> best = leaders_.rows();
  best.resize(std::min(best.size(), rows));
  return best;
}

std::vector<Found> Solve::others() const {
  const std::vector<Found> known = leaders();
  std::vector<Found> others;
  const auto add = [&](const Found& found) {
    if (!contains(known, found) && !contains(others, found)) others.push_back(found);
  };
  for (const Found& found : front_.points()) add(found);
  for (const Found& row : rows()) {
    for (const int change : {-2, -1, 1, 2}) {
      Found other = row;
      Part& part = other.config.parts[0];
      part.vms += change;
      const Rental& rental = space_.rentals[static_cast<std::size_t>(part.rental)];
      if (row.config.kinds != 1 || part.vms < 1 || part.vms > rental.vms_max) continue;
      const auto found = evaluator_.with_cheapest_save(other.config);
      if (found && judge_.affordable(found->outcome)) add(*found);
    }
  }
  return others;
}

}  // namespace stint
