#pragma once

#include <memory>

#include "calibrate/device/device_table.h"

namespace stint {

/// Steps of pytorch-image-models (measure/tables/timm_table.h). A job is a family of models, and
/// rows are told apart by mode, GPU and memory layout.
std::unique_ptr<DeviceTable> make_timm_table(const Catalog& catalog);

}  // namespace stint
