#include "optimise/optimise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <vector>

#include "optimise/evaluate.h"
#include "optimise/optimise_fixture.h"
#include "optimise/policy_fixture.h"
#include "optimise/search.h"

namespace stint {
namespace {

const FixedClock kClock{Seconds{}};

PlanAnswer answered(const PlanQuestion& question) {
  auto answer = optimise(question, kClock);
  EXPECT_TRUE(answer.ok()) << answer.error().message;
  return answer.ok() ? *answer : PlanAnswer{};
}

bool infeasible(const PlanQuestion& question) {
  const auto answer = optimise(question, kClock);
  return answer.ok() ? answer->plans.empty() : answer.error().kind == ErrorKind::kInfeasible;
}

/// Tries everything, in loops of its own.
class BruteForce {
 public:
  explicit BruteForce(const PlanQuestion& question)
      : question_(question), space_(*plan_space(question)), evaluator_(question_, space_) {
    const auto rentals = static_cast<int>(space_.rentals.size());
    for (int a = 0; a < rentals; ++a) {
      for (int n = 1; n <= space_.machine_of(a).vms_max; ++n) {
        for (const int w : space_.machine_of(a).worker_choices) {
          try_all({.parts = {Part{a, n, w}}, .kinds = 1});
        }
      }
      for (int b = a + 1; b < rentals; ++b) try_pair(a, b);
    }
  }

  std::optional<Outcome> best;
  std::vector<Outcome> all;  // Deadline and budget aside.

 private:
  void try_pair(int a, int b) {
    const auto& x = space_.rentals[static_cast<std::size_t>(a)];
    const auto& y = space_.rentals[static_cast<std::size_t>(b)];
    const bool together = x.region == y.region && space_.machine_of(a).type->provider ==
                                                      space_.machine_of(b).type->provider;
    if (!together || space_.machine_of(a).vms_max < 2 || space_.machine_of(b).vms_max < 2) return;
    for (int n = 1; n < question_.constraints.vms_max; ++n) {
      for (int k = 1; n + k <= question_.constraints.vms_max; ++k) {
        for (const int w : space_.machine_of(a).worker_choices) {
          for (const int v : space_.machine_of(b).worker_choices) {
            if (x.machine == y.machine && v != w) continue;
            try_all({.parts = {Part{a, n, w}, Part{b, k, v}}, .kinds = 2});
          }
        }
      }
    }
  }

  void try_all(Config config) {
    std::vector<std::pair<int, int>> counts;
    for (const Part& part : config.used()) counts.emplace_back(part.rental, part.vms);
    if (!within_quotas(space_, question_.constraints, counts)) return;
    const auto& limit = question_.constraints.rate_max;
    if (limit && evaluator_.rate(config) > *limit * (1 + 1e-12)) return;
    const auto& choices = question_.work.choices;
    for (config.choice = 0; config.choice < static_cast<int>(choices.size()); ++config.choice) {
      for (const Collective collective : {Collective::kRing, Collective::kHierarchical}) {
        config.collective = collective;
        for (int m = 1; m <= kAccumulationMax; ++m) {
          if (evaluator_.choice_of(config).global_batch % m != 0) continue;
          config.accumulation = m;
          const auto iteration = evaluator_.iteration(config);
          if (!iteration || !evaluator_.accumulates_rightly(config)) continue;
          for (const SaveChoice& save : evaluator_.risk().choices(config)) {
            config.save = save;
            if (const auto outcome = evaluator_.outcome(config, *iteration)) take(config, *outcome);
          }
        }
      }
    }
  }

  void take(const Config& config, const Outcome& outcome) {
    const auto& limit = question_.constraints.rate_max;
    if (limit && outcome.cost / outcome.time > *limit * (1 + 1e-9)) return;
    all.push_back(outcome);
    const bool by_time = question_.objective == Objective::kTime;
    const auto value_of = [&](const Outcome& it, double risk) {
      // Times that count as equal leave the choice to the cost.
      const double steps = std::floor(std::log(it.time.in(kSecond)) / kTimesEqual);
      return by_time ? std::make_pair(steps, it.cost.in(kDollar))
                     : std::make_pair(risk * it.cost.in(kDollar), it.time.in(kSecond));
    };
    if (best && value_of(outcome, 1) >= least_) return;
    const Constraints& constraints = question_.constraints;
    const bool weighs = constraints.miss && constraints.deadline && !by_time;
    // Being late without a loss is being late; asked first, because the rest takes its time.
    if (constraints.deadline && outcome.work > *constraints.deadline) return;
    const Found found{config, outcome};
    const double deviation = evaluator_.deviation(config, outcome);
    const auto kept = [&](auto limit) {
      return limit ? evaluator_.p_within(found, *limit, deviation) : 1;
    };
    const double in_time = kept(constraints.deadline);
    if (in_time < (weighs ? constraints.miss->least : constraints.confidence)) return;
    if (kept(constraints.budget) < constraints.confidence) return;
    const auto value = value_of(outcome, weighs ? risk_factor(*constraints.miss, in_time) : 1);
    if (best && value >= least_) return;
    best = outcome;
    least_ = value;
  }

