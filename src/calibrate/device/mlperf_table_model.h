#pragma once

#include <memory>

#include "calibrate/device/device_table.h"

namespace stint {

/// Benchmarks of MLPerf on one machine (measure/tables/mlperf_clusters.h). A job is a benchmark,
/// and rows are told apart by GPU. Rows of several machines are not predicted.
std::unique_ptr<DeviceTable> make_mlperf_table(const Catalog& catalog);

}  // namespace stint
