#include "predict/collective_law.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr LinkLaw kInside{.latency = 2 * kMicrosecond, .efficiency = 0.8, .blend = 1};
constexpr LinkLaw kBetween{.latency = 20 * kMicrosecond, .efficiency = 0.5, .blend = 1};

CollectiveLaw plain_law() {
  return {.launch = 10 * kMicrosecond,
          .switched = kInside,
          .mesh = kInside,
          .pcie = kInside,
          .tcp = kBetween,
          .rdma = kBetween,
          .tree_efficiency = 0.5};
}

Fabric fabric(int vms, int workers) {
  return {.inside_rate = 100 * kGB / kSecond,
          .workers_per_vm = workers,
          .vms = vms,
          .line_rate = 10 * kGB / kSecond};
}

double micros(CollectiveKind kind, Bytes payload, const Fabric& it,
              const CollectiveLaw& law = plain_law()) {
  return collective_time(kind, payload, it, law).in(kMicrosecond);
}

// Four workers, 80 GB/s: an all-reduce of 80 MB sends 1.5 · 80 MB in 1500 µs and takes 6 steps of
// 2 µs after the launch: 1522 µs. An all-gather sends 0.75 · 80 MB in 3 steps: 750 + 6 + 10.
TEST(CollectiveLaw, MatchesHandComputedCasesInsideAVm) {
  EXPECT_NEAR(micros(CollectiveKind::kAllReduce, 80 * kMB, fabric(1, 4)), 1522, 1e-6);
  EXPECT_NEAR(micros(CollectiveKind::kAllGather, 80 * kMB, fabric(1, 4)), 766, 1e-6);
  EXPECT_NEAR(micros(CollectiveKind::kReduceScatter, 80 * kMB, fabric(1, 4)), 766, 1e-6);
  EXPECT_NEAR(micros(CollectiveKind::kAllToAll, 80 * kMB, fabric(1, 4)), 766, 1e-6);
  EXPECT_NEAR(micros(CollectiveKind::kPointToPoint, 80 * kMB, fabric(1, 4)), 1012, 1e-6);
  EXPECT_EQ(micros(CollectiveKind::kAllReduce, 80 * kMB, fabric(1, 1)), 0);
}

// Two VMs of one worker at 5 GB/s: S once through the NIC. 5 MB take 1000 µs, two steps of 20 µs
// and the launch. With four VMs 1.5 · 5 MB in 1500 µs and 6 steps; a small message takes the tree,
// 2 · log₂ 4 = 4 steps.
TEST(CollectiveLaw, MatchesHandComputedCasesBetweenVms) {
  EXPECT_NEAR(micros(CollectiveKind::kAllReduce, 5 * kMB, fabric(2, 1)), 1050, 1e-6);
  EXPECT_NEAR(micros(CollectiveKind::kAllReduce, 5 * kMB, fabric(4, 1)), 1630, 1e-6);
  EXPECT_NEAR(micros(CollectiveKind::kAllReduce, 5 * kByte, fabric(4, 1)), 90.003, 1e-3);
  EXPECT_NEAR(micros(CollectiveKind::kBroadcast, 5 * kByte, fabric(4, 1)), 50.002, 1e-3);
}

// Two VMs of four workers: the NIC decides, 5 MB in 1000 µs; the steps inside are 6 of 2 µs.
TEST(CollectiveLaw, SendsThePayloadOnceThroughTheNicOfAVm) {
  EXPECT_NEAR(micros(CollectiveKind::kAllReduce, 5 * kMB, fabric(2, 4)), 1062, 1e-6);
}

// (√10 + √1000)² = 10 + 1000 + 2 · 100 = 1210 µs for latency 10 and movement 1000.
TEST(CollectiveLaw, BlendsLatencyAndBytes) {
  CollectiveLaw law = plain_law();
  law.switched = {.latency = {}, .efficiency = 0.8, .blend = 0.5};
  EXPECT_NEAR(micros(CollectiveKind::kAllReduce, 80 * kMB, fabric(1, 2), law), 1210, 1e-6);
}

// Two of eight accelerators of a mesh have a seventh of the lanes: 80 MB at 80/7 GB/s.
TEST(CollectiveLaw, FewAcceleratorsOfAMeshUseFewLanes) {
  Fabric mesh = fabric(1, 2);
  mesh.inside = InsideTopology::kMesh;
  EXPECT_NEAR(micros(CollectiveKind::kAllReduce, 80 * kMB, mesh), 7014, 1e-6);
  mesh.accelerators_per_vm = 2;
  EXPECT_NEAR(micros(CollectiveKind::kAllReduce, 80 * kMB, mesh), 1014, 1e-6);
}

// Three flows of 1 GB/s through a NIC of 10 GB/s; two doublings beyond two VMs keep 0.9².
TEST(CollectiveLaw, FlowsAndNodesLimitTheRate) {
  Fabric tcp = fabric(2, 1);
  tcp.transport = TransportFamily::kTcp;
  EXPECT_EQ(nominal_rate(tcp), 10 * kGB / kSecond);
  tcp.flow_cap = 1 * kGB / kSecond;
  tcp.flows = 3;
  EXPECT_NEAR(nominal_rate(tcp).in(kGB / kSecond), 3, 1e-12);
  EXPECT_NEAR(micros(CollectiveKind::kAllReduce, 3 * kMB, tcp), 2050, 1e-6);
  CollectiveLaw law = plain_law();
  law.loss_per_doubling = 0.1;
  // 1.75 · 4 MB at 5 GB/s is 1400 µs, over 0.81; 14 steps of 20 µs and the launch.
  EXPECT_NEAR(micros(CollectiveKind::kAllReduce, 4 * kMB, fabric(8, 1), law), 1400 / 0.81 + 290,
              1e-6);
}

