#include "optimise/search.h"

#include <gtest/gtest.h>

#include "optimise/search_fixture.h"

namespace stint {
namespace {

// Every time has a deviation of at least 0.03, so for 95 % it must be below 1 h · e^(−1.6449 ·
// 0.03) = 0.9518 h; likewise the cost.
TEST(Judge, LetsPassWhatCouldKeepTheLimits) {
  PolicyFixture fixture;
  fixture.question.constraints.deadline = 1 * kHour;
  fixture.question.constraints.budget = 10 * kDollar;
  const SearchFixture search(fixture.question);
  EXPECT_TRUE(search.judge.may_pass(0, 0.951 * kHour, 9.51 * kDollar));
  EXPECT_FALSE(search.judge.may_pass(0, 0.953 * kHour, 9.51 * kDollar));
  EXPECT_FALSE(search.judge.may_pass(0, 0.951 * kHour, 9.53 * kDollar));
}

// One T4 takes 1.94 h with a deviation of 0.03, and costs 0.776 USD on spot: 95 % keep what is
// e^(1.6449 · 0.03) = 1.0506 times as much.
TEST(Judge, PassesWhatKeepsTheLimitsAtTheConfidence) {
  const auto passes = [](std::optional<Seconds> deadline, std::optional<Dollars> budget) {
    PolicyFixture fixture;
    fixture.question.constraints.deadline = deadline;
    fixture.question.constraints.budget = budget;
    const SearchFixture search(fixture.question);
    const Part part{search.rental("slow.1", Market::kSpot), 1, 1};
    return search.judge.passes(search.found({.parts = {part}}));
  };
  EXPECT_TRUE(passes({}, {}));
  EXPECT_TRUE(passes(1.051 * 1.94 * kHour, {}));
  EXPECT_FALSE(passes(1.050 * 1.94 * kHour, {}));
  EXPECT_TRUE(passes(3 * kHour, 1.051 * 0.776 * kDollar));
  EXPECT_FALSE(passes(3 * kHour, 1.050 * 0.776 * kDollar));
}

TEST(Judge, ValuesWhatIsAskedForFirst) {
  PolicyFixture fixture;
  EXPECT_EQ(SearchFixture(fixture.question).judge.value(2 * kSecond, 5 * kDollar), (Value{5, 2}));
  fixture.question.objective = Objective::kTime;
  // ln 2 is 693.1 thousandths.
  EXPECT_EQ(SearchFixture(fixture.question).judge.value(2 * kSecond, 5 * kDollar), (Value{693, 5}));
}

// A second of an hour is a quarter of a thousandth; a minute is seventeen.
TEST(Judge, TakesTheCheaperOfPlansThatAreEquallyFast) {
  PolicyFixture fixture;
  fixture.question.objective = Objective::kTime;
  const SearchFixture search(fixture.question);
  const Value cheaper = search.judge.value(1 * kHour + 1 * kSecond, 100 * kDollar);
  EXPECT_LT(cheaper, search.judge.value(1 * kHour, 120 * kDollar));
  EXPECT_GT(search.judge.value(1 * kHour + 1 * kMinute, 100 * kDollar), cheaper);
  EXPECT_LE(fastest_as_good(1 * kHour), 1 * kHour);
  EXPECT_GT(fastest_as_good(1 * kHour), (1 - kTimesEqual) * kHour);
}

/// Three families and that of mixed clusters, of which two go into the answer. Values stand for
/// dollars.
struct LeadersFixture {
  Leaders leaders{4, 2};

  void add(std::size_t family, double value) {
    const Found found{.config = {}, .outcome = {.cost = value * kDollar}};
    leaders.add(family, found, {value, 0});
  }

  double limit(std::size_t family) const { return leaders.limit(family).first; }

