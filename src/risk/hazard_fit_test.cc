#include "risk/hazard_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/random.h"
#include "risk/hazard.h"

namespace stint {
namespace {

PerSecond per_hour(double losses) { return losses / kHour; }

Hazard bathtub() {
  return Hazard(
      {{Seconds(), per_hour(0.5)}, {1 * kHour, per_hour(0.02)}, {20 * kHour, per_hour(0.3)}});
}

struct Drawn {
  Hazard hazard;
  int machines = 1000;
  Seconds probes;  // Zero: the moment of a loss is known.
  std::string zone = "a";
};

/// Machines that are observed for a day.
std::vector<Lifetime> draw(const Drawn& how, std::uint64_t seed) {
  Random random(seed);
  std::vector<Lifetime> lifetimes;
  for (int i = 0; i < how.machines; ++i) {
    const Seconds age = how.hazard.age_at(-std::log1p(-random.uniform()));
    Lifetime it{.provider = "p", .machine = "m", .gpus = 0, .zone = how.zone};
    if (age > kDay) {
      it.at_least = kDay;
    } else if (how.probes > Seconds()) {
      it.at_least = std::floor(age / how.probes) * how.probes;
      it.at_most = it.at_least + how.probes;
    } else {
      it.at_least = age;
      it.at_most = age;
    }
    lifetimes.push_back(it);
  }
  return lifetimes;
}

void expect_close(const Hazard& fitted, const Hazard& truth, double tolerance) {
  for (const double hours : {0.5, 1.0, 3.0, 6.0, 12.0, 23.0}) {
    EXPECT_NEAR(fitted.survival(hours * kHour), truth.survival(hours * kHour), tolerance) << hours;
  }
}

// With 2000 machines the standard error of a share is at most √(0.25/2000) = 0.011.
TEST(HazardFit, FindsABathtub) {
  const auto lifetimes = draw({.hazard = bathtub(), .machines = 2000, .probes = {}}, 7);
  const HazardFit fit = fit_hazard(lifetimes);
  expect_close(hazard_of(fit, lifetimes), bathtub(), 0.03);
  EXPECT_LT(fit.smoothing, 1000);
  // Losses are frequent at first, rare in the middle and frequent again.
  EXPECT_GT(fit.base.rate(10 * kMinute), 5 * fit.base.rate(8 * kHour));
  EXPECT_GT(fit.base.rate(23 * kHour), 3 * fit.base.rate(8 * kHour));
}

TEST(HazardFit, FindsABathtubBetweenProbes) {
  const auto lifetimes = draw({.hazard = bathtub(), .machines = 1000, .probes = 20 * kMinute}, 8);
  const HazardFit fit = fit_hazard(lifetimes, {.smoothing = 1});
  expect_close(hazard_of(fit, lifetimes), bathtub(), 0.04);
}

TEST(HazardFit, AConstantRateStaysNearlyConstant) {
  const Hazard truth = Hazard::constant(per_hour(0.1));
  const auto lifetimes = draw({.hazard = truth, .machines = 1000, .probes = {}}, 9);
  const HazardFit fit = fit_hazard(lifetimes);
  expect_close(hazard_of(fit, lifetimes), truth, 0.04);
  EXPECT_GE(fit.smoothing, 30);
  expect_close(fit_exponential(lifetimes), truth, 0.03);
}

// Losses after 1 h and 3 h and a machine watched for 6 h: 2 losses in 10 h.
TEST(HazardFit, FewLossesGiveLossesOverExposure) {
  std::vector<Lifetime> lifetimes(3);
  lifetimes[0].at_least = 1 * kHour;
  lifetimes[0].at_most = 1 * kHour;
  lifetimes[1].at_least = 2.5 * kHour;
  lifetimes[1].at_most = 3.5 * kHour;
  lifetimes[2].at_least = 6 * kHour;
  EXPECT_NEAR(fit_exponential(lifetimes).rate(Seconds()).in(1 / kHour), 0.2, 1e-12);
  const Hazard fitted = hazard_of(fit_hazard(lifetimes), lifetimes);
  EXPECT_NEAR(fitted.rate(1 * kHour).in(1 / kHour), 0.2, 0.01);
  EXPECT_NEAR(fitted.rate(5 * kHour).in(1 / kHour), 0.2, 0.01);
}

TEST(HazardFit, NoLossIsNoHazard) {
  std::vector<Lifetime> lifetimes(2);
  lifetimes[0].at_least = 1 * kHour;
  EXPECT_EQ(fit_hazard(lifetimes).base.survival(kDay), 1);
  EXPECT_EQ(fit_exponential(lifetimes).survival(kDay), 1);
  EXPECT_EQ(hazard_of(fit_hazard({}), {}).survival(kDay), 1);
}

/// In each of two zones, machines of one kind are lost four times as often as those of another.
std::vector<Lifetime> two_kinds() {
  std::vector<Lifetime> all;
  std::uint64_t seed = 1;
  for (const char* zone : {"a", "b"}) {
    for (const double rate : {0.05, 0.2}) {
      auto some = draw(
          {.hazard = Hazard::constant(per_hour(rate)), .machines = 500, .probes = {}, .zone = zone},
          seed++);
      for (Lifetime& it : some) it.machine = rate < 0.1 ? "slow" : "fast";
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  return all;
}

// A kind that was never seen is drawn as the machines were, half from each.
TEST(HazardFit, KnowsKindsAndAveragesOverThemElsewhere) {
  const HazardFit fit = fit_hazard(two_kinds());
  const auto of_kind = [&](const char* machine) {
    const std::vector<Lifetime> one{{.provider = "p", .machine = machine, .gpus = 0, .zone = "c"}};
    return hazard_of(fit, one).survival(6 * kHour);
  };
  EXPECT_NEAR(of_kind("slow"), std::exp(-0.3), 0.03);
  EXPECT_NEAR(of_kind("fast"), std::exp(-1.2), 0.03);
  EXPECT_NEAR(of_kind("other"), (std::exp(-0.3) + std::exp(-1.2)) / 2, 0.03);
  EXPECT_NEAR(hazard_of(fit, {}).survival(6 * kHour), of_kind("other"), 1e-9);
  for (const auto& [zone, factor] : zone_factors(fit, two_kinds())) {
    EXPECT_NEAR(factor, 1, 0.1) << zone;
  }
}

// Zone b has the opposite ratio to zone a: a third zone learns nothing from kinds.
TEST(HazardFit, DoesNotTellKindsApartThatZonesDisagreeOn) {
  auto lifetimes = two_kinds();
  for (Lifetime& it : lifetimes) {
    if (it.zone == "b") it.machine = it.machine == "slow" ? "fast" : "slow";
  }
  EXPECT_TRUE(fit_hazard(lifetimes).kinds.empty());
}

TEST(HazardFit, ZonesThatLoseMoreHaveALargerFactor) {
  const Hazard truth = Hazard::constant(per_hour(0.1));
  auto lifetimes = draw({.hazard = truth, .machines = 300, .probes = {}, .zone = "a"}, 11);
  const HazardFit fit = fit_hazard(lifetimes);
  const auto worse = draw(
      {.hazard = Hazard::constant(per_hour(0.3)), .machines = 300, .probes = {}, .zone = "b"}, 12);
  lifetimes.insert(lifetimes.end(), worse.begin(), worse.end());
  const auto factors = zone_factors(fit, lifetimes);
  EXPECT_NEAR(factors.at("a"), 1, 0.15);
  EXPECT_NEAR(factors.at("b"), 3, 0.5);
}

// One loss known at 2 h under rate 0.1/h: ln 0.1 − 0.2. Between 1 h and 3 h: −0.1 + ln(1 − e^−0.2).
TEST(HazardFit, LogLikelihoodIsThatOfTheBounds) {
  const HazardFit fit{.base = Hazard::constant(per_hour(0.1))};
  const std::vector<Lifetime> exact{{.at_least = 2 * kHour, .at_most = 2 * kHour}};
  EXPECT_NEAR(log_likelihood(fit, exact), std::log(0.1) - 0.2, 1e-12);
  const std::vector<Lifetime> between{{.at_least = 1 * kHour, .at_most = 3 * kHour}};
  EXPECT_NEAR(log_likelihood(fit, between), -0.1 + std::log(1 - std::exp(-0.2)), 1e-12);
  const std::vector<Lifetime> alive{{.at_least = 4 * kHour, .at_most = {}}};
  EXPECT_NEAR(log_likelihood(fit, alive), -0.4, 1e-12);
}

// On the data it was fitted to, the curve follows Kaplan and Meier's where the exponential does
// not.
TEST(HazardFit, FollowsGooglesPreemptibleVms) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set, so Google's VMs are not fitted.";
  const auto text = read_file(std::string(data) + "/preempt_google_vm/lifetimes.csv");
  ASSERT_TRUE(text.ok()) << text.error().message;
  const auto lifetimes = read_lifetimes(*text, "lifetimes.csv");
  ASSERT_TRUE(lifetimes.ok()) << lifetimes.error().message;
  const KaplanMeier measured(*lifetimes);
  const Hazard fitted = hazard_of(fit_hazard(*lifetimes), {});
  const Hazard constant = fit_exponential(*lifetimes);
  double error = 0;
  double error_constant = 0;
  for (const double hours : {1, 3, 6, 12, 24}) {
    const double share = measured.at(hours * kHour)->share;
    error += std::abs(fitted.survival(hours * kHour) - share) / 5;
    error_constant += std::abs(constant.survival(hours * kHour) - share) / 5;
  }
  EXPECT_LT(error, 0.04);
  EXPECT_LT(error, error_constant / 2);
}

}  // namespace
}  // namespace stint