  PlanQuestion question_;
  Space space_;
  Evaluator evaluator_;
  std::pair<double, double> least_;  // The value of the best.
};

TEST(Optimise, EqualsBruteForceOnAThousandSmallCatalogues) {
  int feasible = 0;
  int mixed = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random(seed);
    PlanQuestion question = random.question();
    question.disabled_passes = {"posterior"};
    const BruteForce brute(question);
    if (!brute.best) {
      EXPECT_TRUE(infeasible(question));
      continue;
    }
    const PlanAnswer answer = answered(question);
    ASSERT_FALSE(answer.plans.empty());
    const Plan& plan = answer.plans.front();
    EXPECT_NEAR(plan.cost.mean / brute.best->cost, 1, 1e-9);
    EXPECT_NEAR(plan.time.mean / brute.best->time, 1, 1e-9);
    EXPECT_LE(*answer.gap, question.objective == Objective::kTime ? kTimesEqual : 0);
    ++feasible;
    if (plan.cluster.groups.size() == 2) ++mixed;
  }
  // The cases are of all kinds.
  EXPECT_GT(feasible, 500);
  EXPECT_LT(feasible, 950);
  EXPECT_GT(mixed, 20);
}

/// A question that weighs the risk of missing its deadline, with a charge of seeded chance.
PlanQuestion weighing(const RandomCase& random, std::uint64_t seed) {
  Random chance = Random(seed).fork(7);
  PlanQuestion question = random.question();
  question.disabled_passes = {"posterior"};
  question.objective = Objective::kCost;
  const double hours = std::exp(chance.uniform(std::log(0.5), std::log(20)));
  if (!question.constraints.deadline) question.constraints.deadline = hours * kHour;
  question.constraints.miss = MissCharge{.bills = std::exp(chance.uniform(-1, 3))};
  if (chance.uniform() < 0.3) question.constraints.miss->least = 0.8;
  return question;
}

TEST(Optimise, WeighsTheRiskOfAMissAsBruteForceDoes) {
  int risky = 0;
  int bought = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random(seed);
    const PlanQuestion question = weighing(random, seed);
    const BruteForce brute(question);
    if (!brute.best) {
      EXPECT_TRUE(infeasible(question));
      continue;
    }
    const PlanAnswer answer = answered(question);
    ASSERT_FALSE(answer.plans.empty());
    const Plan& plan = answer.plans.front();
    EXPECT_NEAR(plan.cost.mean / brute.best->cost, 1, 1e-9);
    EXPECT_NEAR(plan.time.mean / brute.best->time, 1, 1e-9);
    if (*plan.p_deadline < 0.99) ++risky;
    if (answer.front.back().cost.mean < plan.cost.mean * (1 - 1e-9)) ++bought;
  }
  // There are cases where a risk is taken, and such where one is bought off.
  EXPECT_GT(risky, 30);
  EXPECT_GT(bought, 30);
}

// The bounds of the search, each pass and each collective are as safe as without a charge.
TEST(Optimise, PruningDoesNotChangeWhatRiskIsTaken) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random(seed);
    PlanQuestion question = weighing(random, seed);
    if (infeasible(question)) continue;
    const PlanAnswer with = answered(question);
    for (const char* pass : {"dominance", "bounds", "relaxation", "front"}) {
      question.disabled_passes = {"posterior", pass};
      const PlanAnswer without = answered(question);
      ASSERT_EQ(with.plans.size(), without.plans.size()) << pass;
      for (std::size_t i = 0; i < with.plans.size(); ++i) {
        EXPECT_NEAR(with.plans[i].cost.mean / without.plans[i].cost.mean, 1, 1e-9) << pass;
        EXPECT_NEAR(*with.plans[i].p_deadline, *without.plans[i].p_deadline, 1e-9) << pass;
      }
    }
  }
}

