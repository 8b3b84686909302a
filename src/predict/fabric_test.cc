#include "predict/fabric.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"
#include "predict/fabric_fixture.h"

namespace stint {
namespace {

FabricFacts tcp(double gbit) {
  return {.network = gbit * kGbit / kSecond, .transport = TransportFamily::kTcp};
}

// 10 Gbit/s are 1.25 GB/s: at 0.8 of it 1 ns a byte, and 0.1 ns for the host.
TEST(FabricPrior, AddsTheHostToTheWire) {
  const FabricPrior prior = fabric_prior(round_networks(), tcp(10));
  EXPECT_NEAR(prior.mean.cost, std::log(1.1), 1e-12);
  EXPECT_NEAR(prior.mean.two_vm_cost, std::log(1.1), 1e-12);
  EXPECT_NEAR(prior.mean.depth_cost, std::log(1.1) - 2, 1e-12);
  EXPECT_NEAR(prior.mean.server_cost, std::log(1.4), 1e-12);
  EXPECT_EQ(prior.deviation.cost, 0.5);
  EXPECT_EQ(prior.mean.unhidden, -0.7);  // No property of a network.
}

// The logarithms of both costs are the middle and half their distance apart from it.
TEST(FabricPrior, IsAMixtureWhereTheTransportIsUnknown) {
  const FabricPrior prior = fabric_prior(round_networks(), {.network = 100 * kGbit / kSecond});
  const double slow = std::log(0.1 + 0.1);
  const double fast = std::log(0.1);
  EXPECT_NEAR(prior.mean.cost, (slow + fast) / 2, 1e-12);
  const double variance = (0.25 + 0.09) / 2 + std::pow((slow - fast) / 2, 2);
  EXPECT_NEAR(prior.deviation.cost, std::sqrt(variance), 1e-12);
}

TEST(FabricPrior, IsThatOfAnyNetworkWithoutARate) {
  const FabricPrior prior = fabric_prior(round_networks(), {.transport = TransportFamily::kRdma});
  EXPECT_EQ(prior.mean.cost, 3);
  EXPECT_EQ(prior.deviation.cost, 2);
}

// PCIe at 0.25 of 16 GB/s takes 0.25 ns a byte, RDMA at 0.8 of 50 GB/s 0.025 ns: four workers on a
// VM cost ten times what one does.
TEST(FabricPrior, FullMachinesCostWhatTheirInsideLinkTakes) {
  const FabricPrior prior = fabric_prior(round_networks(), {.network = 400 * kGbit / kSecond,
                                                            .transport = TransportFamily::kRdma,
                                                            .inside = InsideLinkKind::kPcie,
                                                            .workers_per_vm = 4});
  EXPECT_NEAR(prior.mean.inside_cost, std::log(0.25), 1e-12);
  EXPECT_NEAR(prior.mean.cost + prior.mean.cost_by_workers * std::log(4), std::log(0.25), 1e-12);
}

TEST(FabricTransfer, LeavesTheLawAloneOnItsOwnNetwork) {
  FabricLaw fitted;
  fitted.cost = 1.3;
  fitted.inside_cost = 0.4;
  const FabricTransfer same = fabric_transfer(round_networks(), tcp(50), tcp(50));
  EXPECT_EQ(same.weight, 1);
  EXPECT_EQ(same.deviation, 0);
  EXPECT_NEAR(transferred(fitted, same).cost, 1.3, 1e-12);
  EXPECT_NEAR(transferred(fitted, same).inside_cost, 0.4, 1e-12);
}

// Half the rate: e^-0.5 of the correction is left.
TEST(FabricTransfer, FadesWithTheDistance) {
  const NetworkKnowledge known = round_networks();
  FabricLaw fitted;
  fitted.cost = fabric_prior(known, tcp(50)).mean.cost + 1;
  const FabricTransfer half = fabric_transfer(known, tcp(50), tcp(25));
  const double weight = std::exp(-0.5);
  EXPECT_NEAR(half.weight, weight, 1e-12);
  EXPECT_NEAR(transferred(fitted, half).cost, fabric_prior(known, tcp(25)).mean.cost + weight,
              1e-12);
  EXPECT_NEAR(half.deviation, 0.5 * std::sqrt(1 - weight * weight), 1e-12);
  EXPECT_EQ(half.rate, 25 * kGbit / kSecond);
}

TEST(FabricTransfer, HardlyCarriesOverToAnotherTransport) {
  FabricFacts other = tcp(50);
  other.transport = TransportFamily::kRdma;
  EXPECT_NEAR(fabric_transfer(round_networks(), tcp(50), other).weight, std::exp(-2), 1e-12);
}

TEST(FabricTransfer, FadesFurtherWhereItIsTold) {
  EXPECT_NEAR(fabric_transfer(round_networks(), tcp(50), tcp(50), 1).weight, std::exp(-1), 1e-12);
}

TEST(FabricTransfer, FewerWorkersPerMachineAreNoDistance) {
  FabricFacts from = tcp(50);
  FabricFacts to = tcp(50);
  from.workers_per_vm = 4;
  to.workers_per_vm = 1;
  EXPECT_EQ(fabric_transfer(round_networks(), from, to).weight, 1);
  to.workers_per_vm = 8;
  EXPECT_NEAR(fabric_transfer(round_networks(), from, to).weight, std::exp(-0.25), 1e-12);
}

TEST(FabricTransfer, UnknownFactsOfTheCalibrationCountAsEqual) {
  const FabricFacts to{.network = 50 * kGbit / kSecond,
                       .transport = TransportFamily::kRdma,
                       .inside = InsideLinkKind::kNvlink};
  const FabricTransfer transfer = fabric_transfer(round_networks(), {}, to);
  EXPECT_EQ(transfer.weight, 1);
  EXPECT_EQ(transfer.inside_weight, 1);
}

TEST(FabricPhysics, NamesAConstantThatIsMissing) {
  const auto physics = fabric_physics({.name = "mine"}, {});
  ASSERT_FALSE(physics.ok());
  EXPECT_EQ(physics.error().message, "the calibration mine lacks the constant step_share of tcp");
}

/// Constants of steps that are all a half.
Calibration half_of_all() {
  Calibration steps{.name = "steps"};
  for (const char* scope : {"tcp", "rdma", "pcie", "nvlink", "other", "distance"}) {
    for (const char* name :
         {"step_share", "step_cost", "latency_share", "cost_by_vms", "cost_by_workers",
          "depth_share", "server_cost", "rate", "workers", "transport", "inside", "cluster"}) {
      steps.constants.push_back({.name = name, .scope = scope, .value = 0.5, .deviation = 0.3});
    }
  }
  return steps;
}

// One source of rates and latencies: what moves collectives alone moves steps as much.
TEST(FabricPhysics, FollowsTheLawOfCollectives) {
  CollectiveLaw law;
  law.rdma = {.latency = 40 * kMicrosecond,
              .efficiency = 0.9,
              .latency_deviation = 0.7,
              .efficiency_deviation = 0.4};
  law.tcp.host = 0.1;
  const auto physics = fabric_physics(half_of_all(), law);
  ASSERT_TRUE(physics.ok()) << physics.error().message;
  const TransportLaw& rdma = physics->transports.at(TransportFamily::kRdma);
  EXPECT_NEAR(rdma.efficiency.mean, 0.45, 1e-12);
  EXPECT_NEAR(rdma.efficiency.deviation, 0.5, 1e-12);
  EXPECT_NEAR(rdma.latency.mean, std::log(4e-5), 1e-12);  // Two steps of a tree, half of each.
  EXPECT_EQ(rdma.latency.deviation, 0.7);
  EXPECT_NEAR(physics->transports.at(TransportFamily::kTcp).host, 0.2 + 0.5, 1e-12);
  law.rdma.efficiency = 0.6;
  EXPECT_NEAR(
      fabric_physics(half_of_all(), law)->transports.at(TransportFamily::kRdma).efficiency.mean,
      0.3, 1e-12);
}

// A correction that fades must not outweigh what the link gains: up to a factor of ten.
TEST(FabricTransfer, NeverCostsMoreOnAFasterLink) {
  NetworkKnowledge known = round_networks();
  known.physics.distance.rate = 0.15;  // As shipped.
  Random random(11);
  for (int i = 0; i < 1000; ++i) {
    const double from = std::exp(1 + 4 * random.uniform());
    const double slow = std::exp(1 + 4 * random.uniform());
    const double fast = slow * (1 + random.uniform());
    FabricLaw fitted;
    fitted.cost = fabric_prior(known, tcp(from)).mean.cost + std::log(10) * random.uniform();
    const double before = transferred(fitted, fabric_transfer(known, tcp(from), tcp(slow))).cost;
    const double after = transferred(fitted, fabric_transfer(known, tcp(from), tcp(fast))).cost;
    EXPECT_LE(after, before) << from << " Gbit/s to " << slow << " and " << fast;
  }
}

}  // namespace
}  // namespace stint
