#include "predict/predictor.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"
#include "predict/fabric_fixture.h"
#include "predict/predictor_fixture.h"

namespace stint {
namespace {

Predicted predicted(const PredictFixture& fixture, const std::string& cluster,
                    const PredictOptions& options) {
  const auto resolved = fixture.resolved(cluster, options);
  CHECK(resolved.ok());
  return predict(fixture.context(), *resolved, step_parts);
}

// 20 samples on one T4: 20 + 40 + 2 ms, and 20/0.062 s = 322.6 samples a second at 3.6 $/h or
// 0.001 $/s: a million take 3100 s, 3.10 $. The deviation is the noise floor of 3 %.
TEST(Predict, OneWorkerIsThePureProfile) {
  const Prediction it = predicted({}, "slow.1", {.batch_per_worker = 20}).prediction;
  EXPECT_NEAR(it.iteration.parts.forward.in(kMillisecond), 20, 1e-9);
  EXPECT_NEAR(it.iteration.parts.backward.in(kMillisecond), 40, 1e-9);
  EXPECT_NEAR(it.iteration.parts.update.in(kMillisecond), 2, 1e-9);
  EXPECT_NEAR(it.iteration.mean.in(kMillisecond), 62, 1e-9);
  EXPECT_NEAR(it.throughput_samples_per_second, 322.58, 0.01);
  EXPECT_NEAR(it.cost_per_million_samples->in(kDollar), 3.10, 1e-6);
  EXPECT_EQ(it.price->region, "here");
  EXPECT_NEAR(std::log(it.iteration.p90 / it.iteration.mean), kEightInTen * 0.03, 1e-9);
  EXPECT_NEAR(std::log(it.iteration.mean / it.iteration.p10), kEightInTen * 0.03, 1e-9);
}

// Four VMs at 1 ns/byte: the ring sends 2 · 3/4 · 100 MB in 150 ms, from the start of a backward of
// 40 ms; 110 ms of it show.
TEST(Predict, GradientsOfSeveralVmsShowWhereBackwardIsShorter) {
  const Prediction it = predicted({}, "4x slow.1", {.batch_per_worker = 20}).prediction;
  EXPECT_NEAR(it.iteration.parts.exposed_communication.in(kMillisecond), 110, 0.1);
  EXPECT_NEAR(it.iteration.mean.in(kMillisecond), 172, 0.1);
  EXPECT_EQ(it.global_batch, 80);
}

PredictFixture with_buckets() {
  PredictFixture fixture;
  fixture.job.buckets = {{.bytes = 50 * kMB, .ready = 0.5}, {.bytes = 50 * kMB, .ready = 1}};
  return fixture;
}

TEST(Predict, BucketsOfTheProfileChangeNothingUnlessPlayed) {
  const PredictOptions options{.batch_per_worker = 20};
  const Predicted stream = predicted({}, "4x slow.1", options);
  const Predicted it = predicted(with_buckets(), "4x slow.1", options);
  EXPECT_EQ(it.setup.buckets.size(), 1U);
  EXPECT_EQ(it.prediction.iteration.mean, stream.prediction.iteration.mean);
  EXPECT_EQ(it.prediction.iteration.p90, stream.prediction.iteration.p90);
}

// The same in two buckets, at a half and at the end: 75 ms each, from 20 ms and from 95 ms on, so
// the last arrives at 170 ms and 130 ms show.
TEST(Predict, BucketsThatArePlayedLeaveWhenTheyAreReady) {
  const Prediction it =
      predicted(with_buckets(), "4x slow.1", {.batch_per_worker = 20, .plays_buckets = true})
          .prediction;
  EXPECT_NEAR(it.iteration.parts.exposed_communication.in(kMillisecond), 130, 0.1);
}

// A law with 5 ms a bucket: the usual count of 100 MB is 1 + ⌈(95.4 − 1)/25⌉ = 5 buckets, each with
// log2 4 = 2 doublings: 50 ms for the stream; two buckets of the profile take 10 ms each.
TEST(Predict, EachBucketHasItsOwnLatency) {
  PredictFixture fixture = with_buckets();
  fixture.law.fabric.latency = std::log(0.005);
  const auto exposed = [&](bool plays_buckets) {
    return predicted(fixture, "4x slow.1", {.batch_per_worker = 20, .plays_buckets = plays_buckets})
        .prediction.iteration.parts.exposed_communication.in(kMillisecond);
  };
  EXPECT_NEAR(exposed(false), 160, 0.1);
  EXPECT_NEAR(exposed(true), 150, 0.1);
}

// Twice the network at the same cost per byte of it: half of 150 ms, less the 40 ms of backward.
TEST(Predict, NetworksAreMeasuredByTheOneOfTheCalibration) {
  PredictFixture fixture;
  fixture.law.reference_network = 25 * kGbit / kSecond;
  const Predicted it = predicted(fixture, "4x slow.1", {.batch_per_worker = 20});
  EXPECT_NEAR(it.prediction.iteration.parts.exposed_communication.in(kMillisecond), 35, 0.5);
}

// The calibration found 1 ns a byte on TCP at 50 Gbit/s, where physics says 0.2 + 0.1 ns. RDMA at
// that rate should take 0.2 ns, and e^-2 of the correction is left: 0.2 · (1/0.3)^0.135 = 0.235 ns.
TEST(Predict, AnotherTransportHasItsOwnCost) {
  PredictFixture fixture;
  fixture.law.networks = round_networks();
  fixture.law.facts = {.network = 50 * kGbit / kSecond, .transport = TransportFamily::kTcp};
  const auto time = [&] {
    return predicted(fixture, "4x slow.1", {.batch_per_worker = 20}).prediction.iteration;
  };
  const auto communication = [&] {
    const Predicted it = predicted(fixture, "4x slow.1", {.batch_per_worker = 20});
    return (it.setup.groups[0].network.inverse_bandwidth * kGB).in(kSecond);
  };
  EXPECT_NEAR(communication(), 1, 1e-9);
  const double before = time().p90 / time().mean;
  for (VmType& type : fixture.catalog.types) type.network->transport = Transport::kEfa;
  const double growth = 2 * 3.0 / 4;  // The depth of four workers counts too.
  const double weight = std::exp(-2);
  const double depth =
      2 / growth * 0.2 * std::exp(-3) * std::pow(std::exp(-50) / (0.3 * std::exp(-2)), weight);
  const double cost = 0.2 * std::pow(1 / 0.3, weight) * std::pow(4.0 / 3, -0.05 * (weight - 1));
  EXPECT_NEAR(communication(), cost + depth, 1e-3);
  // Nobody measured it, so that much of it may be otherwise.
  EXPECT_GT(time().p90 / time().mean, before);
}

// ln 2 of job_cost doubles the 150 ms: 260 ms show.
TEST(Predict, AJobOfTheCalibrationIsTakenByItsGradients) {
  PredictFixture fixture;
  fixture.law.jobs["small"] = {.law = {.cost = std::log(2)}, .gradients = 101 * kMB};
  const auto exposed = [&] {
    return predicted(fixture, "4x slow.1", {.batch_per_worker = 20})
        .prediction.iteration.parts.exposed_communication.in(kMillisecond);
  };
  EXPECT_NEAR(exposed(), 260, 0.1);
  fixture.law.jobs["small"].gradients = 200 * kMB;
  EXPECT_NEAR(exposed(), 110, 0.1);
}

// A straggling of 0.1 ln n among 4 workers is 13.86 %: of 60 ms it stands apart as 8.3 ms, and the
// update of 2 ms grows with it.
TEST(Predict, StragglingStandsApart) {
  PredictFixture fixture;
  fixture.law.fabric.straggling = 0.1;
  const IterationParts parts =
      predicted(fixture, "4x slow.1", {.batch_per_worker = 20}).prediction.iteration.parts;
  EXPECT_NEAR(parts.forward.in(kMillisecond), 20, 1e-9);
  EXPECT_NEAR(parts.straggling.in(kMillisecond), 60 * 0.13863, 1e-3);
  EXPECT_NEAR(parts.update.in(kMillisecond), 2 * 1.13863, 1e-3);
}

TEST(Predict, TimesCarriedOverWidenTheInterval) {
  const Prediction it = predicted({}, "fast.1", {.batch_per_worker = 20}).prediction;
  EXPECT_NEAR(it.iteration.mean.in(kMillisecond), 31, 1e-9);
  EXPECT_NEAR(std::log(it.iteration.p90 / it.iteration.mean), kEightInTen * std::hypot(0.03, 0.2),
              1e-9);
  EXPECT_EQ(it.groups[0].carried_over_from, "T4");
}

// With cost unsure by a factor of e² the log-normal's lower end would be far below the 62 ms that a
// worker takes alone; those are known to 3 %.
TEST(Predict, IsNeverThoughtShorterThanAWorkerAlone) {
  PredictFixture fixture;
  for (std::size_t i = 0; i < fixture.law.covariance.size(); ++i) fixture.law.covariance[i][i] = 4;
  const Prediction it = predicted(fixture, "4x slow.1", {.batch_per_worker = 20}).prediction;
  EXPECT_NEAR(it.iteration.p10.in(kMillisecond), 62 * std::exp(-kEightInTen * 0.03), 1e-6);
  EXPECT_GT(it.iteration.p90.in(kMillisecond), 500);
}

TEST(Predict, ExtrapolationWidensTheInterval) {
  // 256 is one doubling beyond twice 64.
  const Prediction it = predicted({}, "slow.1", {.batch_per_worker = 256}).prediction;
  EXPECT_NEAR(std::log(it.iteration.p90 / it.iteration.mean), kEightInTen * std::hypot(0.03, 0.1),
              1e-6);
}

TEST(Predict, KeepsTheWeightsOfUnevenBatches) {
  const Prediction it = predicted({}, "slow.1 + fast.1", {.global_batch = 90}).prediction;
  ASSERT_EQ(it.groups.size(), 2U);
  EXPECT_NEAR(it.groups[0].batches[0].gradient_weight, 1.0 / 3, 1e-12);
  EXPECT_NEAR(it.groups[1].batches[0].gradient_weight, 2.0 / 3, 1e-12);
}

// 1 GB + 100 MB a sample: 200 samples need 21 GB and 16 GB are there; halves need 11 GB.
TEST(Predict, ABatchThatDoesNotFitComesWithOneThatDoes) {
  const Prediction it = predicted({}, "slow.1", {.batch_per_worker = 200}).prediction;
  ASSERT_TRUE(it.memory);
  EXPECT_FALSE(it.memory->fits);
  EXPECT_NEAR(it.memory->needed.in(kGB), 21, 1);
  ASSERT_TRUE(it.fitting);
  EXPECT_EQ(it.fitting->batch_per_worker, 100);
  EXPECT_EQ(it.fitting->accumulation, 2);
  EXPECT_FALSE(it.fitting->global_batch);
}

// 211 is a prime: in two micro-steps of 106 it would fit, so 210 or 212 do; 106 need 11.6 GB.
TEST(Predict, ABatchThatCannotBeCutComesWithTheNearestThatCan) {
  const Prediction it = predicted({}, "slow.1", {.batch_per_worker = 211}).prediction;
  ASSERT_TRUE(it.fitting);
  EXPECT_EQ(it.fitting->accumulation, 2);
  EXPECT_EQ(it.fitting->batch_per_worker, 105);
  EXPECT_EQ(it.fitting->global_batch, 210);
  EXPECT_TRUE(validate(it).ok());
}

TEST(Predict, NothingFitsWhereOneSampleDoesNot) {
  PredictFixture fixture;
  for (Gpu& gpu : fixture.catalog.gpus) gpu.memory = 1 * kGB;
  const Prediction it = predicted(fixture, "3x slow.1", {.global_batch = 100003}).prediction;
  ASSERT_TRUE(it.memory && !it.memory->fits);
  EXPECT_FALSE(it.fitting);
}

TEST(Predict, MemoryOfAJobWithoutPeaksIsNotSaid) {
  PredictFixture fixture;
  for (ComputeSample& sample : fixture.job.compute) sample.peak_memory.reset();
  EXPECT_FALSE(predicted(fixture, "slow.1", {.batch_per_worker = 8}).prediction.memory);
}

/// A fixture whose law, buckets and network are drawn at random.
PredictFixture random_fixture(Random& random) {
  PredictFixture fixture;
  FabricLaw& law = fixture.law.fabric;
  law.latency = random.uniform(-9, -6);
  law.depth_cost = random.uniform(-4, 0);
  law.crowding_inside = random.uniform(-4, -1);
  law.crowding_across = random.uniform(-4, -1);
  law.straggling = random.uniform(0, 0.1);
  law.sharpness = random.uniform(0, 3);
  if (random.below(2) == 0) {
    fixture.job.buckets = {{.bytes = 25 * kMB, .ready = random.uniform(0, 0.5)},
                           {.bytes = 75 * kMB, .ready = random.uniform(0.5, 1)}};
  }
  return fixture;
}

Collective random_collective(Random& random) {
  return names_of(Collective{})[static_cast<std::size_t>(random.below(4))].first;
}

TEST(Predict, PartsAddUpAndTheAnswerIsAValidNoun) {
  constexpr std::uint64_t kSeed = 11;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int round = 0; round < 100; ++round) {
    const PredictFixture fixture = random_fixture(random);
    const std::string cluster =
        fmt::format("{}x slow.4 + {}x fast.1", 1 + random.below(6), 1 + random.below(6));
    const Prediction it = predicted(fixture, cluster,
                                    {.batch_per_worker = 1 + random.below(100),
                                     .accumulation = 1 + random.below(3),
                                     .collective = random_collective(random),
                                     .plays_buckets = random.below(2) == 0})
                              .prediction;
    EXPECT_NEAR(total(it.iteration.parts) / it.iteration.mean, 1, 1e-9);
    EXPECT_LT(it.iteration.p10, it.iteration.mean);
    EXPECT_LT(it.iteration.mean, it.iteration.p90);
    EXPECT_TRUE(validate(it).ok()) << validate(it).error().message;
  }
}

TEST(Predict, MoreBandwidthIsNeverSlower) {
  constexpr std::uint64_t kSeed = 12;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int round = 0; round < 100; ++round) {
    PredictFixture fixture = random_fixture(random);
    const PredictOptions options{.batch_per_worker = 1 + random.below(100),
                                 .collective = random_collective(random)};
    const std::string cluster = fmt::format("{}x slow.4", 1 + random.below(9));
    const Seconds before = predicted(fixture, cluster, options).prediction.iteration.mean;
    for (VmType& type : fixture.catalog.types) {
      if (type.network) type.network->baseline = random.uniform(50, 500) * kGbit / kSecond;
    }
    const Seconds after = predicted(fixture, cluster, options).prediction.iteration.mean;
    EXPECT_LE(after.in(kSecond), before.in(kSecond) * (1 + 1e-12)) << cluster;
  }
}

