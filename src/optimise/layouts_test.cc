#include "optimise/layouts.h"

#include <cmath>
#include <gtest/gtest.h>

#include "optimise/optimise.h"
#include "optimise/optimise_fixture.h"
#include "optimise/search.h"
#include "predict/sharded/sharded_fixture.h"

namespace stint {
namespace {

const FixedClock kClock{Seconds{}};

/// A random question about a small transformer that no replica of fits on the GPUs called so, or
/// hardly.
class ShardedCase {
 public:
  ShardedCase(std::uint64_t seed, const std::vector<std::string>& small)
      : case_(seed), random_(seed + 5000), model_(small_model(random_)) {
    model_.precision = WorkPrecision::kFp32;
    model_.laws.spread = random_.uniform(0.05, 0.3);
    const double states = 16 * model_.parameters();
    for (Gpu& gpu : case_.catalog().gpus) {
      if (std::find(small.begin(), small.end(), gpu.name) == small.end()) continue;
      // Below the gigabyte that the job takes at any batch.
      gpu.memory = std::min(0.9e9, random_.uniform(0.1, 1.5) * states) * kByte;
      // Or with little room beside it, where both replicas and parts are possible.
      if (seed % 5 == 0) gpu.memory = std::max(1.5e9, random_.uniform(1, 1.9) * states) * kByte;
    }
  }

  PlanQuestion question(bool sharded) const {
    PlanQuestion question = case_.question();
    question.disabled_passes = {"posterior"};
    question.constraints.vms_max = std::min(question.constraints.vms_max, 3);
    PredictContext context{question.context.job, question.context.catalog, question.context.law,
                           question.context.devices, sharded ? &model_ : nullptr};
    return {.context = context,
            .work = question.work,
            .constraints = question.constraints,
            .objective = question.objective,
            .rows = question.rows,
            .disabled_passes = question.disabled_passes,
            .outlook = question.outlook};
  }

 private:
  RandomCase case_;
  Random random_;
  ShardedModel model_;
};

using Worth = std::pair<double, double>;

Worth worth(const PlanQuestion& question, Seconds time, Dollars cost) {
  const bool by_time = question.objective == Objective::kTime;
  // Times that count as equal leave the choice to the cost.
  const double steps = std::floor(std::log(time.in(kSecond)) / kTimesEqual);
  return by_time ? Worth(steps, cost.in(kDollar)) : Worth(cost.in(kDollar), time.in(kSecond));
}

/// Tries every layout of every cluster that shards, in loops of its own.
std::optional<Worth> best_by_force(const PlanQuestion& question) {
  const Space space = *plan_space(question, Sharding::kAllowed);
  const Evaluator evaluator(question, space);
  const Constraints& limits = question.constraints;
  std::optional<Worth> best;
  const auto take = [&](const Found& found) {
    const Outcome& it = found.outcome;
    if (limits.rate_max && it.cost / it.time > *limits.rate_max * (1 + 1e-9)) return;
    const Worth value = worth(question, it.time, it.cost);
    if (best && value >= *best) return;
    const double deviation = evaluator.deviation(found.config, it);
    const auto kept = [&](auto limit) {
      return !limit || evaluator.p_within(found, *limit, deviation) >= limits.confidence;
    };
    if (kept(limits.deadline) && kept(limits.budget)) best = value;
  };
  for (int rental = 0; rental < static_cast<int>(space.rentals.size()); ++rental) {
    const Machine& machine = space.machine_of(rental);
    for (int vms = 1; machine.sharded && vms <= machine.vms_max; ++vms) {
      const std::pair<int, int> counts[] = {{rental, vms}};
      const auto& rate = space.rentals[static_cast<std::size_t>(rental)].price;
      if (!within_quotas(space, limits, counts)) continue;
      if (limits.rate_max && vms * rate > *limits.rate_max * (1 + 1e-12)) continue;
      for (int choice = 0; choice < static_cast<int>(question.work.choices.size()); ++choice) {
        const LayoutList list = all_layouts(evaluator.layout_question(rental, vms, choice));
        if (list.fitting.empty()) continue;
        Config config{.parts = {Part{rental, vms, machine.worker_choices.back()}},
                      .choice = choice};
        for (const SaveChoice& save : evaluator.risk().choices(config)) {
          config.save = save;
          const auto outcome = evaluator.outcome(config, list.fitting.front().iteration);
          if (outcome) take({config, *outcome});
        }
      }
    }
  }
  return best;
}

std::optional<Plan> first_plan(const PlanQuestion& question) {
  const auto answer = optimise(question, kClock);
  if (!answer.ok() || answer->plans.empty()) return std::nullopt;
  EXPECT_LE(*answer->gap, question.objective == Objective::kTime ? kTimesEqual : 0);
  return answer->plans.front();
}

TEST(Layouts, EqualBruteForceOverAllLayoutsAndClusters) {
  int sharded = 0;
  int replicas = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<std::string> small = {"T4", "Fast"};
    if (seed % 2 == 0) small.emplace_back("Odd");
    const ShardedCase it(seed, small);
    const PlanQuestion question = it.question(true);
    std::optional<Worth> best = best_by_force(question);
    const auto plain = first_plan(it.question(false));
    if (plain) {
      const Worth value = worth(question, plain->time.mean, plain->cost.mean);
      best = best ? std::min(*best, value) : value;
    }
    const auto plan = first_plan(question);
    ASSERT_EQ(plan.has_value(), best.has_value());
    if (!plan) continue;
    const Worth value = worth(question, plan->time.mean, plan->cost.mean);
    EXPECT_NEAR(value.first / best->first, 1, 1e-9);
    EXPECT_NEAR(value.second / best->second, 1, 1e-9);
    ++(plan->parallel_layout ? sharded : replicas);
    EXPECT_EQ(plan->parallel_layout.has_value(), plan->sharding.has_value());
    EXPECT_TRUE(validate(PlanAnswer{.plans = {*plan}}).ok());
  }
  // The cases are of all kinds.
  EXPECT_GT(sharded, 20);
  EXPECT_GT(replicas, 5);
}

TEST(Layouts, AJobThatFitsKeepsItsPlans) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const ShardedCase it(seed, {});
    const auto with = first_plan(it.question(true));
    const auto without = first_plan(it.question(false));
    ASSERT_EQ(with.has_value(), without.has_value());
    if (!with) continue;
    EXPECT_EQ(with->cost.mean, without->cost.mean);
    EXPECT_FALSE(with->parallel_layout);
  }
}

TEST(Layouts, PlansNameTheLayoutItsPartsAndTheRunnerUp) {
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 20; seed += 2) {
    const ShardedCase it(seed, {"T4", "Fast", "Odd"});
    const auto plan = first_plan(it.question(true));
    if (!plan) continue;
    ++seen;
    ASSERT_TRUE(plan->parallel_layout);
    EXPECT_EQ(*plan->parallel_layout, to_text(plan->sharding->layout));
    EXPECT_NEAR(plan->prediction->iteration.mean / plan->sharding->mean, 1, 1e-12);
    if (plan->runner_up) EXPECT_LE(plan->sharding->mean, plan->runner_up->mean);
    EXPECT_GE(plan->sharding->p_fits, kFitsConfidence);
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace stint
