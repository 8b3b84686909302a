#include "predict/law.h"

#include <cmath>
#include <gtest/gtest.h>
#include <initializer_list>
#include <set>
#include <string>

#include "base/random.h"

namespace stint {
namespace {

constexpr double kNever = -100;  // e^-100 is nothing.

/// Bytes cost 1 ns between and inside VMs and at servers, half of compute hides communication, the
/// maximum is sharp, and nothing else takes time.
FabricLaw plain_fabric() {
  return {.depth_cost = kNever,
          .latency = kNever,
          .server_latency = kNever,
          .crowding_inside = kNever,
          .crowding_across = kNever,
          .sharpness = 10};
}

/// 100 ms alone with gradients of 100 MB on two VMs.
LawInput two_vms() {
  return {.alone = 100 * kMillisecond, .gradients = 100 * kMB, .vms = 2, .workers = 2};
}

double milliseconds(const FabricLaw& fabric, const LawInput& input, const JobLaw& job = {}) {
  return law_time(fabric, job, input).in(kMillisecond);
}

double nanoseconds_per_byte(const FabricLaw& fabric, const LawInput& input,
                            const JobLaw& job = {}) {
  return network_cost(fabric, job, input).in(1e-9 * kSecond / kByte);
}

/// Constants within the range of what has been fitted to clusters.
FabricLaw random_fabric(Random& random) {
  return {.two_vm_cost = random.uniform(-1, 2),
          .two_vm_workers = random.uniform(-0.5, 1),
          .cost = random.uniform(-1, 2),
          .cost_by_vms = random.uniform(-0.3, 0.3),
          .cost_by_workers = random.uniform(-0.3, 0.7),
          .cost_by_size = random.uniform(-0.2, 0.2),
          .cost_by_network = random.uniform(0, 1),
          .depth_cost = random.uniform(-4, 0),
          .latency = random.uniform(-9, -6),
          .inside_cost = random.uniform(-3, 1),
          .server_cost = random.uniform(-1, 2),
          .server_latency = random.uniform(-9, -6),
          .crowding_inside = random.uniform(-5, -1),
          .crowding_across = random.uniform(-5, -1),
          .crowding_rate = random.uniform(0, 0.8),
          .straggling = random.uniform(0, 0.08),
          .unhidden = random.uniform(-2, 2),
          .sharpness = random.uniform(-1, 3)};
}

LawInput random_input(Random& random) {
  LawInput input{.alone = random.uniform(5, 500) * kMillisecond,
                 .jitter = random.uniform(0, 0.3),
                 .batch_per_worker = random.uniform(1, 200),
                 .gradients = random.uniform(1, 1000) * kMB,
                 .vms = 1 + random.below(16),
                 .workers_on_fullest_vm = 1 + random.below(4),
                 .network = random.uniform(0.2, 2)};
  input.workers = input.vms * input.workers_on_fullest_vm;
  if (random.below(4) == 0) input.servers = 1 + random.below(4);
  input.asynchronous = input.servers > 0 && random.below(2) == 0;
  return input;
}

template <class Law>
void expect_every_number_named_once() {
  std::set<std::string> names;
  Law law;
  for (const auto& [name, field] : law_names(Law{})) {
    names.insert(name);
    law.*field += 1;
    EXPECT_EQ(law.*field, 1) << name;
  }
  EXPECT_EQ(names.size() * sizeof(double), sizeof(Law));
}

TEST(LawNames, HoldEveryNumberOnce) {
  expect_every_number_named_once<FabricLaw>();
  expect_every_number_named_once<JobLaw>();
}

// One MiB fills the first bucket and 26 MiB the second. 6 MB: (6 − 1.05)/26.2 of a second bucket.
// 100 MB: (100 − 1.05)/26.2 = 3.8, so four more than the first.
TEST(UsualBucketCount, FillsOneMebibyteAndThenTwentyFiveEach) {
  EXPECT_EQ(usual_bucket_count({}), 1);
  EXPECT_EQ(usual_bucket_count(1 * kMiB), 1);
  EXPECT_EQ(usual_bucket_count(1 * kMiB + 1 * kByte), 2);
  EXPECT_EQ(usual_bucket_count(26 * kMiB), 2);
  EXPECT_EQ(usual_bucket_count(26 * kMiB + 1 * kByte), 3);
  EXPECT_EQ(usual_bucket_count(6 * kMB), 2);
  EXPECT_EQ(usual_bucket_count(100 * kMB), 5);
}

TEST(UsualBucketCount, StaysACountForSizesThatAFitMayStrayTo) {
  EXPECT_EQ(usual_bucket_count(1e30 * kByte), 1'000'001);
}

// 200 samples a second are the unit, r = 1 and x = 1/(1 + 1/8) = 8/9. Two workers on a VM and four
// in all: 1 + 8/9 · 1/2 + 8/9 · 3/4 = 19/9.
TEST(Crowding, AddsWhatNeighboursAndAllWorkersCost) {
  LawInput input{.alone = 1 * kSecond,
                 .batch_per_worker = 200,
                 .vms = 2,
                 .workers = 4,
                 .workers_on_fullest_vm = 2};
  const FabricLaw fabric;
  EXPECT_NEAR(crowding(fabric, {}, input), 19.0 / 9, 1e-12);
  // A job twice as sensitive: 1 + 2 · 10/9.
  EXPECT_NEAR(crowding(fabric, {.crowding = std::log(2)}, input), 29.0 / 9, 1e-12);
  // Nobody waits for workers of other VMs: 1 + 8/9 · 1/2.
  input.asynchronous = true;
  EXPECT_NEAR(crowding(fabric, {}, input), 13.0 / 9, 1e-12);
}

// r = (800/200)^½ = 2 and x = 2/(1 + 2/8) = 1.6; half of it inside the VM of two workers.
TEST(Crowding, GrowsWithThePowerOfTheRateAndLevelsOff) {
  const FabricLaw fabric{.crowding_across = kNever, .crowding_rate = 0.5};
  LawInput input{
      .alone = 1 * kSecond, .batch_per_worker = 800, .workers = 2, .workers_on_fullest_vm = 2};
  EXPECT_NEAR(crowding(fabric, {}, input), 1.8, 1e-12);
  input.batch_per_worker = 1e18;  // x tends to 8.
  EXPECT_NEAR(crowding(fabric, {}, input), 5, 1e-6);
}

// ln 4 = 1.38629: 1 + (0.02 + 0.03) · 1.38629, and m(4) = 1.02938 adds 0.1 of it.
TEST(Crowding, AddsStragglersAndUnevenSteps) {
  FabricLaw fabric = plain_fabric();
  fabric.straggling = 0.02;
  LawInput input{.alone = 1 * kSecond, .vms = 4, .workers = 4};
  EXPECT_NEAR(crowding(fabric, {.straggling = 0.03}, input), 1.0693147, 1e-6);
  input.jitter = 0.1;
  EXPECT_NEAR(crowding(fabric, {.straggling = 0.03}, input), 1.1722522, 1e-5);
}

TEST(Crowding, NeverMakesComputeVanish) {
  const FabricLaw fabric{.straggling = -10};
  EXPECT_EQ(crowding(fabric, {}, {.alone = 1 * kSecond, .vms = 4, .workers = 4}), 0.2);
}

// 2 ns · (8/2)^½ = 4 ns.
TEST(NetworkCost, OfTwoVmsGrowsWithWorkers) {
  FabricLaw fabric = plain_fabric();
  fabric.two_vm_cost = std::log(2);
  fabric.two_vm_workers = 0.5;
  LawInput input{.gradients = 100 * kMB, .vms = 2, .workers = 8};
  EXPECT_NEAR(nanoseconds_per_byte(fabric, input), 4, 1e-12);
  // The depth of eight workers adds log2(8) · 2/(2 · 1) = 3 ns at 1 ns per doubling.
  fabric.depth_cost = 0;
  EXPECT_NEAR(nanoseconds_per_byte(fabric, input), 7, 1e-12);
}

// 3 ns · (4/3)^1 · (16/4)^½ = 8 ns, and log2(16) · 4/(2 · 3) = 8/3 ns for the depth.
TEST(NetworkCost, OfMoreVmsGrowsWithVmsWorkersAndDepth) {
  FabricLaw fabric = plain_fabric();
  fabric.cost = std::log(3);
  fabric.cost_by_vms = 1;
  fabric.cost_by_workers = 0.5;
  fabric.depth_cost = 0;
  const LawInput input{.gradients = 100 * kMB, .vms = 4, .workers = 16};
  EXPECT_NEAR(nanoseconds_per_byte(fabric, input), 8 + 8.0 / 3, 1e-12);
  EXPECT_NEAR(nanoseconds_per_byte(fabric, input, {.cost = std::log(2)}), 2 * (8 + 8.0 / 3), 1e-12);
}

// Four times the reference gradients at the power ½ double the cost; so does a law that says the
// gradients are four times what is assumed.
TEST(NetworkCost, GrowsWithTheSizeOfTheGradients) {
  FabricLaw fabric = plain_fabric();
  fabric.cost_by_size = 0.5;
  LawInput input{.gradients = 100 * kMB, .vms = 3, .workers = 3};
  EXPECT_NEAR(nanoseconds_per_byte(fabric, input), 1, 1e-12);
  EXPECT_NEAR(nanoseconds_per_byte(fabric, input, {.size = std::log(4)}), 2, 1e-12);
  input.gradients = 400 * kMB;
  EXPECT_NEAR(nanoseconds_per_byte(fabric, input), 2, 1e-12);
}

// At a quarter of the reference network and the power ½ the ring's 1 ns become 2 ns. The depth of
// four workers on three VMs, 2 · 3/(2 · 2) = 1.5 ns, doubles as well.
TEST(NetworkCost, GrowsAsTheNetworkShrinks) {
  FabricLaw fabric = plain_fabric();
  fabric.cost_by_network = 0.5;
  LawInput input{.gradients = 100 * kMB, .vms = 3, .workers = 4, .network = 0.25};
  EXPECT_NEAR(nanoseconds_per_byte(fabric, input), 2, 1e-12);
  fabric.depth_cost = 0;
  EXPECT_NEAR(nanoseconds_per_byte(fabric, input), (1 + 1.5) * 2, 1e-12);
}

// 50 Gbit/s is 6.25 bytes in a nanosecond, a hundredth of it 16 ns a byte.
TEST(NetworkCost, IsNeverLessThanTheWire) {
  FabricLaw fabric = plain_fabric();
  fabric.cost_by_network = 0.5;
  const LawInput input{.gradients = 100 * kMB, .vms = 3, .workers = 3, .network = 0.01};
  EXPECT_NEAR(nanoseconds_per_byte(fabric, input), 16, 1e-12);
}

// 6 MB leave in two buckets; 1 ms for each and for each of the three doublings to eight workers.
TEST(NetworkLink, HasTheLatencyThatMakesARingTakeOneMessagePerBucketAndDoubling) {
  FabricLaw fabric = plain_fabric();
  fabric.latency = std::log(1e-3);
  const LawInput input{.gradients = 6 * kMB, .vms = 4, .workers = 8};
  const Seconds empty_ring = ring_allreduce_time({}, 4, network_link(fabric, {}, input));
  EXPECT_NEAR(empty_ring.in(kMillisecond), 6, 1e-12);
  const Link twice = network_link(fabric, {.latency = std::log(2)}, input);
  EXPECT_NEAR(ring_allreduce_time({}, 4, twice).in(kMillisecond), 12, 1e-12);
}

TEST(NetworkLink, OfOneVmIsFree) {
  const Link link = network_link({}, {}, {.gradients = 1 * kGB, .workers = 4});
  EXPECT_EQ(link.inverse_bandwidth, SecondsPerByte{});
  EXPECT_EQ(link.latency, Seconds{});
}

// 3 ns at the server, twice that for this job, half of it with twice the network.
TEST(NetworkLink, ToServersHasTheirCosts) {
  const FabricLaw fabric{.server_cost = std::log(3), .server_latency = std::log(1e-3)};
  const JobLaw job{.cost = std::log(2), .latency = std::log(4)};
  const Link link = network_link(fabric, job, {.servers = 1, .network = 2});
  EXPECT_NEAR(link.inverse_bandwidth.in(1e-9 * kSecond / kByte), 3, 1e-12);
  EXPECT_NEAR(link.latency.in(kMillisecond), 4, 1e-12);
}

// The ring over two VMs sends 100 MB through each NIC in 100 ms, from 50 ms on; compute ends at
// 100 ms and the ring at 150 ms. With G = 2: 50 + √(50² + 100²) = 161.803.
TEST(LawTime, OfTwoVmsMatchesHandComputedCase) {
  FabricLaw fabric = plain_fabric();
  EXPECT_NEAR(milliseconds(fabric, two_vms()), 150, 1e-9);
  fabric.sharpness = 0;
  EXPECT_NEAR(milliseconds(fabric, two_vms()), 161.80340, 1e-5);
}

// With the logit ln 3 three quarters of compute hide nothing: 75 + max(25, 100).
TEST(LawTime, HidesCommunicationOnlyBehindTheRestOfCompute) {
  EXPECT_NEAR(milliseconds(plain_fabric(), two_vms(), {.unhidden = std::log(3)}), 175, 1e-9);
}

// Four workers inside a VM send 2 · 3/4 of 100 MB at 2 ns: 300 ms from 50 ms on. A link of twice
// the speed halves that, whatever the network does.
TEST(LawTime, OfOneVmUsesTheLinkInside) {
  LawInput input{.alone = 100 * kMillisecond,
                 .gradients = 100 * kMB,
                 .workers = 4,
                 .workers_on_fullest_vm = 4};
  const JobLaw job{.inside_cost = std::log(2)};
  EXPECT_NEAR(milliseconds(plain_fabric(), input, job), 350, 1e-9);
  input.inside_link = 2;
  input.network = 0.1;
  EXPECT_NEAR(milliseconds(plain_fabric(), input, job), 200, 1e-9);
}

// Four workers push and pull 10 MB each through one server: 2 (4 · 10 + 1) = 82 ms, and through two
// 2 (2 · 10 + 1) = 42 ms, which 50 ms of compute hide. Eight on the four VMs: 2 (8 · 10 + 1).
TEST(LawTime, OfAsynchronousServersIsTheLongerOfComputeAndTheServersWork) {
  FabricLaw fabric = plain_fabric();
  fabric.server_latency = std::log(1e-3);
  fabric.straggling = 1;  // Nobody waits, so it does not matter.
  LawInput input{.alone = 50 * kMillisecond,
                 .gradients = 10 * kMB,
                 .vms = 4,
                 .workers = 4,
                 .servers = 1,
                 .asynchronous = true};
  EXPECT_NEAR(milliseconds(fabric, input), 82, 1e-9);
  input.servers = 2;
  EXPECT_NEAR(milliseconds(fabric, input), 50, 1e-9);
  input.servers = 1;
  input.workers = 8;
  input.workers_on_fullest_vm = 2;
  EXPECT_NEAR(milliseconds(fabric, input), 162, 1e-9);
}

TEST(LawTime, OfOneWorkerIsItsTimeAloneUnderAnyLaw) {
  constexpr int kSeed = 11;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int i = 0; i < 100; ++i) {
    const FabricLaw fabric = random_fabric(random);
    LawInput input = random_input(random);
    input.vms = input.workers = input.workers_on_fullest_vm = 1;
    EXPECT_NEAR(law_time(fabric, {}, input) / input.alone, 1, 1e-12);
  }
}

TEST(LawTime, IsAtLeastComputeAndAtMostComputeAndCommunicationInTurn) {
  constexpr int kSeed = 12;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int i = 0; i < 300; ++i) {
    const FabricLaw fabric = random_fabric(random);
    const LawInput input = random_input(random);
    const Seconds compute = crowding(fabric, {}, input) * input.alone;
    const StepSetup setup = law_setup(fabric, {}, input);
    const Seconds in_turn = compute + bucket_time(setup.buckets.front().bytes, setup);
    const double time = law_time(fabric, {}, input).in(kSecond);
    EXPECT_GE(time, compute.in(kSecond) * (1 - 1e-12)) << i;
    EXPECT_LE(time, in_turn.in(kSecond) * (1 + 1e-12)) << i;
  }
}

