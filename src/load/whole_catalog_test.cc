#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "catalog/fabric.h"
#include "load/example_job_fixture.h"
#include "load/predict_inputs.h"
#include "predict/predictor.h"

// What must hold for clusters of every VM type of the bundled catalogue, whatever was measured.

namespace stint {
namespace {

constexpr int kBatch = 64;  // Of one worker.

const PredictInputs& resnet50() {
  static const PredictInputs kInputs = [] {
    auto inputs = load_predict_inputs(Environment{}, kExampleJob, "", std::string());
    CHECK(inputs.ok());
    return *inputs;
  }();
  return kInputs;
}

IterationTime iteration(const PredictInputs& inputs, const VmType& type, int vms) {
  const Cluster cluster{
      .groups = {
          {.vm = {.provider = type.provider, .region = {}, .name = type.name}, .count = vms}}};
  const PredictContext context = inputs.context();
  const auto resolved = resolve(context, cluster, {.batch_per_worker = kBatch});
  CHECK(resolved.ok());
  return predict(context, *resolved, step_parts).prediction.iteration;
}

/// The same catalogue with one changed type, which is moved to its front.
PredictInputs with_type(const VmType& type) {
  PredictInputs inputs = resnet50();
  inputs.catalog.types = {type};
  return inputs;
}

/// The VM types that can be rented and planned with at least this fabric.
std::vector<VmType> types_from(BytesPerSecond least) {
  std::vector<VmType> types;
  const Catalog& catalog = resnet50().catalog;
  for (const VmType& type : catalog.types) {
    const auto rate = fabric_rate(type);
    const bool rented = type.provider != kLocalProvider && type.accelerator;
    if (!rented || !rate || *rate < least || gpu_of(catalog, type) == nullptr) continue;
    types.push_back(type);
  }
  return types;
}

TEST(WholeCatalog, HasTypesToTest) {
  EXPECT_GT(types_from(10 * kGbit / kSecond).size(), 60U);
  EXPECT_GT(types_from(400 * kGbit / kSecond).size(), 8U);
}

TEST(WholeCatalog, TwoVmsAreNotSlowerThanOne) {
  for (const VmType& type : types_from(10 * kGbit / kSecond)) {
    const PredictInputs inputs = with_type(type);
    const double speedup = 2 * (iteration(inputs, type, 1).mean / iteration(inputs, type, 2).mean);
    EXPECT_GE(speedup, 1.0) << type.provider << "/" << type.name;
  }
}

TEST(WholeCatalog, EightVmsAreAtLeastThreeTimesOne) {
  for (const VmType& type : types_from(25 * kGbit / kSecond)) {
    const PredictInputs inputs = with_type(type);
    const double speedup = 8 * (iteration(inputs, type, 1).mean / iteration(inputs, type, 8).mean);
    EXPECT_GE(speedup, 3.0) << type.provider << "/" << type.name;
    EXPECT_LE(speedup, 8.0 * 1.001) << type.provider << "/" << type.name;
  }
}

// The lowest fractions of the line rate that were published for messages of 16 MiB and more. TCP:
// 10 of 100 Gbit/s between two p3dn.24xlarge (Horovod's issue 2581). RDMA: SimAI's table of
// efficiencies, 0.32 for 2 nodes and 0.13 for 8.
double worst_efficiency(const VmType& type, int vms) {
  const bool rdma =
      family_of(transport_of(type).value_or(Transport::kTcp)) == TransportFamily::kRdma;
  if (!rdma) return 0.1;
  return vms <= 2 ? 0.32 : 0.13;
}

TEST(WholeCatalog, ExposedCommunicationLiesBetweenLineRateAndTheWorstMeasured) {
  for (const VmType& type : types_from(10 * kGbit / kSecond)) {
    const PredictInputs inputs = with_type(type);
    const IterationTime alone = iteration(inputs, type, 1);
    for (const int vms : {2, 8}) {
      const IterationTime it = iteration(inputs, type, vms);
      // Every NIC sends and receives 2 (n - 1)/n of the gradients at least.
      const Seconds line = 2.0 * (vms - 1) / vms * inputs.job.gradient_bytes / *fabric_rate(type);
      const Seconds hidden = it.parts.forward + it.parts.backward;
      const Seconds least = std::max(Seconds{}, line - hidden);
      // What one VM exposes inside it is exposed on several too, and each step has some latency.
      const Seconds most = alone.parts.exposed_communication + alone.parts.straggling +
                           line / worst_efficiency(type, vms) + 20 * kMillisecond;
      const Seconds exposed = it.parts.exposed_communication;
      EXPECT_GE(exposed, least) << vms << "x " << type.name;
      EXPECT_LE(exposed, most) << vms << "x " << type.name << ": " << exposed.in(kMillisecond)
                               << " ms of at most " << most.in(kMillisecond);
    }
  }
}

TEST(WholeCatalog, AFasterLinkIsNeverSlower) {
  for (const VmType& type : types_from(10 * kGbit / kSecond)) {
    VmType faster = type;
    for (auto* rate : {&faster.network->baseline, &faster.network->peak, &faster.network->rdma}) {
      if (*rate) **rate = 2 * **rate;
    }
    for (const int vms : {2, 4, 8}) {
      const Seconds slow = iteration(with_type(type), type, vms).mean;
      const Seconds fast = iteration(with_type(faster), faster, vms).mean;
      EXPECT_LE(fast, slow * (1 + 1e-9)) << vms << "x " << type.name;
    }
  }
}

TEST(WholeCatalog, FewerBytesAreNeverSlower) {
  for (const VmType& type : types_from(10 * kGbit / kSecond)) {
    PredictInputs inputs = with_type(type);
    for (const int vms : {2, 4, 8}) {
      inputs.job.gradient_bytes = resnet50().job.gradient_bytes;
      const Seconds many = iteration(inputs, type, vms).mean;
      inputs.job.gradient_bytes = inputs.job.gradient_bytes / 2;
      const Seconds few = iteration(inputs, type, vms).mean;
      EXPECT_LE(few, many * (1 + 1e-9)) << vms << "x " << type.name;
    }
  }
}

// The job is measured on the GPU itself, so that the interval is the network's: 64 samples take 75
// ms, as on an A100 (NVIDIA's DeepLearningExamples publish 938 a second in TF32).
TEST(WholeCatalog, IntervalsOfP4dAndP5AreWithin40Percent) {
  PredictInputs inputs = resnet50();
  for (const char* name : {"p4d.24xlarge", "p5.48xlarge"}) {
    const auto type = find_type(inputs.catalog, {.provider = {}, .region = {}, .name = name});
    ASSERT_TRUE(type.ok());
    inputs.job.compute = {{.device = gpu_of(inputs.catalog, **type)->name,
                           .batch_per_worker = kBatch,
                           .forward = {.median = 25 * kMillisecond},
                           .backward = {.median = 50 * kMillisecond}}};
    for (const int vms : {2, 4, 8}) {
      const IterationTime it = iteration(inputs, **type, vms);
      EXPECT_GE(it.p10 / it.mean, 0.6) << vms << "x " << name;
      EXPECT_LE(it.p90 / it.mean, 1.4) << vms << "x " << name;
    }
  }
}

}  // namespace
}  // namespace stint
