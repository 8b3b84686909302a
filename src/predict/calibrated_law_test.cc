#include "predict/calibrated_law.h"

#include <cmath>
#include <gtest/gtest.h>

#include "predict/fabric_fixture.h"
#include "predict/predictor_fixture.h"

namespace stint {
namespace {

Constant* constant_of(Calibration& calibration, const std::string& name) {
  for (Constant& constant : calibration.constants) {
    if (constant.name == name) return &constant;
  }
  return nullptr;
}

TEST(CalibratedLaw, PriorsAloneAreNotFittedAndHaveTheirPriorDeviations) {
  const auto law = calibrated_law(round_calibration());
  ASSERT_TRUE(law.ok()) << law.error().message;
  EXPECT_FALSE(law->fitted);
  EXPECT_EQ(law->fabric.latency, -50);
  EXPECT_DOUBLE_EQ(law->covariance[2][2], 0.01);
  EXPECT_EQ(law->covariance[2][3], 0);
  EXPECT_EQ(law->job_deviation.cost, 0.2);
  EXPECT_EQ(law->noise_floor, 0.03);
  EXPECT_EQ(law->dispersion, 1);
}

TEST(CalibratedLaw, TakesTheCovarianceOfWhatWasIdentified) {
  Calibration calibration = round_calibration();
  // The third and the ninth constant of the fabric, whatever stands between them.
  for (const char* name : {"cost", "latency"}) constant_of(calibration, name)->identified = true;
  calibration.covariance = {{4, 1}, {1, 9}};
  const auto law = calibrated_law(calibration);
  ASSERT_TRUE(law.ok());
  EXPECT_TRUE(law->fitted);
  EXPECT_EQ(law->covariance[2][2], 4);
  EXPECT_EQ(law->covariance[2][8], 1);
  EXPECT_EQ(law->covariance[8][2], 1);
  EXPECT_EQ(law->covariance[8][8], 9);
  EXPECT_EQ(law->covariance[2][3], 0);
}

TEST(CalibratedLaw, KnowsTheJobsThatWereFitted) {
  Calibration calibration = round_calibration();
  calibration.constants.push_back(
      {.name = "job_cost", .scope = "job:bert", .value = 0.5, .unit = "1", .deviation = 0.05});
  calibration.constants.push_back(
      {.name = "noise", .scope = "job:bert", .value = 2, .unit = "1", .identified = false});
  const auto law = calibrated_law(calibration);
  ASSERT_TRUE(law.ok());
  EXPECT_EQ(law->jobs.at("bert").law.cost, 0.5);
  EXPECT_EQ(law->jobs.at("bert").deviation.cost, 0.05);
  EXPECT_EQ(law->jobs.at("bert").noise, 2);
}

// 5 % of 400 MB are 20 MB.
TEST(CalibratedLaw, AJobIsKnownByItsNameAndItsGradients) {
  Calibration calibration = round_calibration();
  calibration.constants.push_back(
      {.name = "job_cost", .scope = "job:bert", .value = 0.5, .unit = "1", .deviation = 0.05});
  EXPECT_EQ(calibrated_law(calibration)->known_job("bert", 400 * kMB), nullptr);
  calibration.constants.push_back({.name = "gradient_bytes",
                                   .scope = "job:bert",
                                   .value = 4e8,
                                   .unit = "byte",
                                   .identified = false});
  const auto law = calibrated_law(calibration);
  ASSERT_TRUE(law.ok());
  EXPECT_EQ(law_of(law->known_job("bert", 419 * kMB)).cost, 0.5);
  EXPECT_EQ(law_of(law->known_job("bert", 381 * kMB)).cost, 0.5);
  EXPECT_EQ(law->known_job("bert", 421 * kMB), nullptr);
  EXPECT_EQ(law->known_job("bert", 379 * kMB), nullptr);
  EXPECT_EQ(law->known_job("other", 400 * kMB), nullptr);
  EXPECT_EQ(law_of(nullptr).cost, 0);
}

TEST(CalibratedLaw, MaySayWhichNetworkItIsFor) {
  Calibration calibration = round_calibration();
  EXPECT_EQ(calibrated_law(calibration)->reference_network, kReferenceNetwork);
  calibration.constants.push_back({.name = "network",
                                   .scope = "fabric_reference",
                                   .value = 25,
                                   .unit = "Gbit/s",
                                   .identified = false});
  EXPECT_EQ(calibrated_law(calibration)->reference_network, 25 * kGbit / kSecond);
  calibration.constants.back().value = 0;
  ASSERT_FALSE(calibrated_law(calibration).ok());
  EXPECT_EQ(calibrated_law(calibration).error().message,
            "the reference network of the calibration round must be above zero, in Gbit/s");
}

TEST(CalibratedLaw, AMissingConstantIsNamed) {
  Calibration calibration = round_calibration();
  constant_of(calibration, "depth_cost")->name = "another";
  const auto law = calibrated_law(calibration);
  ASSERT_FALSE(law.ok());
  EXPECT_EQ(law.error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(law.error().message, "the calibration round lacks the constant depth_cost of fabric");
}

TEST(CalibratedLaw, MayBeOlderThanAConstantOfJobs) {
  Calibration calibration = round_calibration();
  constant_of(calibration, "job_latency")->name = "another";
  const auto law = calibrated_law(calibration);
  ASSERT_TRUE(law.ok());
  EXPECT_EQ(law->job_deviation.latency, 0);
}

// ln T = 2 cost + 3 job_cost: (2 · 0.1)² + (3 · 0.2)² + noise. T = e⁰ = 1 s of which 0.5 s is
// alone, so the noise is 0.03² + (0.04 · 0.5)². Worked by hand: 0.04 + 0.36 + 0.0009 + 0.0004 =
// 0.4013.
TEST(LogSpread, AddsTheFabricTheJobAndTheNoise) {
  const auto law = calibrated_law(round_calibration());
  const LawQuestion question{
      .time = [](const FabricLaw& fabric,
                 const JobLaw& job) { return std::exp(2 * fabric.cost + 3 * job.cost) * kSecond; },
      .alone = 0.5 * kSecond};
  EXPECT_NEAR(log_spread(*law, nullptr, question).above, std::sqrt(0.4013), 1e-9);
}

// A known job has its own deviation and noise: 0.04 + (3 · 0.05)² + 2² · 0.0009 = 0.0661, where
// T = e^{1.5} and all of it is alone.
TEST(LogSpread, OfAKnownJobIsItsOwn) {
  auto law = calibrated_law(round_calibration());
  const KnownJob bert{.law = {.cost = 0.5}, .deviation = {.cost = 0.05}, .noise = 2};
  const LawQuestion question{
      .time = [](const FabricLaw& fabric,
                 const JobLaw& job) { return std::exp(2 * fabric.cost + 3 * job.cost) * kSecond; },
      .alone = std::exp(1.5) * kSecond};
  EXPECT_NEAR(log_spread(*law, &bert, question).above, std::sqrt(0.0661), 1e-9);
}

TEST(LogSpread, GrowsWithTheDispersionOfUnseenJobs) {
  auto law = calibrated_law(round_calibration());
  const LawQuestion question{
      .time = [](const FabricLaw&, const JobLaw& job) { return std::exp(job.cost) * kSecond; },
      .alone = 1 * kSecond};
  const double once = log_spread(*law, nullptr, question).above;
  law->dispersion = 2;
  // 0.2² and (2 · 0.2)² beside the noise floor of 0.03².
  EXPECT_NEAR(once, std::sqrt(0.0409), 1e-9);
  EXPECT_NEAR(log_spread(*law, nullptr, question).above, std::sqrt(0.1609), 1e-9);
}

// A cost that is unsure by another 0.3: 0.2² + 0.3² beside the noise floor of 0.03².
TEST(LogSpread, HoldsWhatElseIsUnsureAboutTheCost) {
  const auto law = calibrated_law(round_calibration());
  const LawQuestion question{
      .time = [](const FabricLaw&, const JobLaw& job) { return std::exp(job.cost) * kSecond; },
      .alone = 1 * kSecond,
      .cost_deviation = 0.3};
  EXPECT_NEAR(log_spread(*law, nullptr, question).above, std::sqrt(0.1309), 1e-9);
}

// Communication of e^cost s beside 1 s of compute that hides it: at a cost of −1 nothing shows.
// With a deviation of 2 it may be e^{−1 + 2.563} = 4.77 s, which is 1.5626 over 1.2816 above, and
// nothing is below.
TEST(LogSpread, GoesUpWhereWhatIsHiddenMayShow) {
  auto law = calibrated_law(round_calibration());
  law->job_deviation.cost = 2;
  law->noise_floor = 0;
  law->noise_exposed = 0;
  const LawQuestion question{
      .time = [](const FabricLaw&,
                 const JobLaw& job) { return std::max(1.0, std::exp(job.cost - 1)) * kSecond; },
      .alone = 1 * kSecond};
  const LogSpread spread = log_spread(*law, nullptr, question);
  EXPECT_NEAR(spread.above, 1.5631 / 1.28155, 1e-3);
  EXPECT_EQ(spread.below, 0);
  // What the optimiser takes as a lower bound of it is one.
  EXPECT_LE(cost_log_deviation(*law, nullptr, question), spread.above);
}

// Two constants that always err against each other: nothing is unsure about their sum.
TEST(LogSpread, ConstantsThatErrAgainstEachOtherCancel) {
  const auto log_time = [](std::span<const double> moved) { return moved[0] + moved[1]; };
  EXPECT_NEAR(log_spread(log_time, 2, {{1, -1}, {-1, 1}}).above, 0, 1e-9);
  EXPECT_NEAR(log_spread(log_time, 2, {}).above, std::sqrt(2), 1e-9);
}

// What was found at 50 Gbit/s, e more than physics says, is carried to another transport of another
// cluster by e^-3.
TEST(CarriedOver, MixesTheCalibrationWithThePrior) {
  const NetworkKnowledge networks = round_networks();
  auto law = calibrated_law(round_calibration());
  law->facts = {.network = 50 * kGbit / kSecond, .transport = TransportFamily::kTcp};
  law->fabric.cost = fabric_prior(networks, law->facts).mean.cost + 1;
  FabricFacts other = law->facts;
  other.transport = TransportFamily::kRdma;
  const FabricPrior prior = carried_over(*law, networks, other);
  const FabricPrior physical = fabric_prior(networks, other);
  const double weight = std::exp(-3);
  EXPECT_NEAR(prior.mean.cost, physical.mean.cost + weight, 1e-12);
  const double variance = weight * weight * 0.01 + (1 - weight * weight) * 0.09;
  EXPECT_NEAR(prior.deviation.cost, std::sqrt(variance), 1e-12);
}

// [4 2; 2 10] = L Lᵀ with L = [2 0; 1 3].
TEST(LawSample, TheRootOfACovarianceIsItsCholeskyFactor) {
  const auto root = lower_root({{4, 2}, {2, 10}});
  EXPECT_DOUBLE_EQ(root[0][0], 2);
  EXPECT_DOUBLE_EQ(root[1][0], 1);
  EXPECT_DOUBLE_EQ(root[1][1], 3);
  EXPECT_DOUBLE_EQ(root[0][1], 0);
}

TEST(LawSample, ADirectionWithoutVarianceStaysWhereItIs) {
  const auto root = lower_root({{0, 0}, {0, 9}});
  EXPECT_EQ(root[0][0], 0);
  EXPECT_EQ(root[1][1], 3);
}

// Every constant of the fixture's fabric has a prior deviation of 0.1, and jobs differ by 0.2.
TEST(LawSample, DrawsScatterAsTheCalibrationSays) {
  const PredictFixture fixture;
  const LawSampler sampler(fixture.law, nullptr);
  Random random(5);
  double fabric = 0;
  double own = 0;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const LawDraw drawn = sampler.draw(random);
    const double a = drawn.fabric.cost - fixture.law.fabric.cost;
    fabric += a * a / kDraws;
    own += drawn.own.crowding * drawn.own.crowding / kDraws;
    EXPECT_EQ(drawn.own.size, 0);
  }
  EXPECT_NEAR(fabric, 0.01, 0.001);
  EXPECT_NEAR(own, 0.04, 0.004);
}

}  // namespace

}  // namespace stint