TEST(LawTime, NeverFallsWhenAnythingGetsDearer) {
  constexpr int kSeed = 13;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  const auto costs = {&FabricLaw::two_vm_cost,     &FabricLaw::cost,
                      &FabricLaw::depth_cost,      &FabricLaw::latency,
                      &FabricLaw::inside_cost,     &FabricLaw::server_cost,
                      &FabricLaw::server_latency,  &FabricLaw::crowding_inside,
                      &FabricLaw::crowding_across, &FabricLaw::straggling,
                      &FabricLaw::unhidden};
  for (int i = 0; i < 200; ++i) {
    const FabricLaw fabric = random_fabric(random);
    LawInput input = random_input(random);
    const double time = milliseconds(fabric, input) * (1 - 1e-12);
    for (const auto cost : costs) {
      FabricLaw dearer = fabric;
      dearer.*cost += 0.3;
      EXPECT_GE(milliseconds(dearer, input), time) << i;
    }
    EXPECT_GE(milliseconds(fabric, input, {.size = 0.3}), time) << i;
    input.alone = 1.3 * input.alone;
    EXPECT_GE(milliseconds(fabric, input), time) << i;
  }
}

TEST(LawTime, ReadsASizeOfTheJobLawAsThatManyMoreBytes) {
  LawInput larger = two_vms();
  larger.gradients = 250 * kMB;
  const FabricLaw fabric{.cost_by_size = 0.1, .latency = -7};
  const double time = milliseconds(fabric, two_vms(), {.size = std::log(2.5)});
  EXPECT_NEAR(time, milliseconds(fabric, larger), 1e-9);
}

TEST(LawDeathTest, RefusesWhatNoRowHolds) {
  EXPECT_DEATH(crowding({}, {}, {.workers = 2}), "input.alone > Seconds");
  EXPECT_DEATH(network_cost({}, {}, {.gradients = 1 * kMB, .workers = 2}), "input.vms >= 2");
  EXPECT_DEATH(law_setup({}, {}, {.alone = 1 * kSecond, .vms = 2}), "input.workers >= input.vms");
}

}  // namespace
}  // namespace stint
