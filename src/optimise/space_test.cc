#include "optimise/space.h"

#include <array>
#include <gtest/gtest.h>
#include <utility>

#include "optimise/search_fixture.h"

namespace stint {
namespace {

using Reasons = std::map<std::string, std::int64_t>;

const Reasons kAlways = {
    {"accelerator without figures", 1}, {"no accelerator", 1}, {"provider not allowed", 1}};

/// The reasons beyond those that every question of the fixture has, with their counts.
Reasons more_reasons(const PlanQuestion& question) {
  const auto space = plan_space(question);
  EXPECT_TRUE(space.ok()) << space.error().message;
  Reasons more = space->excluded;
  for (const auto& [reason, count] : kAlways) {
    EXPECT_EQ(more[reason], count) << reason;
    more.erase(reason);
  }
  return more;
}

// slow.1 and fast.1 are on two markets, slow.4 and dark.1 on one. Of the rest, cpu.1 has no
// accelerator, nobody knows the one of mystery.1, and other.1 belongs to provider y.
TEST(PlanSpace, HoldsWhatCanBeRentedAndCountsTheRest) {
  const PolicyFixture fixture;
  const auto space = plan_space(fixture.question);
  ASSERT_TRUE(space.ok());
  EXPECT_EQ(space->machines.size(), 4U);
  EXPECT_EQ(space->rentals.size(), 6U);
  EXPECT_EQ(space->excluded, kAlways);
}

TEST(PlanSpace, MachinesOfTheEmulatedCloudAreNoChoiceUnlessTheyAreAskedFor) {
  PolicyFixture fixture;
  fixture.type("other.1").provider = "local";
  const auto without = plan_space(fixture.question);
  ASSERT_TRUE(without.ok());
  EXPECT_FALSE(without->excluded.contains("provider not allowed"));
  fixture.question.constraints.providers = {"local"};
  const auto with = plan_space(fixture.question);
  ASSERT_TRUE(with.ok());
  ASSERT_EQ(with->machines.size(), 1U);
  EXPECT_EQ(with->machines[0].type->name, "other.1");
}

// The two fast ones are what is left of four.
TEST(PlanSpace, CountsWhatFiltersLeaveOutByReason) {
  PolicyFixture fixture;
  fixture.type("slow.4").architecture = "arm64";
  EXPECT_EQ(more_reasons(fixture.question), (Reasons{{"arm64 processor (--arch adds it)", 1}}));
  fixture.question.constraints.machines.processors = {"*"};
  EXPECT_EQ(more_reasons(fixture.question), Reasons{});
  fixture.question.constraints.machines = {.excluded = {"slow.*"}};
  EXPECT_EQ(more_reasons(fixture.question), (Reasons{{"named by --exclude", 2}}));
}

// A checkpoint keeper with an ARM processor serves only where ARM is asked for.
TEST(PlanSpace, KeepersOfCheckpointsPassTheFiltersToo) {
  PolicyFixture fixture;
  fixture.type("cpu.1").network = Network{.baseline = 10 * kGbit / kSecond};
  const auto keeper = [&] {
    const auto space = plan_space(fixture.question);
    for (const Rental& rental : space->rentals) {
      if (rental.receiver) return rental.receiver->type->name;
    }
    return std::string("none");
  };
  EXPECT_EQ(keeper(), "cpu.1");
  fixture.type("cpu.1").architecture = "arm64";
  EXPECT_EQ(keeper(), "none");
  fixture.question.constraints.machines.processors = {"amd64", "arm64"};
  EXPECT_EQ(keeper(), "cpu.1");
}

// Only slow.1 and fast.1 have prices on spot.
TEST(PlanSpace, ExcludesTypesWithoutAPriceOnTheMarket) {
  PolicyFixture fixture;
  fixture.question.constraints.markets = {Market::kSpot};
  EXPECT_EQ(more_reasons(fixture.question), (Reasons{{"no price on the market", 2}}));
}

TEST(PlanSpace, ExcludesTypesWithoutAPriceOrInOtherRegions) {
  PolicyFixture fixture;
  fixture.type("slow.4").offers = {{.region = "here"}};
  fixture.type("fast.1").offers[0].region = "there";
  fixture.question.constraints.regions = {"HERE"};
  EXPECT_EQ(more_reasons(fixture.question), (Reasons{{"no price", 1}, {"region not allowed", 1}}));
}

// At 0.9 USD/h, only slow.1 on spot at 0.4 can be had, twice.
TEST(PlanSpace, ExcludesTypesOverTheHourlyBudget) {
  PolicyFixture fixture;
  fixture.question.constraints.rate_max = 0.9 * kDollar / kHour;
  EXPECT_EQ(more_reasons(fixture.question), (Reasons{{"over quota or hourly budget", 3}}));
  const auto space = plan_space(fixture.question);
  ASSERT_EQ(space->rentals.size(), 1U);
  EXPECT_EQ(space->rentals[0].market, Market::kSpot);
  EXPECT_EQ(space->rentals[0].vms_max, 2);
}

// fast.1 has a price on demand, 3 USD/h, which is too high; that it also has one on a market that
// nobody wants is not why it is out.
TEST(PlanSpace, NamesTheLimitThatATypeCameNearestTo) {
  PolicyFixture fixture;
  keep_types(fixture, {"slow.1", "fast.1"});
  fixture.question.constraints.markets = {Market::kOnDemand};
  fixture.question.constraints.rate_max = 2 * kDollar / kHour;
  EXPECT_EQ(plan_space(fixture.question)->excluded, (Reasons{{"over quota or hourly budget", 1}}));
}

// Of 4 GB, 95 % may be used: 3,800 MB less 1,000 MB and 640 MiB = 671 MB leave 2,129 MB, at 100 MB
// a sample. In 1 GB nothing fits. A job that does not say what memory it needs is not limited.
TEST(PlanSpace, LimitsTheBatchByMemory) {
  PolicyFixture fixture;
  fixture.predict.catalog.gpus[0].memory = 4 * kGB;
  EXPECT_EQ(plan_space(fixture.question)->machines[0].batch_max, 21);
  fixture.predict.catalog.gpus[0].memory = 1 * kGB;
  EXPECT_EQ(more_reasons(fixture.question), (Reasons{{"job does not fit into memory", 3}}));
  for (ComputeSample& sample : fixture.predict.job.compute) sample.peak_memory.reset();
  EXPECT_EQ(plan_space(fixture.question)->machines[0].batch_max, std::numeric_limits<int>::max());
}

TEST(PlanSpace, RunsWorkersOnPowersOfTwoAndOnAllAccelerators) {
  PolicyFixture fixture;
  fixture.type("slow.4").accelerator->count = 6;
  const SearchFixture search(fixture.question);
  const auto workers = [&](const char* type) {
    return search.space.machine_of(search.rental(type)).worker_choices;
  };
  EXPECT_EQ(workers("slow.1"), (std::vector<int>{1}));
  EXPECT_EQ(workers("slow.4"), (std::vector<int>{1, 2, 4, 6}));
}

TEST(PlanSpace, RentsOneVmWhereTheNetworkIsNotKnown) {
  const PolicyFixture fixture;
  const SearchFixture search(fixture.question);
  EXPECT_EQ(search.space.rentals[static_cast<std::size_t>(search.rental("dark.1"))].vms_max, 1);
  EXPECT_EQ(search.space.rentals[static_cast<std::size_t>(search.rental("slow.1"))].vms_max, 4);
}

// VMs have 4 vCPUs each, so 9 are two VMs of either slow type, and 4 one VM on spot. 3 USD/h are
// one fast.1 on demand, and 2.5 of them on spot.
TEST(PlanSpace, LimitsVmsByQuotasAndTheHourlyBudget) {
  PolicyFixture fixture;
  const auto most = [&](const char* type, Market market) {
    const SearchFixture search(fixture.question);
    return search.space.rentals[static_cast<std::size_t>(search.rental(type, market))].vms_max;
  };
  fixture.question.constraints.quotas = {{"slow", std::nullopt, 9}, {"slow.1", Market::kSpot, 4}};
  EXPECT_EQ(most("slow.1", Market::kOnDemand), 2);
  EXPECT_EQ(most("slow.4", Market::kOnDemand), 2);
  EXPECT_EQ(most("slow.1", Market::kSpot), 1);
  EXPECT_EQ(most("fast.1", Market::kSpot), 4);
  fixture.question.constraints.rate_max = 3 * kDollar / kHour;
  EXPECT_EQ(most("fast.1", Market::kOnDemand), 1);
  EXPECT_EQ(most("fast.1", Market::kSpot), 2);
}

TEST(PlanSpace, TakesTheCheapestPriceOfARegion) {
  PolicyFixture fixture;
  keep_types(fixture, {"slow.4"});
  Offer again = fixture.type("slow.4").offers[0];
  again.region = "Here";
  again.on_demand->rate = 2 * kDollar / kHour;
  fixture.type("slow.4").offers.push_back(again);
  const auto space = plan_space(fixture.question);
  ASSERT_EQ(space->rentals.size(), 1U);
  EXPECT_DOUBLE_EQ(space->rentals[0].price.in(kDollar / kHour), 2);
}

TEST(PlanSpace, RefusesAQuotaThatNothingCountsAgainst) {
  PolicyFixture fixture;
  fixture.question.constraints.quotas = {{"slow", std::nullopt, 8}, {"slwo", std::nullopt, 8}};
  const auto space = plan_space(fixture.question);
  ASSERT_FALSE(space.ok());
  EXPECT_EQ(space.error().kind, ErrorKind::kUsage);
  EXPECT_TRUE(space.error().message.starts_with("--quota: 'slwo' is not a VM type"));
}

// A provider without offers is known; its types are without price.
TEST(PlanSpace, ToleratesAProviderThatOffersNothing) {
  PolicyFixture fixture;
  fixture.type("other.1").offers.clear();
  fixture.question.constraints.providers = {"y"};
  const auto space = plan_space(fixture.question);
  ASSERT_TRUE(space.ok()) << space.error().message;
  EXPECT_EQ(space->excluded, (Reasons{{"no price", 1}, {"provider not allowed", 6}}));
}

// A quota of 8 vCPUs is two VMs of the family, whatever type or market they are; fast ones do not
// count. There are at most 4 VMs in all.
TEST(WithinQuotas, AddsUpWhatCountsAgainstTheSameQuota) {
  PolicyFixture fixture;
  fixture.question.constraints.quotas = {{"slow", std::nullopt, 8}};
  const SearchFixture search(fixture.question);
  const int slow = search.rental("slow.1");
  const int spot = search.rental("slow.1", Market::kSpot);
  const int four = search.rental("slow.4");
  const int fast = search.rental("fast.1");
  const auto within = [&](std::pair<int, int> a, std::pair<int, int> b) {
    return within_quotas(search.space, fixture.question.constraints, std::array{a, b});
  };
  EXPECT_TRUE(within({slow, 1}, {spot, 1}));
  EXPECT_FALSE(within({slow, 2}, {spot, 1}));
  EXPECT_FALSE(within({slow, 1}, {four, 2}));
  EXPECT_TRUE(within({slow, 2}, {fast, 2}));
  EXPECT_FALSE(within({slow, 2}, {fast, 3}));
}

}  // namespace
}  // namespace stint
