#pragma once

#include <string>

#include "calibrate/scaling/scaling_priors.h"

namespace stint {

/// Priors for tests, of the format "test".
inline Calibration scaling_calibration() {
  Calibration calibration{.name = "scaling"};
  const auto believe = [&](const char* name, double mean, double deviation) {
    calibration.constants.push_back({.name = name,
                                     .scope = "test",
                                     .value = mean,
                                     .unit = "1",
                                     .prior_mean = mean,
                                     .prior_deviation = deviation});
  };
  believe("floor", -3, 1);
  believe("exposed", 0.4, 0.8);
  believe("crossing", 0.02, 0.03);
  believe("growth", 0.005, 0.005);
  believe("wire_growth", 0.02, 0.03);
  believe("family", 0, 0.3);
  believe("device", 0, 0.15);
  believe("owner", 0, 0.1);
  believe("edition", 0, 0.04);
  believe("owner_exposed", 0, 0.5);
  believe("owner_crossing", 0, 0.05);
  const auto know = [&](const char* scope, const char* name, double value) {
    calibration.constants.push_back({.name = name, .scope = scope, .value = value, .unit = "1"});
  };
  know("test", "noise", 0.02);
  know("scaling", "floor_by_speed", 0.5);
  know("scaling", "gradient_bytes", 2);
  know("scaling", "state_bytes", 18);
  know("scaling", "memory", 8e10);
  know("scaling", "network", 200);
  know("scaling", "parameters", 5e7);
  know("job:bert", "parameters", 1e8);
  return calibration;
}

/// A row of VMs with eight workers.
inline ScalingRow scaling_row(const std::string& job, int workers, double batch,
                              const std::string& owner = "a") {
  return {.job = job,
          .owner = owner,
          .edition = "v1",
          .device = "h100",
          .family = "h100",
          .workers = workers,
          .vms = (workers + 7) / 8,
          .workers_per_vm = workers < 8 ? workers : 8,
          .global_batch = batch};
}

}  // namespace stint
