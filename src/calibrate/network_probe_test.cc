#include "calibrate/network_probe.h"

#include <cmath>
#include <gtest/gtest.h>

#include "predict/fabric_fixture.h"

namespace stint {
namespace {

constexpr BytesPerSecond kRate = 10 * kGbit / kSecond;

FabricPrior prior_of(TransportFamily transport) {
  return fabric_prior(round_networks(), {.network = kRate, .transport = transport});
}

/// Messages of two sizes over several numbers of VMs, `slower` times as long as by the prior.
std::vector<ReductionRow> probe(const FabricPrior& prior, const ProbedNetwork& network,
                                double slower) {
  std::vector<ReductionRow> rows;
  for (const int vms : {2, 3, 4}) {
    for (const Bytes bytes : {100 * kMB, 400 * kMB}) {
      ReductionRow row{.vms = vms, .slowest = kRate, .total = vms * kRate, .bytes = bytes};
      row.time = slower * lone_reduction_time(prior.mean, row, network);
      rows.push_back(row);
    }
  }
  return rows;
}

// 100 MB between two VMs, each sends them once: 1.1 ns a byte inside a step as of the fixture, and
// e^-2 of that for the one doubling. Alone the same (TCP: a share of 1), and e^-8 s of latency.
TEST(NetworkProbe, AMessageAloneByHand) {
  const NetworkKnowledge networks = round_networks();
  const FabricPrior prior = prior_of(TransportFamily::kTcp);
  const Seconds time = lone_reduction_time(
      prior.mean, {.vms = 2, .slowest = kRate, .total = 2 * kRate, .bytes = 100 * kMB},
      {.transport = networks.physics.transports.at(TransportFamily::kTcp), .reference = kRate});
  EXPECT_NEAR(time.in(kSecond), 0.11 * (1 + std::exp(-2)) + std::exp(-8), 1e-4);
}

// Never faster than the wire, whatever share a step has.
TEST(NetworkProbe, TheWireIsTheLeast) {
  const NetworkKnowledge networks = round_networks();
  const FabricPrior prior = prior_of(TransportFamily::kRdma);
  const Seconds time = lone_reduction_time(
      prior.mean, {.vms = 2, .slowest = kRate, .total = 2 * kRate, .bytes = 1 * kGB},
      {.transport = networks.physics.transports.at(TransportFamily::kRdma), .reference = kRate});
  EXPECT_GE(time, 1 * kGB / kRate);
}

TEST(NetworkProbe, WithoutRowsNothingMoves) {
  const NetworkKnowledge networks = round_networks();
  const FabricPrior prior = prior_of(TransportFamily::kTcp);
  const auto probed = probed_prior(
      prior, {},
      {.transport = networks.physics.transports.at(TransportFamily::kTcp), .reference = kRate});
  ASSERT_TRUE(probed.ok());
  EXPECT_EQ(probed->mean.cost, prior.mean.cost);
}

// Twice as slow: of ln 2 the cost of the network (deviation 0.5) takes 0.25/(0.25 + 0.09), the
// share of steps (0.3) the rest, up to what latency and growth take.
TEST(NetworkProbe, MovesTheCostsByItsShareOfTheDifference) {
  const NetworkKnowledge networks = round_networks();
  const ProbedNetwork network{.transport = networks.physics.transports.at(TransportFamily::kTcp),
                              .reference = kRate};
  const FabricPrior prior = prior_of(TransportFamily::kTcp);
  const auto probed = probed_prior(prior, probe(prior, network, 2), network);
  ASSERT_TRUE(probed.ok()) << probed.error().message;
  const double expected = std::log(2) * 0.25 / (0.25 + 0.09);
  EXPECT_NEAR(probed->mean.cost - prior.mean.cost, expected, 0.05);
  EXPECT_NEAR(probed->mean.two_vm_cost - prior.mean.two_vm_cost, expected, 0.05);
  EXPECT_LT(probed->deviation.cost, prior.deviation.cost);
  EXPECT_GT(probed->deviation.cost, 0.2);  // The share of steps stays unsure.
  EXPECT_EQ(probed->mean.unhidden, prior.mean.unhidden);
}

// A probe of a network that is thirty times as slow moves the costs by two deviations at most.
TEST(NetworkProbe, TheCorrectionIsBounded) {
  const NetworkKnowledge networks = round_networks();
  const ProbedNetwork network{.transport = networks.physics.transports.at(TransportFamily::kTcp),
                              .reference = kRate};
  const FabricPrior prior = prior_of(TransportFamily::kTcp);
  const auto probed = probed_prior(prior, probe(prior, network, 30), network);
  ASSERT_TRUE(probed.ok()) << probed.error().message;
  EXPECT_LE(probed->mean.cost - prior.mean.cost, 2 * 0.5 + 1e-9);
}

TEST(NetworkProbe, ScoresNumbersOfVmsThatWereHeldOut) {
  const NetworkKnowledge networks = round_networks();
  const ProbedNetwork network{.transport = networks.physics.transports.at(TransportFamily::kTcp),
                              .reference = kRate};
  const FabricPrior prior = prior_of(TransportFamily::kTcp);
  const auto record = probe_accuracy(prior, probe(prior, network, 1.3), network);
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_EQ(record->n, 6);
  EXPECT_LT(record->mape, 0.05);
}

}  // namespace
}  // namespace stint
