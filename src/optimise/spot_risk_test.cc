#include "optimise/spot_risk.h"

#include <gtest/gtest.h>

#include "optimise/search_fixture.h"

namespace stint {
namespace {

/// slow.1 on both markets, four VMs of it, with losses and a keeper of checkpoints.
struct RiskFixture {
  RiskFixture() {
    keep_types(fixture, {"slow.1"});
    fixture.predict.catalog.types.push_back(
        {.provider = fixture.type("slow.1").provider,
         .name = "keeper",
         .network = Network{.baseline = 10 * kGbit / kSecond},
         .offers = {{.region = "here",
                     .on_demand = Price{.rate = 0.1 * kDollar / kHour, .source = "s"}}}});
    fixture.predict.job.checkpoint = CheckpointSize{.bytes = 1 * kGB, .save_time = 2 * kSecond};
    Outlook& outlook = fixture.question.outlook;
    outlook.spot.hazard = {.typical = Hazard::constant(0.1 / kHour),
                           .low = Hazard::constant(0.05 / kHour),
                           .high = Hazard::constant(0.2 / kHour),
                           .origin = "here"};
    outlook.spot_start_up = {90 * kSecond, 5 * kSecond};
    outlook.on_demand_start_up = {60 * kSecond, 5 * kSecond};
  }

  Config config(const SearchFixture& search, int spot, int on_demand) const {
    Config config;
    config.parts[0] = {.rental = search.rental("slow.1", Market::kSpot), .vms = spot};
    config.parts[1] = {.rental = search.rental("slow.1", Market::kOnDemand), .vms = on_demand};
    config.kinds = on_demand > 0 ? 2 : 1;
    if (spot == 0) {
      config.parts[0] = config.parts[1];
      config.kinds = 1;
    }
    return config;
  }

