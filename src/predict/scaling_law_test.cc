#include "predict/scaling_law.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

// 1 GB on each of 8 shards of which a VM holds 4: half of it; 10 samples of 1 MB on 4 workers add
// 40 MB; 540 MB at 1 GB/s take 540 ms. Worked by hand.
TEST(WireTime, MatchesHandComputedCase) {
  const ScalingTraffic traffic{.synchronised = 1 * kGB, .per_sample = 1 * kMB};
  const ScalingWires wires{.workers_per_vm = 4, .degree = 8, .network = 1 * kGB / kSecond};
  EXPECT_NEAR(wire_time(traffic, 10, wires).in(kMillisecond), 540, 1e-9);
}

TEST(WireTime, CopiesInsideOneVmAreReducedThereFirst) {
  const ScalingTraffic traffic{.synchronised = 1 * kGB, .per_sample = {}};
  const ScalingWires whole{.workers_per_vm = 8, .degree = 1, .network = 1 * kGB / kSecond};
  const ScalingWires shared{.workers_per_vm = 8, .degree = 4, .network = 1 * kGB / kSecond};
  EXPECT_EQ(wire_time(traffic, 1, whole), wire_time(traffic, 1, shared));
}

// One VM: 10 ms (32 + 2 * 4) = 400 ms. Four VMs of 8 workers: 400 ms (1 + 0.05 + 2 * 0.01) and
// 1.5 * 100 ms * 31/32 * (1 + 2 * 0.1). Worked by hand: 428 + 174.375 ms.
TEST(ScaledStepTime, MatchesHandComputedCase) {
  const ScalingLaw law{.per_sample = 10 * kMillisecond,
                       .floor = 4,
                       .crossing = 0.05,
                       .growth = 0.01,
                       .exposed = 1.5,
                       .wire_growth = 0.1};
  ScalingSetup setup{
      .samples = 32, .micro_steps = 2, .workers = 8, .vms = 1, .wire = 100 * kMillisecond};
  EXPECT_NEAR(scaled_step_time(law, setup).in(kMillisecond), 400, 1e-9);
  setup.workers = 32;
  setup.vms = 4;
  EXPECT_NEAR(scaled_step_time(law, setup).in(kMillisecond), 602.375, 1e-9);
}

// Never shorter with more samples, micro-steps or VMs, and never below the samples alone.
TEST(ScaledStepTime, GrowsWithSamplesMicroStepsAndVms) {
  constexpr int kSeed = 23;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    ScalingLaw law{.per_sample = random.uniform(1, 50) * kMillisecond};
    law.floor = random.uniform(0, 20);
    law.crossing = random.uniform(0, 0.2);
    law.growth = random.uniform(0, 0.05);
    law.exposed = random.uniform(0, 4);
    law.wire_growth = random.uniform(0, 0.1);
    ScalingSetup setup{.samples = random.uniform(0.1, 500)};
    setup.micro_steps = random.uniform(1, 8);
    setup.vms = 1 + static_cast<int>(random.uniform(0, 64));
    setup.workers = 8 * setup.vms;
    setup.wire = random.uniform(0, 100) * kMillisecond;
    const Seconds time = scaled_step_time(law, setup);
    EXPECT_GE(time, setup.samples * law.per_sample);
    ScalingSetup more = setup;
    more.samples *= 1.1;
    EXPECT_GT(scaled_step_time(law, more), time);
    more = setup;
    more.micro_steps += 1;
    EXPECT_GE(scaled_step_time(law, more), time);
    more = setup;
    more.vms *= 2;
    more.workers *= 2;
    EXPECT_GE(scaled_step_time(law, more), time);
  }
}

}  // namespace
}  // namespace stint
