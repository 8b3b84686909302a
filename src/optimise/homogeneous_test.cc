#include "optimise/homogeneous.h"

#include <gtest/gtest.h>

#include "optimise/optimise_fixture.h"
#include "optimise/search_fixture.h"

namespace stint {
namespace {

// On demand 1 USD/h here and 0.9 there, on spot 0.4 here and 0.5 there. What is lost there is
// replaced for less, unless the price on demand is the same.
TEST(Undominated, KeepsWhatIsBetterInSomeWay) {
  PolicyFixture fixture;
  keep_types(fixture, {"slow.1"});
  Offer there = fixture.type("slow.1").offers[0];
  there.region = "there";
  there.on_demand->rate = 0.9 * kDollar / kHour;
  there.spot->rate = 0.5 * kDollar / kHour;
  fixture.type("slow.1").offers.push_back(there);
  const SearchFixture search(fixture.question);
  ASSERT_EQ(search.space.rentals.size(), 4U);
  EXPECT_EQ(undominated(search.space),
            (std::vector<int>{search.rental("slow.1", Market::kOnDemand, "there"),
                              search.rental("slow.1", Market::kSpot, "here"),
                              search.rental("slow.1", Market::kSpot, "there")}));
  fixture.type("slow.1").offers[1].on_demand->rate = 1 * kDollar / kHour;
  const SearchFixture alike(fixture.question);
  EXPECT_EQ(undominated(alike.space),
            (std::vector<int>{alike.rental("slow.1", Market::kOnDemand, "here"),
                              alike.rental("slow.1", Market::kSpot, "here")}));
}

// One batch of 4 on up to 4 VMs, without micro-steps, which nothing asks for. Both markets are
// answered by one evaluation; a second collective doubles them.
TEST(SearchHomogeneous, EvaluatesEachClusterOnceForAllMarkets) {
  PolicyFixture fixture;
  keep_types(fixture, {"slow.1"});
  fixture.question.work.choices[0].global_batch = 4;
  SearchFixture search(fixture.question);
  search.search.prunes = false;
  const std::vector<int> rentals = undominated(search.space);
  EXPECT_EQ(rentals.size(), 2U);
  EXPECT_EQ(search_homogeneous(search.search, search.families, rentals), 4);
  search.search.both_collectives = true;
  EXPECT_EQ(search_homogeneous(search.search, search.families, rentals), 8);
}

// slow.1 on spot takes 1.94 h · 0.4 USD/h = 0.776 USD, fast.1 0.97 h · 1.2 USD/h = 1.164 USD; on
// demand 1.94, slow.4 with all its workers (16 · 3 + 2 ms) 0.5 h · 3.9 USD/h = 1.95.
TEST(SearchHomogeneous, FindsTheCheapestOfEachTypeAndMarket) {
  const PolicyFixture fixture;
  SearchFixture search(fixture.question);
  search_homogeneous(search.search, search.families, undominated(search.space));
  const std::vector<Found> rows = search.leaders.rows();
  ASSERT_GE(rows.size(), 4U);
  const std::vector<double> costs = {0.776, 1.164, 1.94, 1.95};
  for (std::size_t i = 0; i < costs.size(); ++i) {
    EXPECT_NEAR(rows[i].outcome.cost.in(kDollar), costs[i], 1e-3);
  }
  EXPECT_EQ(rows[0].config.parts[0].rental, search.rental("slow.1", Market::kSpot));
  EXPECT_EQ(rows[3].config.parts[0].workers_per_vm, 4);
}

// One VM of slow.1 may be had on spot and four on demand, so the fastest on spot takes 1.94 h.
TEST(SearchHomogeneous, KeepsTheLimitOfEachRental) {
  PolicyFixture fixture;
  keep_types(fixture, {"slow.1"});
  fixture.question.objective = Objective::kTime;
  fixture.question.constraints.quotas = {{"slow", Market::kSpot, 4}};
  SearchFixture search(fixture.question);
  search_homogeneous(search.search, search.families, undominated(search.space));
  const std::vector<Found> rows = search.leaders.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NEAR(rows[0].outcome.time.in(kHour), 0.5, 1e-3);
  EXPECT_NEAR(rows[1].outcome.time.in(kHour), 1.94, 1e-3);
}

TEST(SearchHomogeneous, FindsTheSameWithPruningAndLooksAtLess) {
  std::int64_t fewer = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random(seed);
    const PlanQuestion question = random.question();
    SearchFixture pruned(question);
    SearchFixture plain(question);
    plain.search.prunes = false;
    for (SearchFixture* one : {&pruned, &plain}) one->search.front = &one->front;
    const std::vector<int> rentals = undominated(pruned.space);
    const auto some = search_homogeneous(pruned.search, pruned.families, rentals);
    const auto all = search_homogeneous(plain.search, plain.families, rentals);
    EXPECT_LE(some, all);
    if (some < all) ++fewer;
    const auto same = [](const std::vector<Found>& a, const std::vector<Found>& b) {
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].outcome.time, b[i].outcome.time);
    };
    same(pruned.leaders.rows(), plain.leaders.rows());
    same(pruned.front.points(), plain.front.points());
  }
  EXPECT_GT(fewer, 15);
}

}  // namespace
}  // namespace stint
