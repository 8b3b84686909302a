#include "app/plan/plan_limits.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

// 2026-11-15T00:00Z: see environment_test.cc.
const FixedClock kClock(20772 * kDay);

TEST(Deadline, IsADuration) {
  EXPECT_DOUBLE_EQ(parse_deadline("12h", kClock)->in(kHour), 12);
  EXPECT_DOUBLE_EQ(parse_deadline(" 2d 3h ", kClock)->in(kHour), 51);
}

// Five days and 18 hours later.
TEST(Deadline, IsAMoment) {
  EXPECT_DOUBLE_EQ(parse_deadline("2026-11-20T18:00Z", kClock)->in(kHour), 138);
  EXPECT_DOUBLE_EQ(parse_deadline("2026-11-16", kClock)->in(kHour), 24);
}

TEST(Deadline, SaysWhyItIsNone) {
  EXPECT_EQ(parse_deadline("2026-11-14", kClock).error().message,
            "--deadline: 2026-11-14 is in the past: today is 2026-11-15 (UTC)");
  EXPECT_FALSE(parse_deadline("2026-11-15", kClock).ok());
  EXPECT_EQ(parse_deadline("2026-11-20 18:00", kClock).error().message,
            "--deadline: '2026-11-20 18:00' is not a time; write a time of day as "
            "2026-11-20T18:00Z, or a date");
  EXPECT_EQ(parse_deadline("0h", kClock).error().message, "--deadline must be above zero");
  for (const char* text : {"", "-5h", "12", "soon"}) {
    const auto deadline = parse_deadline(text, kClock);
    ASSERT_FALSE(deadline.ok()) << text;
    EXPECT_EQ(deadline.error().kind, ErrorKind::kUsage);
    EXPECT_TRUE(deadline.error().message.starts_with("--deadline")) << deadline.error().message;
  }
}

TEST(Budget, IsAnAmountOrARate) {
  const auto amount = parse_budget("150 USD");
  ASSERT_TRUE(amount.ok());
  EXPECT_DOUBLE_EQ(amount->budget->in(kDollar), 150);
  EXPECT_FALSE(amount->rate_max);
  const auto rate = parse_budget("3usd/h");
  ASSERT_TRUE(rate.ok());
  EXPECT_DOUBLE_EQ(rate->rate_max->in(kDollar / kHour), 3);
  EXPECT_FALSE(rate->budget);
}

TEST(Budget, TheSignOfTheDollarStandsBeforeANumber) {
  EXPECT_EQ(money_text("$20"), "20USD");
  EXPECT_EQ(money_text(" $3.5/h "), "3.5USD/h");
  for (const char* text : {"20usd", "$", "$x", "$-5", "-$5", "$1,000", "$/h", ""}) {
    EXPECT_EQ(money_text(text), text);
  }
}

TEST(Budget, MayHaveTheSignOfTheDollar) {
  EXPECT_DOUBLE_EQ(parse_budget("$20")->budget->in(kDollar), 20);
  EXPECT_DOUBLE_EQ(parse_budget("$3/h")->rate_max->in(kDollar / kHour), 3);
  EXPECT_NE(parse_budget("$many").error().message.find("'$many' is not an amount of money"),
            std::string::npos);
}

TEST(Confidence, IsAShareOrAPercentage) {
  EXPECT_DOUBLE_EQ(*parse_confidence("0.95"), 0.95);
  EXPECT_DOUBLE_EQ(*parse_confidence("95%"), 0.95);
  EXPECT_DOUBLE_EQ(*parse_confidence(" 97.5 % "), 0.975);
  for (const char* text : {"", "%", "high", "95%%", "0.95x"}) {
    ASSERT_FALSE(parse_confidence(text).ok()) << text;
    EXPECT_EQ(parse_confidence(text).error().kind, ErrorKind::kUsage);
  }
}