// What is as likely to be in time costs no less, and the safer plan is what a demand gives.
TEST(Optimise, ShowsTheSaferPlanThatADemandGives) {
  int safer = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random(seed);
    PlanQuestion question = weighing(random, seed);
    question.constraints.miss->bills = 0.2;  // Certainty is rarely bought.
    question.constraints.confidence = 0.95;
    if (infeasible(question)) continue;
    const PlanAnswer answer = answered(question);
    const double confidence = question.constraints.confidence;
    question.constraints.miss.reset();
    const PlanAnswer sure = infeasible(question) ? PlanAnswer{} : answered(question);
    const bool wanted = answer.plans.front().p_deadline < confidence && !sure.plans.empty();
    ASSERT_EQ(answer.safer.has_value(), wanted);
    if (!wanted) continue;
    ++safer;
    EXPECT_NEAR(answer.safer->cost.mean / sure.plans.front().cost.mean, 1, 1e-12);
    EXPECT_GE(*answer.safer->p_deadline, confidence);
    EXPECT_LE(answer.plans.front().cost.mean, answer.safer->cost.mean);
  }
  EXPECT_GT(safer, 5);
}

TEST(Optimise, TheFrontHoldsWhatNothingElseDominates) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random(seed);
    PlanQuestion question = random.question();
    question.objective = Objective::kFront;
    question.constraints.deadline.reset();
    question.constraints.budget.reset();
    const BruteForce brute(question);
    if (brute.all.empty()) continue;
    const PlanAnswer answer = answered(question);
    ASSERT_FALSE(answer.front.empty());
    for (const Outcome& outcome : brute.all) {
      const bool covered =
          std::any_of(answer.front.begin(), answer.front.end(), [&](const Plan& plan) {
            return plan.time.mean <= outcome.time * (1 + 1e-9) &&
                   plan.cost.mean <= outcome.cost * (1 + 1e-9);
          });
      ASSERT_TRUE(covered);
    }
    for (const Plan& plan : answer.front) {
      const bool real = std::any_of(brute.all.begin(), brute.all.end(), [&](const Outcome& it) {
        return std::abs(plan.time.mean / it.time - 1) < 1e-9 &&
               std::abs(plan.cost.mean / it.cost - 1) < 1e-9;
      });
      ASSERT_TRUE(real);
    }
  }
}

TEST(Optimise, PassesThatOnlyPruneDoNotChangeTheAnswer) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random(seed);
    PlanQuestion question = random.question();
    if (infeasible(question)) continue;
    const PlanAnswer with = answered(question);
    for (const char* pass : {"dominance", "bounds", "relaxation", "front", "posterior"}) {
      question.disabled_passes = {pass};
      const PlanAnswer without = answered(question);
      ASSERT_EQ(with.plans.size(), without.plans.size()) << pass;
      for (std::size_t i = 0; i < with.plans.size(); ++i) {
        EXPECT_NEAR(with.plans[i].cost.mean / without.plans[i].cost.mean, 1, 1e-9) << pass;
        EXPECT_NEAR(with.plans[i].time.mean / without.plans[i].time.mean, 1, 1e-9) << pass;
      }
    }
  }
}

/// The best cost, or infinity where there is no plan.
double best_cost(PlanQuestion question) {
  question.disabled_passes = {"posterior", "front"};
  if (infeasible(question)) return std::numeric_limits<double>::infinity();
  return answered(question).plans.front().cost.mean.in(kDollar);
}

TEST(Optimise, AskingForMoreNeverCostsLess) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random(seed);
    PlanQuestion question = random.question();
    question.objective = Objective::kCost;
    const double cost = best_cost(question);
    PlanQuestion harder = question;
    harder.constraints.deadline = 0.7 * question.constraints.deadline.value_or(20 * kHour);
    EXPECT_GE(best_cost(harder), cost * (1 - 1e-12));
    harder.constraints = question.constraints;
    harder.constraints.confidence = 0.99;
    EXPECT_GE(best_cost(harder), cost * (1 - 1e-12));
    harder.constraints = question.constraints;
    harder.constraints.vms_max = std::max(1, question.constraints.vms_max - 1);
    EXPECT_GE(best_cost(harder), cost * (1 - 1e-12));
    PlanQuestion easier = question;
    for (Quota& quota : easier.constraints.quotas) quota.vcpus *= 2;
    EXPECT_LE(best_cost(easier), cost * (1 + 1e-12));
  }
}

TEST(Optimise, ScalingAllPricesScalesTheBillAndLeavesTheChoice) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    RandomCase random(seed);
    PlanQuestion question = random.question();
    question.objective = Objective::kCost;
    question.constraints.budget.reset();
    question.constraints.rate_max.reset();
    question.disabled_passes = {"posterior"};
    if (infeasible(question)) continue;
    const PlanAnswer before = answered(question);
    for (VmType& type : random.catalog().types) {
      for (Offer& offer : type.offers) {
        if (offer.on_demand) offer.on_demand->rate = 3 * offer.on_demand->rate;
        if (offer.spot) offer.spot->rate = 3 * offer.spot->rate;
      }
    }
    const PlanAnswer after = answered(question);
    EXPECT_EQ(to_text(before.plans[0].cluster), to_text(after.plans[0].cluster));
    // All but that of storage, which is next to nothing.
    EXPECT_NEAR(after.plans[0].cost.mean / before.plans[0].cost.mean, 3, 2e-3);
  }
}