TEST(Predict, EqualGroupsMayBeWrittenAsOneOrAsTwo) {
  constexpr std::uint64_t kSeed = 13;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int round = 0; round < 50; ++round) {
    const PredictFixture fixture = random_fixture(random);
    const int first = 1 + random.below(5);
    const int second = 1 + random.below(5);
    const PredictOptions options{.global_batch = 40 + random.below(1000),
                                 .collective = random_collective(random)};
    const Prediction one =
        predicted(fixture, fmt::format("{}x slow.4", first + second), options).prediction;
    const Prediction two =
        predicted(fixture, fmt::format("{}x slow.4 + {}x slow.4", first, second), options)
            .prediction;
    EXPECT_NEAR(one.iteration.mean / two.iteration.mean, 1, 1e-9);
    // The idler of two groups may have one sample less, and that far below the measured batches.
    EXPECT_NEAR(one.iteration.p90 / two.iteration.p90, 1, 1e-4);
    EXPECT_NEAR(*one.cost_per_million_samples / *two.cost_per_million_samples, 1, 1e-9);
  }
}

// An update of 200 ms comes once for eight micro-steps of 20 + 40 ms, so that an iteration is
// shorter than eight iterations of one micro-step; a job's own law may make it shorter yet.
TEST(Predict, AnIntervalNeverEndsAtItsMean) {
  PredictFixture fixture;
  for (ComputeSample& sample : fixture.job.compute) sample.update.median = 200 * kMillisecond;
  const auto expect_around = [&](const char* cluster, const PredictOptions& options) {
    const IterationTime it = predicted(fixture, cluster, options).prediction.iteration;
    EXPECT_LT(it.p10, it.mean);
    EXPECT_LT(it.mean, it.p90);
  };
  expect_around("slow.1", {.batch_per_worker = 20});
  expect_around("slow.1", {.batch_per_worker = 20, .accumulation = 8});
  fixture.job.gradient_bytes = 1 * kKB;
  fixture.law.jobs["small"] = {.law = {.factor = std::log(0.8)}, .gradients = 1 * kKB};
  expect_around("2x slow.1", {.batch_per_worker = 20});
}

