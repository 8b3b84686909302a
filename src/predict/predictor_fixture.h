#pragma once

#include <string>

#include "base/check.h"
#include "predict/resolve.h"

namespace stint {

/// Priors with round numbers: 1 ns/byte between VMs at the reference network and inside one, no
/// latency, no crowding and hardly a soft maximum; for tests.
inline Calibration round_calibration() {
  Calibration calibration{.name = "round"};
  for (const auto& [name, field] : law_names(FabricLaw{})) {
    calibration.constants.push_back({.name = name,
                                     .scope = "fabric",
                                     .unit = "1",
                                     .prior_deviation = 0.1,
                                     .identified = false});
  }
  for (Constant& constant : calibration.constants) {
    const bool nothing = constant.name == "depth_cost" || constant.name == "latency" ||
                         constant.name == "crowding_inside" || constant.name == "crowding_across";
    if (nothing) constant.value = -50;
    if (constant.name == "cost_by_network") constant.value = 1;
    if (constant.name == "sharpness") constant.value = 6;
  }
  for (const auto& [name, field] : law_names(JobLaw{})) {
    calibration.constants.push_back(
        {.name = name, .scope = "job", .unit = "1", .prior_deviation = 0.2, .identified = false});
  }
  for (const char* name : {"noise_floor", "noise_exposed"}) {
    calibration.constants.push_back({.name = name,
                                     .scope = "noise",
                                     .value = name == std::string("noise_floor") ? 0.03 : 0.04,
                                     .unit = "1",
                                     .identified = false});
  }
  return calibration;
}

/// T4s of 8 TFLOP/s and 320 GB/s, and "Fast" ones of twice both; VMs of provider "x" at 50 Gbit/s.
inline Catalog small_catalog() {
  const auto gpu = [](const std::string& name, double factor) {
    return Gpu{.name = name,
               .memory = 16 * kGB,
               .memory_bandwidth = factor * 320 * kGB / kSecond,
               .fp32 = factor * 8 * kTeraflop / kSecond,
               .pcie = "3.0 x16"};
  };
  const auto type = [](const std::string& name, const std::string& accelerator, int count) {
    const Price price{.rate = 3.6 * kDollar / kHour,
                      .date = {.year = 2026, .month = 7, .day = 20},
                      .source = "s"};
    return VmType{
        .provider = "x",
        .name = name,
        .accelerator = Accelerator{.name = accelerator, .count = count},
        .network = Network{.baseline = 50 * kGbit / kSecond},
        .offers = {Offer{.region = "here", .on_demand = price}, Offer{.region = "there"}}};
  };
  Catalog catalog{.gpus = {gpu("T4", 1), gpu("Fast", 2)},
                  .types = {type("slow.1", "T4", 1), type("slow.4", "T4", 4),
                            type("fast.1", "Fast", 1), type("mystery.1", "Odd", 1)}};
  VmType processor = type("cpu.1", "", 1);
  processor.accelerator.reset();
  catalog.types.push_back(processor);
  VmType dark = type("dark.1", "T4", 1);
  dark.network.reset();
  catalog.types.push_back(dark);
  VmType elsewhere = type("other.1", "T4", 1);
  elsewhere.provider = "y";
  catalog.types.push_back(elsewhere);
  return catalog;
}

/// 100 MB of gradients; on a T4 a batch of b takes b · (1 + 2) ms and an update of 2 ms.
inline JobProfile small_job() {
  JobProfile job{.name = "small", .gradient_bytes = 100 * kMB, .parameter_bytes = 100 * kMB};
  for (const int batch : {16, 64}) {
    job.compute.push_back({.device = "T4",
                           .batch_per_worker = batch,
                           .forward = {.median = batch * kMillisecond},
                           .backward = {.median = 2 * batch * kMillisecond},
                           .update = {.median = 2 * kMillisecond},
                           .peak_memory = 1 * kGB + batch * 100 * kMB});
  }
  return job;
}

/// Everything a question needs, alive as long as the test.
struct PredictFixture {
  JobProfile job = small_job();
  Catalog catalog = small_catalog();
  CalibratedLaw law = *calibrated_law(round_calibration());
  DeviceLaw devices = {.compute_share = 0.5, .spread = 0.2};

  PredictContext context() const { return {job, catalog, law, devices}; }

  Result<ResolvedJob> resolved(const std::string& cluster, const PredictOptions& options) const {
    const auto parsed = parse_cluster(cluster);
    CHECK(parsed.ok());
    return resolve(context(), *parsed, options);
  }
};

}  // namespace stint