TEST(Optimise, NoClusterIsCheaperThanTheRelaxation) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random(seed);
    PlanQuestion question = random.question();
    question.objective = Objective::kCost;
    question.disabled_passes = {"mixed", "posterior"};
    if (infeasible(question)) continue;
    const PlanAnswer answer = answered(question);
    ASSERT_TRUE(answer.relaxed_bound);
    question.disabled_passes = {};
    EXPECT_LE(answer.relaxed_bound->in(kDollar), best_cost(question) * (1 + 1e-9));
    EXPECT_GE(*answer.gap, 0);
  }
}

TEST(Optimise, ProbabilitiesOfBeingBestAreProbabilities) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RandomCase random(seed);
    const PlanQuestion question = random.question();
    if (infeasible(question)) continue;
    const PlanAnswer answer = answered(question);
    double sum = 0;
    for (const Plan& plan : answer.plans) sum += plan.p_best.value_or(-10);
    EXPECT_GE(sum, 0);
    EXPECT_LE(sum, 1 + 1e-9);
    EXPECT_GE(answer.value_of_measuring.value_or(Dollars{}), Dollars{});
  }
}

TEST(Optimise, SaysWhatCannotBeKeptAndByHowMuch) {
  const RandomCase random(3);
  PlanQuestion question = random.question();
  question.constraints = {.deadline = 1 * kSecond, .vms_max = 2};
  const PlanAnswer answer = answered(question);
  EXPECT_TRUE(answer.plans.empty());
  ASSERT_TRUE(answer.nearest);
  EXPECT_EQ(answer.nearest->binding, "The deadline of 1 s cannot be met with 95 % probability.");
  ASSERT_TRUE(answer.nearest->late);
  EXPECT_GT(*answer.nearest->late, Seconds{});
  EXPECT_TRUE(answer.nearest->plan.p_deadline);
  question.constraints = {.budget = 0.0001 * kDollar, .vms_max = 2};
  const PlanAnswer poor = answered(question);
  ASSERT_TRUE(poor.nearest);
  EXPECT_TRUE(poor.nearest->dearer);
  EXPECT_FALSE(poor.nearest->late);
}

// slow.1 costs 0.40 on spot and 1.00 on demand. It is lost a tenth of a time per hour, and replaced
// on demand half of the time for 1.6 h, of which 1 − (1.6/1.94) (1 − e^−(1.94/1.6)) = 42 % fall
// into the 1.94 h of the run: 0.40 + 0.1 · 0.5 · 1.6 · 0.42 · 0.60 = 0.420 dollars an hour. A
// budget of 0.41 pays for the list price only.
TEST(Optimise, AnHourlyBudgetHoldsReplacementsOnDemand) {
  PolicyFixture fixture;
  PlanQuestion& question = fixture.question;
  question.outlook.spot.hazard = {.typical = Hazard::constant(0.1 / kHour),
                                  .low = Hazard::constant(0.05 / kHour),
                                  .high = Hazard::constant(0.2 / kHour),
                                  .origin = "here"};
  question.constraints.rate_max = 0.43 * kDollar / kHour;
  const PlanAnswer enough = answered(question);
  ASSERT_FALSE(enough.plans.empty());
  const Plan& plan = enough.plans.front();
  EXPECT_EQ(to_text(plan.cluster), "1x slow.1:spot");
  EXPECT_NEAR((plan.cost.mean / plan.time.mean).in(kDollar / kHour), 0.420, 0.002);
  question.constraints.rate_max = 0.41 * kDollar / kHour;
  const PlanAnswer none = answered(question);
  EXPECT_TRUE(none.plans.empty());
  ASSERT_TRUE(none.nearest);
  EXPECT_EQ(none.nearest->binding,
            "No cluster that meets the other constraints is expected to cost at most 0.41 USD/h.");
  // Without losses the list price is what is paid.
  question.outlook = {};
  EXPECT_FALSE(answered(question).plans.empty());
}

TEST(Optimise, RefusesWhatItDoesNotKnow) {
  const RandomCase random(3);
  PlanQuestion question = random.question();
  question.disabled_passes = {"magic"};
  EXPECT_EQ(optimise(question, kClock).error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace stint
