#include "predict/sharded/sharded_model.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Catalog catalog() {
  Catalog it;
  it.gpus.push_back({.name = "G",
                     .memory = 80 * kGB,
                     .memory_bandwidth = 2 * kTB / kSecond,
                     .fp16 = 312 * kTeraflop / kSecond,
                     .link_bandwidth = 600 * kGB / kSecond});
  VmType type{.provider = "p", .name = "vm"};
  type.accelerator = Accelerator{.name = "G", .count = 8, .gpu = "G"};
  it.types.push_back(type);
  return it;
}

TEST(ShardedCluster, TakesItsFiguresFromTheCatalogue) {
  Catalog it = catalog();
  const auto alone = sharded_cluster(it, it.types[0], WorkPrecision::kFp16, 1);
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->workers(), 8);
  EXPECT_NEAR(alone->machines.inside.in(kGB / kSecond), 300, 1e-9);
  EXPECT_NEAR(alone->memory.in(kGB), 80, 1e-9);
  // Several VMs need a network.
  EXPECT_FALSE(sharded_cluster(it, it.types[0], WorkPrecision::kFp16, 2));
  it.types[0].network = Network{.baseline = 50 * kGB / kSecond};
  const auto two = sharded_cluster(it, it.types[0], WorkPrecision::kFp16, 2);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->workers(), 16);
  EXPECT_NEAR(two->machines.network.in(kGB / kSecond), 50, 1e-9);
}

TEST(ShardedModel, CountsWhatIsTrained) {
  ModelShape shape{.layers = 2, .hidden = 64, .heads = 4, .feed_forward = 256};
  shape.vocabulary = 100;
  shape.positions = 128;
  const double all = parameters(shape).total;
  JobProfile job{.name = "j"};
  job.gradient_bytes = all / 4 * (4 * kByte);
  job.work = JobWork{.model = "m", .method = "lora:4", .sequence = 128};
  const ShardedModel model = sharded_model(shape, job, {});
  EXPECT_NEAR(model.parameters(), all, 1e-6 * all);
  EXPECT_NEAR(model.setup.trained, 0.25, 1e-9);
  EXPECT_TRUE(model.setup.frozen_products);
  EXPECT_EQ(model.bounds.layers, 2);
}

}  // namespace
}  // namespace stint
