#include "optimise/relaxation.h"

#include <gtest/gtest.h>

#include "optimise/search_fixture.h"

namespace stint {
namespace {

/// What slow.1 must cost at least by place, in dollars: 36,000 · 64 samples of 3 ms are 1.92 h.
struct RelaxationFixture : PolicyFixture {
  RelaxationFixture() { keep_types(*this, {"slow.1"}); }

  std::map<std::string, double> costs() const {
    const SearchFixture search(question);
    const auto relaxed = relaxed_costs(search.search);
    std::map<std::string, double> dollars;
    for (const auto& [place, cost] : relaxed) dollars[place] = cost.in(kDollar);
    return dollars;
  }

  /// That of the one place.
  double cost() const {
    const auto all = costs();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? 0 : all.begin()->second;
  }
};

// 1.92 h at 1 USD/h on demand, at 0.4 USD/h on spot.
TEST(RelaxedCosts, AreTheWorkAtTheCheapestRate) {
  RelaxationFixture fixture;
  EXPECT_NEAR(fixture.cost(), 0.768, 1e-5);
  fixture.question.constraints.markets = {Market::kOnDemand};
  EXPECT_NEAR(fixture.cost(), 1.92, 1e-5);
}

// Of two choices, 32 samples 40,000 times are less work: 1.0667 h.
TEST(RelaxedCosts, AreThoseOfTheLeastWork) {
  RelaxationFixture fixture;
  fixture.question.constraints.markets = {Market::kOnDemand};
  fixture.question.work.choices.push_back({.global_batch = 32, .iterations = 40'000});
  EXPECT_NEAR(fixture.cost(), 3.2 / 3, 1e-5);
}

// Within 1 h one VM on spot does 1 h of the work for 0.4 USD; the other 0.92 h are on demand.
TEST(RelaxedCosts, RiseWhereAQuotaTakesTheCheapestAway) {
  RelaxationFixture fixture;
  fixture.question.constraints.quotas = {{"slow", Market::kSpot, 4}};
  EXPECT_NEAR(fixture.cost(), 0.768, 1e-5);  // Without a deadline there is time for all.
  fixture.question.constraints.deadline = 1 * kHour;
  EXPECT_NEAR(fixture.cost(), 1.32, 1e-5);
}

// One VM of either market does 1 h of the 1.92 h in time. Of 1.3 USD/h, 1 h on spot leaves 0.9 USD
// for work of 0.92.
TEST(RelaxedCosts, AreNotThereWhereNothingIsInTime) {
  RelaxationFixture fixture;
  Constraints& constraints = fixture.question.constraints;
  constraints.deadline = 1 * kHour;
  constraints.quotas = {{"slow", std::nullopt, 4}};
  EXPECT_TRUE(fixture.costs().empty());
  constraints.quotas = {{"slow", Market::kSpot, 4}};
  constraints.rate_max = 1.3 * kDollar / kHour;
  EXPECT_TRUE(fixture.costs().empty());
  constraints.rate_max = 1.4 * kDollar / kHour;
  EXPECT_NEAR(fixture.cost(), 1.32, 1e-5);
  constraints.quotas = {};
  constraints.rate_max.reset();
  constraints.vms_max = 1;
  EXPECT_TRUE(fixture.costs().empty());
}

TEST(RelaxedCosts, AreByPlace) {
  RelaxationFixture fixture;
  Offer there = fixture.type("slow.1").offers[0];
  there.region = "There";
  there.spot->rate = 0.5 * kDollar / kHour;
  fixture.type("slow.1").offers.push_back(there);
  const auto costs = fixture.costs();
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_NEAR(costs.at("x/here"), 0.768, 1e-5);
  EXPECT_NEAR(costs.at("x/there"), 0.96, 1e-5);
}

}  // namespace
}  // namespace stint