TEST(Budget, SaysWhyItIsNone) {
  EXPECT_EQ(parse_budget("-5usd").error().message, "--budget must be above zero");
  EXPECT_EQ(parse_budget("0usd/h").error().message, "--budget must be above zero");
  EXPECT_NE(parse_budget("150").error().message.find("'3 USD/h' limits"), std::string::npos);
  EXPECT_FALSE(parse_budget("3usd/mile").ok());
}

TEST(Limits, RefusesWhatMakesNoSense) {
  EXPECT_TRUE(check_limits({}).ok());
  EXPECT_TRUE(check_limits({.confidence = 0.5}).ok());
  for (const double confidence : {0.49, 0.9999999999999999, 1.0, 1.5}) {
    const Status status = check_limits({.confidence = confidence});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().kind, ErrorKind::kUsage);
  }
  EXPECT_FALSE(check_limits({.deadline = Seconds{}}).ok());
  EXPECT_FALSE(check_limits({.budget = -1 * kDollar}).ok());
  EXPECT_FALSE(check_limits({.rate_max = 0 * kDollar / kHour}).ok());
  EXPECT_FALSE(check_limits({.vms_max = 0}).ok());
}

/// Two machines: one of `lab` without a price, one of `shop` that is only sold on demand.
Catalog two_machines() {
  const Price price{.rate = 1 * kDollar / kHour, .date = {.year = 2026}, .source = "list"};
  const Accelerator gpu{.name = "T4"};
  return {
      .types = {
          {.provider = "lab", .name = "box", .accelerator = gpu, .offers = {{.region = "cellar"}}},
          {.provider = "shop",
           .name = "vm",
           .accelerator = gpu,
           .offers = {{.region = "north", .on_demand = price}}}}};
}

TEST(Offers, AreEnoughWhenOneHasAPrice) {
  EXPECT_TRUE(check_offers(two_machines(), {}).ok());
  EXPECT_TRUE(check_offers(two_machines(), {.markets = {Market::kOnDemand}}).ok());
}

TEST(Offers, ProvidersAndRegionsMustMeet) {
  const Status status =
      check_offers(two_machines(), {.providers = {"shop"}, .regions = {"cellar"}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(status.error().message,
            "the catalogue has no machine with an accelerator of shop in cellar; relax --providers "
            "or --regions");
  EXPECT_EQ(check_offers(two_machines(), {.providers = {"shoop"}}).error().kind, ErrorKind::kUsage);
}

TEST(Offers, MachinesMustPassTheFiltersTogether) {
  const auto message = [](const MachineFilter& machines) {
    const Status status = check_offers(two_machines(), {.machines = machines});
    if (status.ok()) return std::string("fine");
    EXPECT_EQ(status.error().kind, ErrorKind::kUsage);
    return status.error().message;
  };
  EXPECT_EQ(message({.gpus = {"T4"}, .types = {"v*"}}), "fine");
  EXPECT_EQ(message({.gpus = {"T5"}}), "the catalogue has no accelerator 'T5'. Did you mean 'T4'?");
  EXPECT_EQ(message({.types = {"vm"}, .excluded = {"T4"}}),
            "no machine with an accelerator passes --types and --exclude; relax one of them");
  EXPECT_EQ(message({.processors = {"arm64"}}),
            "no machine with an accelerator passes --arch; relax one of them");
  EXPECT_EQ(message({.gpus = {"none"}}), "--gpu none: a plan needs machines with an accelerator");
}

TEST(Offers, WithoutAPriceTheCatalogueIsToBlame) {
  const Status status = check_offers(two_machines(), {.providers = {"lab"}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(status.error().message,
            "the catalogue has no price of any machine of lab; add prices with 'stint catalog "
            "import FILE'");
}

TEST(Offers, WithoutAPriceOnTheMarketTheMarketIsToBlame) {
  const Status status = check_offers(two_machines(), {.markets = {Market::kSpot}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kUsage);
  EXPECT_NE(status.error().message.find("on the spot market"), std::string::npos);
}

}  // namespace
}  // namespace stint