TEST(CollectiveLaw, IsMonotone) {
  CollectiveLaw law = plain_law();
  law.rdma.blend = 0.7;
  law.switched.blend = 0.5;
  law.loss_per_doubling = 0.02;
  for (const auto& [kind, name] : names_of(CollectiveKind{})) {
    for (const int workers : {1, 2, 8}) {
      for (const int vms : {1, 2, 3, 8, 64}) {
        for (Bytes size = 8 * kByte; size < 10 * kGB; size = 7 * size) {
          const Fabric it = fabric(vms, workers);
          const double time = micros(kind, size, it, law);
          EXPECT_LE(time, micros(kind, 2 * size, it, law)) << name;
          Fabric faster = it;
          faster.line_rate = 3 * it.line_rate;
          EXPECT_GE(time, micros(kind, size, faster, law)) << name;
          faster = it;
          faster.inside_rate = 3 * it.inside_rate;
          EXPECT_GE(time, micros(kind, size, faster, law)) << name;
          if (kind == CollectiveKind::kPointToPoint) continue;
          // More VMs are never more efficient: no payload goes round faster.
          EXPECT_LE(time, micros(kind, size, fabric(2 * vms, workers), law) * (1 + 1e-12)) << name;
        }
      }
    }
  }
}

// PCIe 3.0 x16: 16 · 0.985 GB/s; 4.0 is twice that.
TEST(CollectiveLaw, TakesTheLinkInsideFromTheDataSheet) {
  Fabric it;
  ASSERT_TRUE(
      set_inside(it, {.name = "A", .link = "NVLink 3", .link_bandwidth = 600 * kGB / kSecond}));
  EXPECT_EQ(it.inside, InsideTopology::kSwitched);
  EXPECT_EQ(it.inside_rate, 300 * kGB / kSecond);
  ASSERT_TRUE(
      set_inside(it, {.name = "V", .link = "NVLink 2", .link_bandwidth = 300 * kGB / kSecond}));
  EXPECT_EQ(it.inside, InsideTopology::kMesh);
  ASSERT_TRUE(set_inside(it, {.name = "T", .pcie = "4.0 x16"}));
  EXPECT_EQ(it.inside, InsideTopology::kPcie);
  EXPECT_NEAR(it.inside_rate.in(kGB / kSecond), 31.52, 1e-9);
  EXPECT_FALSE(set_inside(it, {.name = "X"}));
  EXPECT_FALSE(set_inside(it, {.name = "X", .pcie = "fast"}));
}

// A ring at the expected link takes as long as the law says.
TEST(ExpectedLink, GivesTheTimeOfTheLaw) {
  CollectiveLaw law = plain_law();
  law.rdma.blend = 0.7;
  law.rdma.efficiency_deviation = 0.3;
  for (const auto& it : {fabric(4, 8), fabric(1, 8), fabric(2, 1)}) {
    for (const Bytes size : {1 * kKB, 3 * kMB, 1 * kGB}) {
      const ExpectedLink expected = expected_link(it, size, law);
      const int count = it.vms > 1 ? it.vms : it.workers_per_vm;
      EXPECT_NEAR(ring_allreduce_time(size, count, expected.link()) /
                      collective_time(CollectiveKind::kAllReduce, size, it, law),
                  1, 1e-9);
      EXPECT_EQ(expected.bandwidth_deviation, it.vms > 1 ? 0.3 : 0);
    }
  }
}

// Two VMs send 100 MB each way at 0.5 of 10 GB/s, 20 ms, and their processors take 0.1 ns a byte.
TEST(CollectiveLaw, AddsTheCopyOfTheHost) {
  CollectiveLaw law = plain_law();
  const Fabric fabric{.workers_per_vm = 1,
                      .vms = 2,
                      .transport = TransportFamily::kTcp,
                      .line_rate = 10 * kGB / kSecond};
  const Seconds wire = collective_time(CollectiveKind::kAllReduce, 100 * kMB, fabric, law);
  law.tcp.host = 0.1;
  const Seconds both = collective_time(CollectiveKind::kAllReduce, 100 * kMB, fabric, law);
  EXPECT_NEAR((both - wire).in(kMillisecond), 10, 1e-9);
}

TEST(CollectiveLaw, ReadsItsConstants) {
  Calibration calibration{.name = "c"};
  CollectiveLaw law = plain_law();
  for_each_constant(law, [&](const char* scope, const char* name, auto& member) {
    double value = 0;
    if constexpr (std::is_same_v<decltype(member), Seconds&>) {
      value = member.in(kSecond);
    } else {
      value = member;
    }
    calibration.constants.push_back({.name = name, .scope = scope, .value = value});
  });
  const auto read = collective_law(calibration);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->rdma.latency, 20 * kMicrosecond);
  EXPECT_EQ(read->tree_efficiency, 0.5);
  calibration.constants.pop_back();
  EXPECT_EQ(collective_law(calibration).error().message,
            "calibration c: no efficiency_deviation of collectives: rdma");
}

}  // namespace
}  // namespace stint
