#include "measure/tables/device_table_format.h"

namespace stint {

std::span<const EnumName<DeviceTableFormat>> names_of(DeviceTableFormat /*type*/) {
  static constexpr EnumName<DeviceTableFormat> kNames[] = {
      {DeviceTableFormat::kNeusight, "neusight"},
      {DeviceTableFormat::kTimm, "timm"},
      {DeviceTableFormat::kZeus, "zeus"},
      {DeviceTableFormat::kMlperf, "mlperf"}};
  return kNames;
}

}  // namespace stint
