#pragma once

#include "predict/step.h"

namespace stint {

inline Link link(double ms_per_mb, double latency_ms = 0) {
  return {.inverse_bandwidth = ms_per_mb * kMillisecond / kMB,
          .latency = latency_ms * kMillisecond};
}

/// Forward 10 ms, backward 20 ms; 1 GB/s between VMs and 10 GB/s inside.
inline StepGroup plain_group(int vms, int workers_per_vm = 1) {
  return {.vms = vms,
          .workers_per_vm = workers_per_vm,
          .forward = 10 * kMillisecond,
          .backward = 20 * kMillisecond,
          .update = {},
          .input = {},
          .network = link(1),
          .inside = link(0.1)};
}

/// Two buckets of 10 MB, ready at half of backward and at its end: after 20 and after 30 ms.
inline StepSetup plain_setup(int vms, int workers_per_vm = 1) {
  return {.groups = {plain_group(vms, workers_per_vm)},
          .buckets = {{.bytes = 10 * kMB, .ready = 0.5}, {.bytes = 10 * kMB, .ready = 1}}};
}

}  // namespace stint
