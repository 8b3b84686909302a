#include "optimise/box_bounds.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "optimise/optimise_fixture.h"

namespace stint {
namespace {

/// A box of one or two rentals around a configuration, a little larger on every side.
Box box_around(const BoxBounds& boxes, const Config& config, Random& random) {
  Box box{.kinds = config.kinds};
  for (std::size_t i = 0; i < static_cast<std::size_t>(config.kinds); ++i) {
    const Part& part = config.parts[i];
    std::size_t choice = 0;
    while (boxes.side(part.rental, choice).workers_min != part.workers_per_vm) ++choice;
    const bool any = random.below(2) == 0;
    box.sides[i] = any ? &boxes.side(part.rental) : &boxes.side(part.rental, choice);
    const int below = random.below(3);
    const int above = random.below(5);
    box.low[i] = std::max(1, part.vms - below);
    box.high[i] = part.vms + above;
  }
  return box;
}

/// A configuration of one or two rentals, chosen at random.
Config random_config(const Evaluator& evaluator, Random& random) {
  const Space& space = evaluator.space();
  const auto rentals = static_cast<int>(space.rentals.size());
  Config config{.kinds = 1 + random.below(2)};
  for (std::size_t i = 0; i < static_cast<std::size_t>(config.kinds); ++i) {
    Part& part = config.parts[i];
    part.rental = random.below(rentals);
    const Machine& machine = space.machine_of(part.rental);
    const int most = space.rentals[static_cast<std::size_t>(part.rental)].vms_max;
    part.vms = 1 + random.below(std::max(1, most / config.kinds));
    const auto choices = static_cast<int>(machine.worker_choices.size());
    part.workers_per_vm = machine.worker_choices[static_cast<std::size_t>(random.below(choices))];
    if (config.kinds == 2 && machine.vms_max < 2) config.kinds = 1;
  }
  config.choice = random.below(static_cast<int>(evaluator.question().work.choices.size()));
  const auto& steps = evaluator.accumulations(config.choice);
  config.accumulation =
      steps[static_cast<std::size_t>(random.below(static_cast<int>(steps.size())))];
  return config;
}

void expect_below(const LeastRun& least, const Evaluator& evaluator, const Found& found) {
  const Outcome& outcome = found.outcome;
  ASSERT_LE(least.work, outcome.work);
  ASSERT_LE(least.work_cost, evaluator.rate(found.config) * outcome.work * (1 + 1e-12));
  ASSERT_LE(least.time, outcome.time);
  ASSERT_LE(least.cost, outcome.cost);
}

TEST(BoxBounds, AreNeverAboveWhatAnyClusterOfTheBoxTakes) {
  int compared = 0;
  int mixed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase made(seed);
    const PlanQuestion question = made.question();
    const auto space = plan_space(question);
    ASSERT_TRUE(space.ok());
    if (space->rentals.empty()) continue;
    const Evaluator evaluator(question, *space);
    const Bounds bounds(evaluator);
    const BoxBounds boxes(evaluator, bounds);
    Random random(seed);
    for (int i = 0; i < 300; ++i) {
      const Config config = random_config(evaluator, random);
      const Box box = box_around(boxes, config, random);
      const auto found = evaluator.with_cheapest_save(config);
      if (!found) continue;
      const auto one = boxes.least(box, boxes.work(config.choice));
      const auto any = boxes.least(box, boxes.least_work());
      ASSERT_TRUE(one.has_value());
      ASSERT_TRUE(any.has_value());
      expect_below(*one, evaluator, *found);
      expect_below(*any, evaluator, *found);
      ++compared;
      mixed += config.kinds == 2 ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 1000);
  EXPECT_GT(mixed, 100);
}

TEST(BoxBounds, OfMoreWorkersThanSamplesThereIsNone) {
  const RandomCase made(1);
  const PlanQuestion question = made.question();
  const auto space = plan_space(question);
  ASSERT_TRUE(space.ok());
  const Evaluator evaluator(question, *space);
  const Bounds bounds(evaluator);
  const BoxBounds boxes(evaluator, bounds);
  const BoxWork work = boxes.work(0);
  const Box box{.sides = {&boxes.side(0, 0), nullptr},
                .low = {work.batch + 1, 0},
                .high = {work.batch + 1, 0},
                .kinds = 1};
  EXPECT_FALSE(boxes.least(box, work).has_value());
}

}  // namespace
}  // namespace stint
