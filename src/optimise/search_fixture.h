#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "optimise/policy_fixture.h"
#include "optimise/search.h"

namespace stint {

/// Leaves only the named types in the catalogue of `fixture`.
inline void keep_types(PolicyFixture& fixture, const std::vector<std::string>& names) {
  std::erase_if(fixture.predict.catalog.types, [&](const VmType& type) {
    return std::find(names.begin(), names.end(), type.name) == names.end();
  });
}

/// A search over a question, with everything it needs, alive as long as the test.
struct SearchFixture {
  explicit SearchFixture(const PlanQuestion& question)
      : space(*plan_space(question)),
        evaluator(question, space),
        bounds(evaluator),
        boxes(evaluator, bounds),
        judge(evaluator),
        families(families_of(space)),
        leaders(families.count, question.rows) {}
  SearchFixture(const SearchFixture&) = delete;
  SearchFixture& operator=(const SearchFixture&) = delete;

  /// The rental of a type on a market, in the region "here" or the given one.
  int rental(const std::string& type, Market market = Market::kOnDemand,
             const std::string& region = "here") const {
    for (std::size_t i = 0; i < space.rentals.size(); ++i) {
      const auto index = static_cast<int>(i);
      const Rental& it = space.rentals[i];
      const bool wanted = it.market == market && it.region == region;
      if (wanted && space.machine_of(index).type->name == type) return index;
    }
    CHECK(false);
    return 0;
  }

  Found found(const Config& config) const {
    const auto outcome = evaluator.outcome(config);
    CHECK(outcome);
    return {config, *outcome};
  }

  Space space;
  Evaluator evaluator;
  Bounds bounds;
  BoxBounds boxes;
  Judge judge;
  Families families;
  Leaders leaders;
  Front front;
  Search search{
      .evaluator = evaluator, .bounds = bounds, .boxes = boxes, .judge = judge, .leaders = leaders};
};

}  // namespace stint