  std::vector<double> rows() const {
    std::vector<double> values;
    for (const Found& found : leaders.rows()) values.push_back(found.outcome.cost.in(kDollar));
    return values;
  }
};

TEST(Leaders, KeepTheBestOfEachFamily) {
  LeadersFixture fixture;
  EXPECT_TRUE(fixture.rows().empty());
  fixture.add(0, 5);
  fixture.add(0, 6);
  EXPECT_EQ(fixture.rows(), (std::vector<double>{5}));
  fixture.add(1, 7);
  fixture.add(0, 4);
  EXPECT_EQ(fixture.rows(), (std::vector<double>{4, 7}));
  fixture.add(2, 6);
  EXPECT_EQ(fixture.rows(), (std::vector<double>{4, 6}));
}

TEST(Leaders, LimitWhatIsOfUseByTheLastRow) {
  LeadersFixture fixture;
  fixture.add(0, 5);
  EXPECT_EQ(fixture.limit(0), 5);
  EXPECT_EQ(fixture.leaders.limit(1), kWorstValue);
  fixture.add(1, 7);
  EXPECT_EQ(fixture.limit(0), 5);
  EXPECT_EQ(fixture.limit(1), 7);
  EXPECT_EQ(fixture.limit(2), 7);
  fixture.add(2, 6);
  EXPECT_EQ(fixture.limit(1), 6);
}

TEST(Leaders, GiveMixedClustersARowOnlyAheadOfAllOthers) {
  LeadersFixture fixture;
  fixture.add(0, 5);
  fixture.add(1, 7);
  EXPECT_EQ(fixture.limit(fixture.leaders.mixed()), 5);
  fixture.add(fixture.leaders.mixed(), 5.5);
  EXPECT_EQ(fixture.rows(), (std::vector<double>{5, 7}));
  fixture.add(fixture.leaders.mixed(), 4);
  EXPECT_EQ(fixture.rows(), (std::vector<double>{4, 5}));
  fixture.add(0, 3);
  EXPECT_EQ(fixture.rows(), (std::vector<double>{3, 7}));
}

// One slow.1 on spot takes 1.94 h, too long for the deadline, and two take 0.98 h: in time at 50 %.
TEST(Search, TakesWhatItIsOfferedToWhereItIsOfUse) {
  PolicyFixture fixture;
  fixture.question.constraints.deadline = 1 * kHour;
  fixture.question.constraints.confidence = 0.5;
  for (const bool front_passes : {false, true}) {
    SearchFixture search(fixture.question);
    search.search.front = &search.front;
    search.search.front_passes = front_passes;
    const int rental = search.rental("slow.1", Market::kSpot);
    const std::size_t family = search.families.of[static_cast<std::size_t>(rental)];
    const Found late = search.found({.parts = {Part{rental, 1, 1}}});
    const auto wants = [&](const Found& found) {
      const Outcome& least = found.outcome;
      return search.search.wants(family, 0, {least.work, least.cost, least.time, least.cost});
    };
    EXPECT_EQ(wants(late), !front_passes);
    search.search.offer(family, late);
    EXPECT_TRUE(search.leaders.rows().empty());
    EXPECT_EQ(search.front.points().size(), front_passes ? 0U : 1U);
    const Found timely = search.found({.parts = {Part{rental, 2, 1}}});
    EXPECT_TRUE(wants(timely));
    search.search.offer(family, timely);
    EXPECT_EQ(search.leaders.rows().size(), 1U);
    EXPECT_EQ(search.front.points().size(), front_passes ? 1U : 2U);
    EXPECT_FALSE(wants(timely));
    search.search.prunes = false;
    EXPECT_TRUE(wants(timely));
  }
}

// Two regions of slow.1 on two markets are two families, slow.4 is a third, and mixes are one.
TEST(FamiliesOf, AreOfOneTypeAndMarket) {
  PolicyFixture fixture;
  keep_types(fixture, {"slow.1", "slow.4"});
  Offer there = fixture.type("slow.1").offers[0];
  there.region = "there";
  fixture.type("slow.1").offers.push_back(there);
  const SearchFixture search(fixture.question);
  const auto family = [&](const char* type, Market market, const char* region) {
    return search.families.of[static_cast<std::size_t>(search.rental(type, market, region))];
  };
  EXPECT_EQ(search.families.count, 4U);
  EXPECT_EQ(family("slow.1", Market::kSpot, "here"), family("slow.1", Market::kSpot, "there"));
  EXPECT_NE(family("slow.1", Market::kSpot, "here"), family("slow.1", Market::kOnDemand, "here"));
  EXPECT_NE(family("slow.1", Market::kOnDemand, "here"),
            family("slow.4", Market::kOnDemand, "here"));
}

}  // namespace
}  // namespace stint
