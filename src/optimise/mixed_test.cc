#include "optimise/mixed.h"

#include <gtest/gtest.h>

#include "optimise/homogeneous.h"
#include "optimise/search_fixture.h"

namespace stint {
namespace {

/// One VM of each type, and a deadline that is kept on average or not.
void allow_one_each(PolicyFixture& fixture) {
  keep_types(fixture, {"slow.1", "fast.1"});
  fixture.question.constraints.quotas = {{"slow.1", std::nullopt, 4}, {"fast.1", std::nullopt, 4}};
  fixture.question.constraints.deadline = 0.9 * kHour;
  fixture.question.constraints.confidence = 0.5;
}

// Alone, fast.1 takes 0.97 h and slow.1 1.94 h. Together 43 and 21 samples take 43 · 1.5 = 64.5 ms
// and 21 · 3 = 63 ms, and the slower update 2 ms: 0.665 h, on spot at 1.6 USD/h.
TEST(SearchMixed, FindsTheMixThatQuotasForce) {
  PolicyFixture fixture;
  allow_one_each(fixture);
  SearchFixture search(fixture.question);
  search_homogeneous(search.search, search.families, undominated(search.space));
  EXPECT_TRUE(search.leaders.rows().empty());
  EXPECT_GT(search_mixed(search.search, search.families, {}), 0);
  const std::vector<Found> rows = search.leaders.rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].config.kinds, 2);
  EXPECT_EQ(rows[0].config.parts[0], (Part{search.rental("slow.1", Market::kSpot), 1, 1}));
  EXPECT_EQ(rows[0].config.parts[1], (Part{search.rental("fast.1", Market::kSpot), 1, 1}));
  EXPECT_NEAR(rows[0].outcome.time.in(kHour), 0.665, 1e-3);
  EXPECT_NEAR(rows[0].outcome.cost.in(kDollar), 0.665 * 1.6, 2e-3);
}

TEST(SearchMixed, KeepsTheHourlyBudgetOfBothTogether) {
  PolicyFixture fixture;
  allow_one_each(fixture);
  fixture.question.constraints.rate_max = 1.5 * kDollar / kHour;
  SearchFixture search(fixture.question);
  search_mixed(search.search, search.families, {});
  EXPECT_TRUE(search.leaders.rows().empty());
}

TEST(SearchMixed, LeavesOutPlacesThatAreSkipped) {
  PolicyFixture fixture;
  allow_one_each(fixture);
  SearchFixture search(fixture.question);
  EXPECT_EQ(place_of(search.space, 0), "x/here");
  EXPECT_EQ(search_mixed(search.search, search.families, {"x/here"}), 0);
}

TEST(SearchMixed, MixesOnlyWithinARegionAndOverANetwork) {
  PolicyFixture fixture;
  allow_one_each(fixture);
  fixture.type("fast.1").offers[0].region = "there";
  SearchFixture apart(fixture.question);
  apart.search.prunes = false;
  // What is left is one type on both markets, which its quota does not allow.
  EXPECT_EQ(search_mixed(apart.search, apart.families, {}), 0);
  PolicyFixture other;
  keep_types(other, {"slow.4", "dark.1"});
  SearchFixture dark(other.question);
  dark.search.prunes = false;
  EXPECT_EQ(search_mixed(dark.search, dark.families, {}), 0);
}

// A batch of 4 on one VM of slow.4 from each market: with 1 worker each or 2 each, with 4 each in
// no way: 2 ways, as nothing asks for micro-steps. Unequal workers would be 2 more.
TEST(SearchMixed, GivesOneTypeOnTwoMarketsTheSameWorkers) {
  PolicyFixture fixture;
  keep_types(fixture, {"slow.4"});
  fixture.price("slow.4", 3.9, 1.5);
  fixture.question.work.choices[0].global_batch = 4;
  fixture.question.constraints.vms_max = 2;
  SearchFixture search(fixture.question);
  search.search.prunes = false;
  EXPECT_EQ(search_mixed(search.search, search.families, {}), 2);
}

// One machine on demand among those on spot keeps the checkpoints.
TEST(SearchMixed, MixesMarketsOfOneType) {
  PolicyFixture fixture;
  keep_types(fixture, {"slow.1"});
  SearchFixture search(fixture.question);
  search.search.prunes = false;
  EXPECT_GT(search_mixed(search.search, search.families, {}), 0);
  ASSERT_TRUE(search.leaders.leaders().back().found);
  EXPECT_EQ(search.leaders.leaders().back().found->config.kinds, 2);
}

}  // namespace
}  // namespace stint
