#include "validate/case_facts.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Catalog sample() {
  VmType p3{.provider = "aws",
            .name = "p3dn.24xlarge",
            .accelerator = Accelerator{.name = "V100", .count = 8, .gpu = "V100-SXM2-32GB"},
            .network = Network{.baseline = 100 * kGbit / kSecond, .transport = Transport::kEfa},
            .efa_interfaces = 1};
  return {.gpus = {{.name = "P100-PCIe", .memory = 16 * kGB},
                   {.name = "P100-SXM2", .memory = 16 * kGB},
                   {.name = "V100-PCIe", .memory = 16 * kGB},
                   {.name = "V100-SXM2", .memory = 16 * kGB},
                   {.name = "V100-SXM2-32GB", .memory = 32 * kGB},
                   {.name = "T4", .memory = 16 * kGB}},
          .types = {p3}};
}

TEST(GradientsOfACase, AreFourBytesForEachParameter) {
  EXPECT_DOUBLE_EQ(gradients_of({.model = "ResNet-50 v1.5"})->value.in(kMB), 4 * 25.56);
  EXPECT_DOUBLE_EQ(gradients_of({.model = "ResNet-50", .precision = "fp16"})->value.in(kMB),
                   2 * 25.56);
  EXPECT_DOUBLE_EQ(gradients_of({.model = "GPT 498M (hidden 1536)"})->value.in(kMB), 4 * 498.0);
  EXPECT_DOUBLE_EQ(gradients_of({.model = "RoBERTa-base", .parameters = 125e6})->value.in(kMB),
                   500);
  EXPECT_DOUBLE_EQ(gradients_of({.model = "AlexNet", .note = "| 1 | 2 |; model size stated 203 MB"})
                       ->value.in(kMB),
                   203);
  EXPECT_FALSE(gradients_of({.model = "MyNet"}).has_value());
}

TEST(BatchOfACase, IsTheStatedOneOrTheBenchmarksDefault) {
  EXPECT_EQ(batch_of({.batch_per_worker = 256})->value, 256);
  EXPECT_EQ(batch_of({.batch_per_worker = 256})->assumed, "");
  const auto usual = batch_of({.model = "ResNet-50", .task = "tf_cnn_benchmarks"});
  EXPECT_EQ(usual->value, 64);
  EXPECT_NE(usual->assumed, "");
  EXPECT_FALSE(batch_of({.model = "MyNet", .task = "training"}).has_value());
  EXPECT_FALSE(batch_of({.task = "synthetic benchmark", .global_batch = 8192}).has_value());
}

TEST(SamplesToTrain, AreStepsTimesBatchOrEpochsOfAKnownDataSet) {
  EXPECT_DOUBLE_EQ(*samples_to_train({.task = "phase 1, 14064 steps", .global_batch = 32768}),
                   14064.0 * 32768);
  EXPECT_DOUBLE_EQ(*samples_to_train({.task = "COCO 12 epochs, training time"}), 12 * 118287.0);
  EXPECT_DOUBLE_EQ(*samples_to_train({.task = "ImageNet, one epoch with validation"}), 1281167);
  EXPECT_FALSE(samples_to_train({.task = "phase 1, 14064 steps"}).has_value());
  EXPECT_FALSE(samples_to_train({.task = "ImageNet to 93 % top-5"}).has_value());
  EXPECT_FALSE(samples_to_train({.task = "my photos, 12 epochs"}).has_value());
}

TEST(StatedNetwork, HasRateAndTransport) {
  const auto rate = [](const char* text) {
    return stated_network({.network = text}).baseline->in(kGbit / kSecond);
  };
  EXPECT_DOUBLE_EQ(rate("RoCE-capable 25 Gbit/s, TCP"), 25);
  EXPECT_DOUBLE_EQ(rate("InfiniBand 100 Gb/sec (4X EDR)"), 100);
  EXPECT_DOUBLE_EQ(rate("bandwidth 100Gbps nominal, 10 Gbps observed"), 10);
  EXPECT_DOUBLE_EQ(rate("TCP, iperf -P 4 gets 21.1Gbps"), 21.1);
  const auto transport = [](const char* text, const char* framework = "") {
    return stated_network({.network = text, .framework = framework}).transport;
  };
  EXPECT_EQ(transport("RoCE-capable 25 Gbit/s, TCP"), Transport::kTcp);
  EXPECT_EQ(transport("RoCE-capable 25 Gbit/s, RDMA"), Transport::kRoce);
  EXPECT_EQ(transport("InfiniBand 100 Gb/sec"), Transport::kInfiniBand);
  EXPECT_EQ(transport("32Gbps VPC"), Transport::kTcp);
  EXPECT_EQ(transport("RoCE-capable 25 Gbit/s", "TensorFlow parameter servers"), Transport::kTcp);
  EXPECT_EQ(transport("RoCE-capable 40 Gbit/s"), std::nullopt);
  const Network nothing = stated_network({.network = "not stated (p3dn: 100 Gbit/s)"});
  EXPECT_FALSE(nothing.baseline.has_value());
  EXPECT_FALSE(nothing.transport.has_value());
}

