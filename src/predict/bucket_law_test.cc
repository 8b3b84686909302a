#include "predict/bucket_law.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"
#include "predict/cluster_step.h"
#include "predict/predictor_fixture.h"

namespace stint {
namespace {

/// A law of round numbers: all of a NIC's rate and nothing else, unless a test says so.
BucketLaw round_law() {
  BucketLaw law = ring_formula();
  law.payload = 0;
  return law;
}

Calibration calibration_with(const BucketLaw& law) {
  Calibration calibration{.name = "lab"};
  for (const auto& [name, field] : law_names(law)) {
    calibration.constants.push_back({.name = name,
                                     .scope = "buckets",
                                     .value = law.*field,
                                     .unit = "1",
                                     .prior_deviation = 0.1,
                                     .identified = false});
  }
  for (const char* name : {"noise_floor", "noise_exposed"}) {
    calibration.constants.push_back(
        {.name = name, .scope = "noise", .value = 0.01, .unit = "1", .identified = false});
  }
  return calibration;
}

PredictFixture fixture_with(const BucketLaw& law) {
  PredictFixture fixture;
  fixture.law = *calibrated_law(calibration_with(law));
  return fixture;
}

// 1448/1514 of 1 Gbit/s are 119.55 MB/s.
TEST(BucketLaw, TheFormulaIsTheRingAtThePayloadOfTheFrame) {
  const Link link = bucket_link(ring_formula(), 1 * kGbit / kSecond, 2);
  EXPECT_NEAR((1 / link.inverse_bandwidth).in(kMB / kSecond), 119.55, 0.01);
  EXPECT_NEAR(link.latency.in(kSecond), 0, 1e-12);
}

// 5 VMs: 2 ms · 4² = 32 ms, over the 8 steps of the ring 4 ms each. 8 ns/byte of the wire and 0.1
// for each of the 5 VMs.
TEST(BucketLaw, LatencyAndCostGrowWithTheVms) {
  BucketLaw law = round_law();
  law.latency = std::log(0.002);
  law.latency_growth = 2;
  law.vm_cost = std::log(0.1);
  const Link link = bucket_link(law, 1 * kGbit / kSecond, 5);
  EXPECT_NEAR(link.latency.in(kMillisecond), 4, 1e-9);
  EXPECT_NEAR(link.inverse_bandwidth.in(1e-9 * kSecond / kByte), 8.5, 1e-9);
  EXPECT_NEAR(ring_allreduce_time({}, 5, link).in(kMillisecond), 32, 1e-9);
}

// 60 MiB: 1, 25, 25 and the 9 that are left; ready after 1/60, 26/60, 51/60 and all of backward.
TEST(BucketLaw, GradientsWithoutBucketsAreCutAsPyTorchDoes) {
  const auto buckets = usual_buckets(60 * kMiB);
  ASSERT_EQ(buckets.size(), 4U);
  EXPECT_NEAR(buckets[0].bytes / kMiB, 1, 1e-9);
  EXPECT_NEAR(buckets[2].bytes / kMiB, 25, 1e-9);
  EXPECT_NEAR(buckets[3].bytes / kMiB, 9, 1e-9);
  EXPECT_NEAR(buckets[1].ready, 26.0 / 60, 1e-9);
  EXPECT_EQ(buckets[3].ready, 1);
}

// 16 samples: forward 16 ms, backward 32 ms, update 2 ms. Two VMs at 50 Gbit/s: 0.16 ns/byte, so
// buckets of 50 MB take 8 ms. The first leaves after 32 ms; the second at 48 ms ends 8 ms after
// backward. An overhead of 1 ms for each of two VMs.
TEST(BucketLaw, FollowsTheBucketsOfTheProfile) {
  BucketLaw law = round_law();
  law.overhead = std::log(0.001);
  PredictFixture fixture = fixture_with(law);
  fixture.job.buckets = {{.bytes = 50 * kMB, .ready = 0.5}, {.bytes = 50 * kMB, .ready = 1}};
  const auto resolved = fixture.resolved("2x slow.1", {.global_batch = 32});
  ASSERT_TRUE(resolved.ok()) << resolved.error().message;
  const ClusterView view(*resolved);
  const StepSetup setup = step_setup(fixture.job, view.workers(), fixture.law.fabric, {});
  EXPECT_EQ(setup.in_flight, 2);
  const IterationParts parts = step_parts(setup);
  EXPECT_NEAR(parts.exposed_communication.in(kMillisecond), 8, 1e-6);
  EXPECT_NEAR(parts.update.in(kMillisecond), 4, 1e-6);
  EXPECT_NEAR(total(parts).in(kMillisecond), 60, 1e-6);
}

TEST(BucketLaw, OneWorkerOnlyComputes) {
  BucketLaw law = round_law();
  law.overhead = 0;
  law.jitter = 0;
  const PredictFixture fixture = fixture_with(law);
  const auto resolved = fixture.resolved("1x slow.1", {.global_batch = 16});
  ASSERT_TRUE(resolved.ok());
  const ClusterView view(*resolved);
  EXPECT_NEAR(total(step_parts(bucket_setup(fixture.job, view.workers(), law))).in(kMillisecond),
              50, 1e-6);
}

// The fabric that the search for plans bounds times with must not lie above the law.
TEST(BucketLawProperty, TheStreamIsABoundBelow) {
  constexpr int kSeed = 51;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 200; ++trial) {
    const BucketLaw law{.payload = random.uniform(-0.2, 0),
                        .vm_cost = random.uniform(-6, -2),
                        .latency = random.uniform(-9, -5),
                        .latency_growth = random.uniform(0.5, 2),
                        .overhead = random.uniform(-9, -5),
                        .jitter = random.uniform(-7, -3)};
    PredictFixture fixture = fixture_with(law);
    fixture.job.gradient_bytes = random.uniform(1, 500) * kMB;
    const auto resolved = fixture.resolved("3x slow.1 + 2x fast.1", {.global_batch = 64});
    ASSERT_TRUE(resolved.ok());
    const ClusterView view(*resolved);
    Workers cluster = view.workers();
    const auto time = [&] {
      return total(step_parts(step_setup(fixture.job, cluster, fixture.law.fabric, {})));
    };
    const Seconds followed = time();
    cluster.buckets = nullptr;
    ASSERT_LE(time().in(kSecond), followed.in(kSecond) * (1 + 1e-9));
  }
}

// Only the payload is unsure, by 0.1; where communication is all there is, so is the time.
TEST(BucketLaw, DoubtAboutTheLawIsDoubtAboutTheTime) {
  Calibration calibration = calibration_with(round_law());
  calibration.constants[0].prior_deviation = 0.1;
  for (std::size_t i = 1; i < 6; ++i) calibration.constants[i].prior_deviation = 0;
  PredictFixture fixture;
  fixture.law = *calibrated_law(calibration);
  fixture.job.gradient_bytes = 1000 * kGB;
  fixture.job.buckets = {{.bytes = 1000 * kGB, .ready = 1}};
  const auto resolved = fixture.resolved("2x slow.1", {.global_batch = 32});
  ASSERT_TRUE(resolved.ok());
  const ClusterView view(*resolved);
  EXPECT_NEAR(bucket_log_deviation(fixture.job, view.workers(), *fixture.law.buckets),
              std::sqrt(0.1 * 0.1 + 2 * 0.01 * 0.01), 1e-3);
}

// Two NICs of 50 Gbit/s.
TEST(BucketLaw, SaysWhenTheNicsCarryMoreThanWasMeasured) {
  Calibration calibration = calibration_with(round_law());
  calibration.constants.push_back({.name = "total_rate",
                                   .scope = "fabric_reference",
                                   .value = 100,
                                   .unit = "Gbit/s",
                                   .identified = false});
  PredictFixture fixture;
  fixture.law = *calibrated_law(calibration);
  const auto within = fixture.resolved("2x slow.1", {.global_batch = 48});
  ASSERT_TRUE(within.ok());
  const auto beyond = fixture.resolved("3x slow.1", {.global_batch = 48});
  ASSERT_TRUE(beyond.ok());
  ASSERT_EQ(beyond->assumptions.size(), within->assumptions.size() + 1);
  EXPECT_EQ(beyond->assumptions.front(),
            "The NICs carry 150 Gbit/s in total, more than the 100 Gbit/s that the calibration lab "
            "was measured up to: the predicted time may be too short.");
}

TEST(BucketLaw, ACalibrationSaysWhichConstantIsMissing) {
  Calibration calibration = calibration_with(round_law());
  calibration.constants.erase(calibration.constants.begin() + 2);
  const auto buckets = calibrated_buckets(calibration);
  ASSERT_FALSE(buckets.ok());
  EXPECT_EQ(buckets.error().message, "the calibration lab lacks the constant latency of buckets");
  const auto other = calibrated_buckets(round_calibration());
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->has_value());
}

TEST(BucketLaw, TakesTheCovarianceOfWhatWasIdentified) {
  Calibration calibration = calibration_with(round_law());
  calibration.constants[0].identified = true;
  calibration.constants[3].identified = true;
  calibration.covariance = {{4, 1}, {1, 9}};
  const auto buckets = calibrated_buckets(calibration);
  ASSERT_TRUE(buckets.ok());
  EXPECT_EQ((*buckets)->covariance[0][0], 4);
  EXPECT_EQ((*buckets)->covariance[0][3], 1);
  EXPECT_EQ((*buckets)->covariance[3][3], 9);
  EXPECT_NEAR((*buckets)->covariance[1][1], 0.01, 1e-12);
  EXPECT_EQ((*buckets)->covariance[0][1], 0);
  EXPECT_TRUE(calibrated_law(calibration)->fitted);
}

}  // namespace
}  // namespace stint