// One batch of 64 was measured, of whose 64 + 128 ms a quarter is fixed. 64 samples in 64
// micro-steps of one take 64 · (0.25 + 0.75/64) · 192 ms and 2 ms, many times those of one step.
TEST(Predict, MicroStepsBelowTheMeasuredBatchAreNotFree) {
  PredictFixture fixture;
  fixture.job.compute.erase(fixture.job.compute.begin());
  fixture.devices.fixed_share = FixedShare{.mean = 0.25, .deviation = 0.2};
  const auto whole = predicted(fixture, "slow.1", {.global_batch = 64}).prediction;
  EXPECT_NEAR(whole.iteration.mean.in(kMillisecond), 194, 1e-6);
  EXPECT_TRUE(whole.assumptions.empty());
  const auto ones =
      predicted(fixture, "slow.1", {.global_batch = 64, .accumulation = 64}).prediction;
  EXPECT_NEAR(ones.iteration.mean.in(kMillisecond), 64 * (0.25 + 0.75 / 64) * 192 + 2, 1e-6);
  EXPECT_GT(ones.iteration.p90 / ones.iteration.mean, 1.5);
  ASSERT_EQ(ones.assumptions.size(), 2U);
  EXPECT_EQ(ones.assumptions[0],
            "A batch of 1 per worker is smaller than any measured on T4 (the smallest is 64): the "
            "time is extrapolated.");
  EXPECT_EQ(ones.assumptions[1],
            "Only a batch of 64 was measured on T4: 25 ± 20 % of its time is assumed not to depend "
            "on the batch.");
}

// 100 MB of parameters and gradients each leave nothing of 200 MB, whatever activations take.
TEST(Predict, StatesThatAreTooLargeDoNotFitWithoutAPeak) {
  PredictFixture fixture;
  for (ComputeSample& sample : fixture.job.compute) sample.peak_memory.reset();
  EXPECT_FALSE(predicted(fixture, "slow.1", {.batch_per_worker = 20}).prediction.memory);
  fixture.catalog.gpus[0].memory = 200 * kMB;
  const auto it = predicted(fixture, "slow.1", {.batch_per_worker = 20}).prediction;
  ASSERT_TRUE(it.memory.has_value());
  EXPECT_FALSE(it.memory->fits);
  EXPECT_FALSE(it.fitting.has_value());
}

}  // namespace
}  // namespace stint