TEST(GpuOfACase, GoesByFamilyMemoryAndForm) {
  const Catalog catalog = sample();
  const auto name = [&](const char* gpu, const char* machines = "") {
    const Gpu* found = gpu_of_case(catalog, {.machines = machines, .gpu = gpu});
    return found == nullptr ? "" : found->name;
  };
  EXPECT_EQ(name("V100-16GB"), "V100-SXM2");
  EXPECT_EQ(name("V100-32GB"), "V100-SXM2-32GB");
  EXPECT_EQ(name("V100", "8x V100 PCIe"), "V100-PCIe");
  EXPECT_EQ(name("Pascal (model not stated)"), "P100-PCIe");
  EXPECT_EQ(name("P100", "DGX-1 (8x P100)"), "P100-SXM2");
  EXPECT_EQ(name("MI300X"), "");
}

TEST(VmTypeOfACase, IsTheCataloguesWithTheStatedNetwork) {
  const Catalog catalog = sample();
  PublishedCase it{.machines = "p3dn.24xlarge", .vms = 2, .workers = 16, .gpu = "V100-32GB"};
  const auto plain = vm_type_of(catalog, it);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->value.network->transport, Transport::kEfa);
  EXPECT_EQ(plain->assumed, "the transport is not stated, efa of the VM type is assumed");
  it.network = "bandwidth 100Gbps nominal, 10 Gbps observed";
  const auto slow = vm_type_of(catalog, it);
  EXPECT_DOUBLE_EQ(slow->value.network->baseline->in(kGbit / kSecond), 10);
  EXPECT_EQ(slow->value.network->transport, Transport::kTcp);
  EXPECT_FALSE(slow->value.efa_interfaces.has_value());
  EXPECT_EQ(slow->assumed, "");
}

TEST(VmTypeOfACase, IsMadeFromTheGpusOfOneMachine) {
  const PublishedCase it{.machines = "8x V100-SXM2-16GB",
                         .vms = 2,
                         .workers = 16,
                         .gpu = "V100-16GB",
                         .network = "InfiniBand 100 Gb/sec"};
  const auto made = vm_type_of(sample(), it);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->value.accelerator->count, 8);
  EXPECT_EQ(made->value.accelerator->gpu, "V100-SXM2");
  EXPECT_EQ(made->value.network->transport, Transport::kInfiniBand);
  EXPECT_FALSE(vm_type_of(sample(), {.machines = "a TPU pod", .gpu = "TPU"}).ok());
  const auto count = [](const char* machines) {
    const auto type = vm_type_of(sample(), {.machines = machines, .workers = 2, .gpu = "T4"});
    return type->value.accelerator->count;
  };
  EXPECT_EQ(count("DGX-1 (8x P100)"), 8);
  EXPECT_EQ(count("ecs.gn6e-c12g1.24xlarge"), 2);
  EXPECT_EQ(count("n1-standard-32-k80x8"), 2);
}

TEST(Warnings, AreThoseOfTheCollectors) {
  EXPECT_EQ(warning_about({.group = "hvd396"}), "the post complains about bad scaling");
  EXPECT_EQ(warning_about({.group = "lambda", .model = "ResNet-50"}), "");
  EXPECT_NE(warning_about({.group = "lambda", .model = "BERT-base SQuAD"}), "");
}

TEST(Servers, AreNamedByFrameworkOrStore) {
  EXPECT_TRUE(has_servers({.framework = "TensorFlow parameter servers"}));
  EXPECT_TRUE(has_servers({.task = "ImageNet, synchronous kvstore dist_device_sync"}));
  EXPECT_FALSE(has_servers({.framework = "TensorFlow + Horovod"}));
  EXPECT_TRUE(servers_get_sums({.task = "ImageNet, synchronous kvstore dist_device_sync"}));
  EXPECT_TRUE(servers_get_sums({.framework = "TF (parameter servers on the workers)"}));
  EXPECT_FALSE(servers_get_sums({.framework = "TensorFlow parameter servers"}));
}

}  // namespace
}  // namespace stint
