#include "predict/resolve.h"

#include <gtest/gtest.h>
#include <numeric>

#include "base/random.h"
#include "predict/fabric_fixture.h"
#include "predict/predictor_fixture.h"

namespace stint {
namespace {

std::string message_of(const std::string& cluster, const PredictOptions& options) {
  const auto resolved = PredictFixture().resolved(cluster, options);
  return resolved.ok() ? "" : resolved.error().message;
}

TEST(Resolve, RunsOneWorkerPerAcceleratorUnlessTold) {
  const PredictFixture fixture;
  EXPECT_EQ(fixture.resolved("2x slow.4", {.batch_per_worker = 8})->workers(), 8);
  const auto told = fixture.resolved("2x slow.4", {.batch_per_worker = 8, .workers_per_vm = 3});
  EXPECT_EQ(told->workers(), 6);
  EXPECT_EQ(told->global_batch(), 48);
  EXPECT_EQ(message_of("slow.4", {.batch_per_worker = 8, .workers_per_vm = 5}),
            "slow.4 has 4 accelerators, so it runs at most 4 workers, not 5");
}

// Fast ones take half the time per sample and half the fixed 2 ms: of 90 samples about 30 and 60.
TEST(Resolve, SharesTheBatchInProportionToSpeed) {
  const PredictFixture fixture;
  const auto resolved = fixture.resolved("slow.1 + fast.1", {.global_batch = 90});
  ASSERT_TRUE(resolved.ok()) << resolved.error().message;
  EXPECT_EQ(resolved->groups[0].batches, std::vector<int>{30});
  EXPECT_EQ(resolved->groups[1].batches, std::vector<int>{60});
  // The same by the average of a worker.
  const auto average = fixture.resolved("slow.1 + fast.1", {.batch_per_worker = 45});
  EXPECT_EQ(average->groups[1].batches, std::vector<int>{60});
}

TEST(Resolve, BatchesOfMixedClustersAddUpToTheGlobalBatch) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  const PredictFixture fixture;
  for (int round = 0; round < 200; ++round) {
    const std::string cluster =
        fmt::format("{}x slow.4 + {}x fast.1", 1 + random.below(5), 1 + random.below(5));
    const int batch = 40 + random.below(1000);
    const auto resolved = fixture.resolved(cluster, {.global_batch = batch});
    ASSERT_TRUE(resolved.ok()) << resolved.error().message;
    EXPECT_EQ(resolved->global_batch(), batch) << cluster;
  }
}

TEST(Resolve, TheReferenceBatchIsTheDefault) {
  PredictFixture fixture;
  EXPECT_EQ(fixture.resolved("slow.1", {}).error().message,
            "the job small has no reference batch; add --batch-per-worker or --global-batch");
  fixture.job.batch = BatchRange{.reference = 96};
  EXPECT_EQ(fixture.resolved("2x slow.1", {})->groups[0].batches, (std::vector<int>{48, 48}));
}

TEST(Resolve, AccumulationCutsTheGlobalBatch) {
  const PredictFixture fixture;
  const auto resolved = fixture.resolved("2x slow.1", {.global_batch = 96, .accumulation = 3});
  EXPECT_EQ(resolved->groups[0].batch_max(), 16);
  EXPECT_EQ(resolved->global_batch(), 96);
  EXPECT_EQ(layout_of(*resolved).accumulation, 3);
  EXPECT_EQ(message_of("slow.1", {.global_batch = 97, .accumulation = 3}),
            "a global batch of 97 cannot be split into 3 equal micro-steps; change --global-batch "
            "or --accumulation");
  EXPECT_EQ(message_of("3x slow.1", {.global_batch = 2}),
            "a global batch of 2 in 1 micro-step is too small for 3 workers: each needs at least "
            "one sample");
  EXPECT_NE(message_of("3x slow.1", {.batch_per_worker = 2000000000}), "");
}

TEST(Resolve, AClusterStandsWithOneProvider) {
  EXPECT_EQ(message_of("slow.1 + other.1", {.batch_per_worker = 8}),
            "a cluster has one provider, but slow.1 is of x and other.1 of y");
  EXPECT_EQ(message_of("x/here/slow.1 + x/there/fast.1", {.batch_per_worker = 8}),
            "a cluster has one region, but here and there are given");
}

TEST(Resolve, SeveralVmsNeedANetworkFigure) {
  const auto resolved = PredictFixture().resolved("2x dark.1", {.batch_per_worker = 8});
  ASSERT_FALSE(resolved.ok());
  EXPECT_EQ(resolved.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(resolved.error().message.find("x/dark.1 has no network figure"), std::string::npos);
  EXPECT_TRUE(PredictFixture().resolved("1x dark.1", {.batch_per_worker = 8}).ok());
}

TEST(Resolve, AJobWithoutComputeSamplesIsBadInput) {
  PredictFixture fixture;
  fixture.job.compute.clear();
  const auto resolved = fixture.resolved("slow.1", {.batch_per_worker = 8});
  ASSERT_FALSE(resolved.ok());
  EXPECT_EQ(resolved.error().message,
            "the job small has no compute samples; profile it on one machine first");
}

TEST(Resolve, WarnsBeyondTwiceTheLargestBatchMeasured) {
  const PredictFixture fixture;
  EXPECT_TRUE(fixture.resolved("slow.1", {.batch_per_worker = 128})->warnings.empty());
  EXPECT_EQ(fixture.resolved("slow.1", {.batch_per_worker = 129})->warnings.size(), 1U);
}

TEST(Resolve, SaysThatABatchIsBelowTheMeasuredOnes) {
  const PredictFixture fixture;
  EXPECT_TRUE(fixture.resolved("slow.1", {.batch_per_worker = 16})->assumptions.empty());
  EXPECT_EQ(fixture.resolved("slow.1", {.batch_per_worker = 15})->assumptions,
            std::vector<std::string>{"A batch of 15 per worker is smaller than any measured on T4 "
                                     "(the smallest is 16): the time is extrapolated."});
}

TEST(Resolve, SaysWhatItAssumes) {
  const PredictFixture fixture;
  EXPECT_TRUE(fixture.resolved("slow.1", {.batch_per_worker = 16})->assumptions.empty());
  const auto many = fixture.resolved(
      "2x fast.1", {.batch_per_worker = 16, .collective = Collective::kParameterServer});
  // Carried over, not fitted, one server on each VM.
  EXPECT_EQ(many->assumptions.size(), 3U);
  EXPECT_EQ(many->servers(), 2);
  // Buckets that are missed only where they are played.
  EXPECT_EQ(fixture.resolved("2x slow.1", {.batch_per_worker = 16})->assumptions.size(), 1U);
  EXPECT_EQ(fixture.resolved("2x slow.1", {.batch_per_worker = 16, .plays_buckets = true})
                ->assumptions.size(),
            2U);
}

std::vector<std::string> assumed(const PredictFixture& fixture, const PredictOptions& options) {
  return fixture.resolved("2x slow.1", options)->assumptions;
}

TEST(Resolve, SaysWhatWasNotCalibrated) {
  PredictFixture fixture;
  fixture.law.fitted = true;
  EXPECT_TRUE(assumed(fixture, {.batch_per_worker = 16}).empty());
  EXPECT_EQ(assumed(fixture, {.batch_per_worker = 16, .collective = Collective::kTopK}).size(), 1U);
  EXPECT_EQ(
      assumed(fixture,
              {.batch_per_worker = 16, .collective = Collective::kParameterServer, .servers = 1}),
      std::vector<std::string>{"The calibration round does not identify the cost of parameter "
                               "servers: it is the prior."});
  fixture.law.servers_fitted = true;
  EXPECT_TRUE(
      assumed(fixture,
              {.batch_per_worker = 16, .collective = Collective::kParameterServer, .servers = 1})
          .empty());
}

// Twice the rate leaves e^-0.5 = 61 % of what was learned.
TEST(Resolve, SaysWhichNetworksAreUnlikeTheCalibrations) {
  PredictFixture fixture;
  fixture.law.fitted = true;
  fixture.law.networks = round_networks();
  fixture.law.facts = {.network = 50 * kGbit / kSecond, .transport = TransportFamily::kTcp};
  EXPECT_TRUE(assumed(fixture, {.batch_per_worker = 16}).empty());
  fixture.law.reference_network = 25 * kGbit / kSecond;
  fixture.law.facts.network = fixture.law.reference_network;
  EXPECT_EQ(assumed(fixture, {.batch_per_worker = 16}),
            std::vector<std::string>{
                "The network of slow.1 (50 Gbit/s, TCP) was not measured: its costs follow from "
                "its rate and transport, and 61 % of what the calibration round found on 25 Gbit/s "
                "corrects them."});
  const auto resolved = fixture.resolved("2x slow.1", {.batch_per_worker = 16});
  EXPECT_NEAR(resolved->groups[0].network, 2, 1e-12);
  EXPECT_EQ(resolved->groups[0].transfer->rate, 50 * kGbit / kSecond);
}

TEST(Resolve, KnowsTheNetworkOfAVmTypeByTheCatalogue) {
  PredictFixture fixture;
  VmType type = fixture.catalog.types[1];
  type.network->transport = Transport::kInfiniBand;
  type.network->rdma = 200 * kGbit / kSecond;
  const FabricFacts facts = fabric_facts(fixture.catalog, type);
  EXPECT_EQ(*facts.network, 200 * kGbit / kSecond);
  EXPECT_EQ(*facts.transport, TransportFamily::kRdma);
  EXPECT_EQ(*facts.inside, InsideLinkKind::kPcie);
  EXPECT_EQ(*facts.workers_per_vm, 4);
}

TEST(Resolve, SaysWhenTheJobIsOneOfTheCalibration) {
  PredictFixture fixture;
  fixture.law.fitted = true;
  fixture.law.jobs["small"] = {.gradients = 100 * kMB};
  EXPECT_EQ(assumed(fixture, {.batch_per_worker = 16}),
            std::vector<std::string>{
                "The constants are those of the job small in the calibration round."});
}

// Spreads of 10 % of the step in one part alone: √(0.1² − 0.05²) = 0.0866.
TEST(Resolve, TellsTheLawOfStepsThatVaryMoreThanUsual) {
  for (const auto part :
       {&ComputeSample::forward, &ComputeSample::backward, &ComputeSample::update}) {
    PredictFixture fixture;
    for (ComputeSample& sample : fixture.job.compute) {
      (sample.*part).spread =
          0.1 * (sample.forward.median + sample.backward.median + sample.update.median);
    }
    const auto resolved = fixture.resolved("slow.1", {.batch_per_worker = 8});
    EXPECT_NEAR(resolved->groups[0].jitter, 0.0866, 1e-4);
  }
}

TEST(Resolve, ComparesLinksInsideWithPcie3) {
  PredictFixture fixture;
  fixture.catalog.gpus[0].pcie = "4.0 x16";
  EXPECT_NEAR(fixture.resolved("slow.4", {.batch_per_worker = 8})->groups[0].inside_link, 2, 1e-12);
  // 300 GB/s both ways are 150 GB/s one way, over 16.
  fixture.catalog.gpus[0].link_bandwidth = 300 * kGB / kSecond;
  EXPECT_NEAR(fixture.resolved("slow.4", {.batch_per_worker = 8})->groups[0].inside_link, 9.375,
              1e-12);
}

}  // namespace
}  // namespace stint
