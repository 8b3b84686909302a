#pragma once

#include <memory>

#include "calibrate/device/device_table.h"

namespace stint {

/// Epoch times of Zeus (measure/tables/zeus_table.h): workloads on GPUs under power limits. A job
/// is a workload, and rows are told apart by GPU.
std::unique_ptr<DeviceTable> make_zeus_table(const Catalog& catalog);

}  // namespace stint
