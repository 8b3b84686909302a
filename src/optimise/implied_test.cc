#include "optimise/implied.h"

#include <gtest/gtest.h>

#include "optimise/optimise_fixture.h"
#include "optimise/search_fixture.h"

namespace stint {
namespace {

// slow.1 on two markets, a batch of 4, up to 4 VMs of one worker. With 1, 2, 3 and 4 workers there
// are 3, 2, 1 and 1 ways to split the batch (1, 2 or 4 micro-steps): 7, on two markets with two
// collectives 28. Mixed, 1 + 1 VMs have 2 ways, 1 + 2, 2 + 1, 1 + 3, 2 + 2 and 3 + 1 one each: 7,
// with two collectives 14.
TEST(Implied, MatchesHandComputedCase) {
  PolicyFixture fixture;
  keep_types(fixture, {"slow.1"});
  fixture.question.work.choices[0].global_batch = 4;
  const SearchFixture search(fixture.question);
  EXPECT_EQ(implied_homogeneous(search.evaluator), 28);
  EXPECT_EQ(implied_mixed(search.evaluator), 14);
}

TEST(Implied, CountsNoMixesWithoutANetwork) {
  PolicyFixture fixture;
  keep_types(fixture, {"dark.1", "slow.4"});
  const SearchFixture search(fixture.question);
  EXPECT_EQ(implied_mixed(search.evaluator), 0);
}

/// Counts one by one.
class Counter {
 public:
  explicit Counter(const Evaluator& evaluator) : evaluator_(evaluator) {
    const auto rentals = static_cast<int>(space().rentals.size());
    for (int a = 0; a < rentals; ++a) {
      for (int n = 1; n <= of(a).vms_max; ++n) {
        for (const int w : space().machine_of(a).worker_choices) homogeneous += ways(n * w);
      }
      for (int b = a + 1; b < rentals; ++b) count_pair(a, b);
    }
  }

  std::int64_t homogeneous = 0;
  std::int64_t mixed = 0;

 private:
  const Space& space() const { return evaluator_.space(); }
  const Rental& of(int rental) const { return space().rentals[static_cast<std::size_t>(rental)]; }

  void count_pair(int a, int b) {
    const Machine& x = space().machine_of(a);
    const Machine& y = space().machine_of(b);
    const bool together = of(a).region == of(b).region && x.type->provider == y.type->provider;
    if (!together || x.vms_max < 2 || y.vms_max < 2) return;
    for (int n = 1; n <= of(a).vms_max; ++n) {
      for (int k = 1; k <= of(b).vms_max; ++k) {
        if (n + k > evaluator_.question().constraints.vms_max) continue;
        for (const int w : x.worker_choices) {
          for (const int v : y.worker_choices) {
            if (&x == &y && v != w) continue;
            mixed += ways(n * w + k * v);
          }
        }
      }
    }
  }

  std::int64_t ways(int workers) const {
    std::int64_t count = 0;
    for (const BatchChoice& choice : evaluator_.question().work.choices) {
      for (int m = 1; m <= kAccumulationMax; ++m) {
        if (choice.global_batch % m == 0 && choice.global_batch / m >= workers) count += 2;
      }
    }
    return count;
  }

  const Evaluator& evaluator_;
};

TEST(Implied, EqualsAPlainLoop) {
  int mixes = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random(seed);
    const PlanQuestion question = random.question();
    const SearchFixture search(question);
    const Counter counter(search.evaluator);
    EXPECT_EQ(implied_homogeneous(search.evaluator), counter.homogeneous);
    EXPECT_EQ(implied_mixed(search.evaluator), counter.mixed);
    if (counter.mixed > 0) ++mixes;
  }
  EXPECT_GT(mixes, 20);
}

}  // namespace
}  // namespace stint