  PolicyFixture fixture;
};

TEST(SpotRisk, OnDemandMachinesAreOnlyStarted) {
  RiskFixture risk;
  const SearchFixture search(risk.fixture.question);
  const SpotRisk& it = search.evaluator.risk();
  const Config config = risk.config(search, 0, 4);
  EXPECT_EQ(it.choices(config).count, 1U);
  const auto run = it.run(config, 10 * kHour, LossBelief::kTypical);
  ASSERT_TRUE(run);
  EXPECT_DOUBLE_EQ(run->time.mean.in(kSecond), 36060);
  EXPECT_FALSE(run->save);
  EXPECT_EQ(run->replacements, Dollars{});
}

// Four machines that are lost a tenth of a time per hour each, of which on-demand machines, that
// are not lost, stand in for 7 % of the time: 3.77 losses in ten hours and a bit.
TEST(SpotRisk, SpotMachinesAreLostAndReplacedOnDemand) {
  RiskFixture risk;
  const SearchFixture search(risk.fixture.question);
  const SpotRisk& it = search.evaluator.risk();
  const auto run = it.run(risk.config(search, 4, 0), 10 * kHour, LossBelief::kTypical);
  ASSERT_TRUE(run);
  EXPECT_NEAR(run->time.losses, 3.77, 0.01);
  EXPECT_GT(run->time.mean, 10 * kHour + 90 * kSecond);
  // Half of the losses cost the difference of the prices for 1.6 h, and 90 s of another spot
  // machine at their end, of which 1 − 0.16 (1 − e^−6.25) = 84 % fall into ten hours.
  const auto& offer = risk.fixture.type("slow.1").offers[0];
  const Dollars more = 0.84 * ((offer.on_demand->rate - offer.spot->rate) * 0.8 * kHour +
                               offer.spot->rate * 45 * kSecond);
  EXPECT_NEAR(run->replacements / (run->time.losses * more), 1, 0.003);
  const auto calm = it.run(risk.config(search, 4, 0), 10 * kHour, LossBelief::kLow);
  const auto worse = it.run(risk.config(search, 4, 0), 10 * kHour, LossBelief::kHigh);
  EXPECT_LT(calm->time.mean, run->time.mean);
  EXPECT_GT(worse->time.mean, run->time.mean);
}

TEST(SpotRisk, SavesToAnAnchorOnlyWhereAMachineStays) {
  RiskFixture risk;
  const SearchFixture search(risk.fixture.question);
  const SpotRisk& it = search.evaluator.risk();
  const auto places = [&](const Config& config) {
    std::vector<CheckpointPlace> found;
    for (const SaveChoice& save : it.choices(config)) found.push_back(save.place);
    return found;
  };
  EXPECT_EQ(places(risk.config(search, 3, 0)),
            (std::vector{CheckpointPlace::kObjectStore, CheckpointPlace::kTier,
                         CheckpointPlace::kTier}));  // Of one receiver, and of as many as help.
  EXPECT_EQ(places(risk.config(search, 3, 1)),
            (std::vector{CheckpointPlace::kObjectStore, CheckpointPlace::kAnchor,
                         CheckpointPlace::kTier, CheckpointPlace::kTier}));
}

// 8 GB in four shards of 2 GB over PCIe 3.0 x16 at half of its 16 GB/s: 0.25 s after 0.1 s. The
// upload of each at 61.22 MB/s takes 32.67 s after 3.1 s, whatever training does.
TEST(SpotRisk, StallsForTheCopyOfAShardAndNotForTheUpload) {
  RiskFixture risk;
  risk.fixture.predict.job.checkpoint = CheckpointSize{.bytes = 8 * kGB};
  risk.fixture.question.outlook.host_copy =
      HostCopy{.latency = 0.1 * kSecond, .link_share = 0.5, .rate_unknown = 1 * kGB / kSecond};
  const SearchFixture search(risk.fixture.question);
  const auto run =
      search.evaluator.risk().run(risk.config(search, 4, 0), 10 * kHour, LossBelief::kTypical);
  ASSERT_TRUE(run);
  EXPECT_NEAR(run->save->stall.in(kSecond), 0.35, 1e-9);
  EXPECT_NEAR(run->save->transfer.in(kSecond), 3.1001 + 2000 / 61.22, 1e-6);
}

// A tier costs 0.1 USD/h per receiver and takes the checkpoint faster than the store.
TEST(SpotRisk, PaysForATier) {
  RiskFixture risk;
  const SearchFixture search(risk.fixture.question);
  const SpotRisk& it = search.evaluator.risk();
  Config config = risk.config(search, 1, 0);
  const auto store = it.run(config, 10 * kHour, LossBelief::kTypical);
  config.save = {.place = CheckpointPlace::kTier, .receivers = 2};
  const auto tier = it.run(config, 10 * kHour, LossBelief::kTypical);
  EXPECT_DOUBLE_EQ(tier->anchors.in(kDollar / kHour), 0.2);
  EXPECT_EQ(tier->storage, DollarsPerSecond{});
  EXPECT_GT(store->storage, DollarsPerSecond{});
  EXPECT_LT(tier->save->transfer, store->save->transfer);
  EXPECT_LT(tier->time.mean, store->time.mean);
}

TEST(SpotRisk, ARateLimitLeavesNoTierThatExceedsIt) {
  RiskFixture risk;
  const auto& offer = risk.fixture.type("slow.1").offers[0];
  risk.fixture.question.constraints.rate_max = 4 * offer.spot->rate + 0.05 * kDollar / kHour;
  const SearchFixture search(risk.fixture.question);
  EXPECT_EQ(search.evaluator.risk().choices(risk.config(search, 4, 0)).count, 1U);
}

TEST(SpotRisk, WithoutOnDemandOneWaits) {
  RiskFixture risk;
  const SearchFixture with(risk.fixture.question);
  const auto replaced =
      with.evaluator.risk().run(risk.config(with, 4, 0), 10 * kHour, LossBelief::kTypical);
  risk.fixture.question.constraints.markets = {Market::kSpot};
  const SearchFixture without(risk.fixture.question);
  Config config;
  config.parts[0] = {.rental = without.rental("slow.1", Market::kSpot), .vms = 4};
  const auto waits = without.evaluator.risk().run(config, 10 * kHour, LossBelief::kTypical);
  EXPECT_EQ(waits->replacements, Dollars{});
  // 0.8 h for each of 3.75 losses, 84 % of them before the end, for one machine of four.
  EXPECT_NEAR((waits->time.mean - replaced->time.mean).in(kHour), 0.63, 0.06);
  EXPECT_NEAR(waits->unpaid.in(kHour), 0.63, 0.06);
  config.parts[0].vms = 1;
  const auto alone = without.evaluator.risk().run(config, 10 * kHour, LossBelief::kTypical);
  EXPECT_NEAR(alone->unpaid.in(kHour), 0.8, 0.03);                // Once, and all of it.
  EXPECT_EQ(without.evaluator.risk().choices(config).count, 1U);  // Nor is there a tier.
}

TEST(SpotRisk, TheStateIsLostWithTheLastMachine) {
  RiskFixture risk;
  risk.fixture.question.outlook.spot.group = {.shared = 1, .reach = 0.5};
  const SearchFixture search(risk.fixture.question);
  const SpotRisk& it = search.evaluator.risk();
  const auto returns = [&](int spot, int on_demand) {
    return it.run(risk.config(search, spot, on_demand), 10 * kHour, LossBelief::kTypical)->returns;
  };
  EXPECT_EQ(returns(1, 0), 1);
  // Shocks of reach 1/2 (b = 1) take 1, …, 4 of four machines alike.
  EXPECT_NEAR(returns(4, 0), 0.25, 1e-3);
  EXPECT_NEAR(returns(3, 1), 0, 1e-3);
}

// Four shards of 25 GB take a quarter of an hour to the store; with a loss every three minutes
// nothing ever gets done.
TEST(SpotRisk, RefusesSavesThatAreNeverSafe) {
  RiskFixture risk;
  risk.fixture.predict.job.checkpoint = CheckpointSize{.bytes = 100 * kGB};
  risk.fixture.question.outlook.spot.hazard.typical = Hazard::constant(5 / kHour);
  const SearchFixture search(risk.fixture.question);
  const Config config = risk.config(search, 4, 0);
  EXPECT_FALSE(search.evaluator.risk().run(config, 10 * kHour, LossBelief::kTypical));
  EXPECT_FALSE(search.evaluator.outcome(config, 1 * kSecond));
}

TEST(SpotRisk, AssumesTheSizeOfACheckpointWhereTheJobDoesNotSay) {
  RiskFixture risk;
  risk.fixture.predict.job.checkpoint.reset();
  risk.fixture.predict.job.gradient_bytes = 100 * kMB;
  const SearchFixture search(risk.fixture.question);
  EXPECT_TRUE(search.evaluator.risk().assumes_bytes());
  EXPECT_DOUBLE_EQ(search.evaluator.risk().checkpoint_bytes().in(kMB), 300);
}

}  // namespace
}  // namespace stint
