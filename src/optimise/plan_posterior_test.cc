#include "optimise/plan_posterior.h"

#include <gtest/gtest.h>
#include <numeric>

#include "optimise/search_fixture.h"

namespace stint {
namespace {

/// One and two slow.1 on spot take 1.94 h and 0.98 h, 0.776 USD and 0.784 USD.
struct PosteriorFixture : PolicyFixture {
  /// The law is known, and every cluster is alike.
  void leave_no_doubt() {
    CalibratedLaw& law = predict.law;
    for (auto& row : law.covariance) row.assign(row.size(), 0);
    law.job_deviation = {};
    law.noise_floor = 0;
    law.noise_exposed = 0;
  }

  struct Vms {
    const char* type;
    int vms = 1;
    Market market = Market::kSpot;
  };

  Posterior of(const std::vector<Vms>& contenders) const {
    const SearchFixture search(question);
    std::vector<Found> found;
    for (const Vms& it : contenders) {
      const Part part{search.rental(it.type, it.market), it.vms, 1};
      found.push_back(search.found({.parts = {part}}));
    }
    return posterior(search.evaluator, found, {});
  }
};

TEST(Posterior, WithoutDoubtTheBestIsBest) {
  PosteriorFixture fixture;
  fixture.leave_no_doubt();
  const Posterior doubt = fixture.of({{"slow.1"}, {"slow.1", 2}});
  EXPECT_NEAR(doubt.p_best[0], 1, 1e-9);
  EXPECT_EQ(doubt.p_best[1], 0);
  EXPECT_EQ(doubt.regret, Dollars{});
}

TEST(Posterior, RegretsWhatTheFirstCostsAboveTheBest) {
  PosteriorFixture fixture;
  fixture.leave_no_doubt();
  const Posterior doubt = fixture.of({{"slow.1", 2}, {"slow.1"}});
  EXPECT_NEAR(doubt.p_best[1], 1, 1e-9);
  EXPECT_NEAR(doubt.regret.in(kDollar), 0.008, 1e-4);
}

// Past a deadline of 1 h, one VM pays 0.4 USD/h for 1.94 + 0.94 h = 1.152 USD, 0.368 above two VMs.
TEST(Posterior, ChargesTimePastTheDeadlineTwice) {
  PosteriorFixture fixture;
  fixture.leave_no_doubt();
  fixture.question.constraints.deadline = 1 * kHour;
  const Posterior doubt = fixture.of({{"slow.1"}, {"slow.1", 2}});
  EXPECT_NEAR(doubt.p_best[1], 1, 1e-9);
  EXPECT_NEAR(doubt.regret.in(kDollar), 0.368, 1e-4);
}

// Of 0.776 and 0.784 USD, 0.076 and 0.084 are above 0.7 USD: the difference counts twice.
TEST(Posterior, ChargesWhatIsAboveTheBudgetTwice) {
  PosteriorFixture fixture;
  fixture.leave_no_doubt();
  fixture.question.constraints.budget = 0.7 * kDollar;
  EXPECT_NEAR(fixture.of({{"slow.1", 2}, {"slow.1"}}).regret.in(kDollar), 0.016, 1e-4);
}

TEST(Posterior, GoesByTimeWhereThatIsAsked) {
  PosteriorFixture fixture;
  fixture.leave_no_doubt();
  fixture.question.objective = Objective::kTime;
  const Posterior doubt = fixture.of({{"slow.1"}, {"slow.1", 2}});
  EXPECT_NEAR(doubt.p_best[1], 1, 1e-9);
  EXPECT_EQ(doubt.regret, Dollars{});
}

// Equal clusters have luck of their own; one that costs 20 times as much never has enough.
TEST(Posterior, SharesDoubtAmongEqualsOnly) {
  const PosteriorFixture fixture;
  const Posterior doubt = fixture.of({{"slow.1"}, {"slow.1"}, {"dark.1", 1, Market::kOnDemand}});
  EXPECT_NEAR(doubt.p_best[0], 0.5, 0.1);
  EXPECT_NEAR(doubt.p_best[1], 0.5, 0.1);
  EXPECT_EQ(doubt.p_best[2], 0);
  EXPECT_NEAR(std::accumulate(doubt.p_best.begin(), doubt.p_best.end(), 0.0), 1, 1e-9);
  EXPECT_GT(doubt.regret, Dollars{});
  EXPECT_LT(doubt.regret, 0.1 * kDollar);
}

// The number of iterations is as wrong for one as for the other, and so is the speed of a device.
TEST(Posterior, DoubtThatAllShareDecidesNothing) {
  PosteriorFixture fixture;
  fixture.leave_no_doubt();
  fixture.question.work.choices[0].deviation = 0.5;
  EXPECT_NEAR(fixture.of({{"slow.1"}, {"slow.1", 2}}).p_best[0], 1, 1e-9);
  // Half of 1.94 h at 1.2 USD/h against half of 0.98 h at 2.4 USD/h.
  EXPECT_NEAR(fixture.of({{"fast.1"}, {"fast.1", 2}}).p_best[0], 1, 1e-9);
}

// fast.1 was not measured. At half the time and twice the price of slow.1 it is as likely better as
// worse.
TEST(Posterior, DoubtsDevicesThatWereNotMeasured) {
  PosteriorFixture fixture;
  fixture.leave_no_doubt();
  fixture.price("fast.1", 3.0, 0.8);
  EXPECT_NEAR(fixture.of({{"slow.1"}, {"fast.1"}}).p_best[0], 0.5, 0.1);
}

// Both plans pay the same price, whatever it is.
TEST(Posterior, PlansOfOneTypeAndMarketShareItsPrice) {
  PosteriorFixture fixture;
  fixture.leave_no_doubt();
  fixture.age_prices(0.5, 0.5);
  const Posterior doubt = fixture.of({{"slow.1"}, {"slow.1", 2}});
  EXPECT_NEAR(doubt.p_best[0], 1, 1e-9);
  EXPECT_EQ(doubt.regret, Dollars{});
}

// 1.94 h cost 0.776 USD on slow.1; fast.1 takes half as long for 1.164 USD. The logarithms of their
// prices deviate by 0.3 each, so that slow.1 stays the cheaper with the probability of
// ln 1.5 / (0.3 √2) = 0.956 deviations: 83 %.
TEST(Posterior, PricesOfOtherTypesMakeOthersBest) {
  PosteriorFixture fixture;
  fixture.leave_no_doubt();
  fixture.age_prices(0.3, 0.3);
  const Posterior doubt = fixture.of({{"slow.1"}, {"fast.1"}});
  EXPECT_NEAR(doubt.p_best[0], 0.83, 0.05);
  EXPECT_GT(doubt.regret, Dollars{});
}

}  // namespace
}  // namespace stint
