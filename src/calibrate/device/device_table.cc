#include "calibrate/device/device_table.h"

#include <algorithm>

#include "base/check.h"
#include "calibrate/device/mlperf_table_model.h"
#include "calibrate/device/neusight_table_model.h"
#include "calibrate/device/timm_table_model.h"
#include "calibrate/device/zeus_table_model.h"

namespace stint {
std::unique_ptr<DeviceTable> make_device_table(DeviceTableFormat format, const Catalog& catalog) {
  switch (format) {
    case DeviceTableFormat::kNeusight:
      return make_neusight_table(catalog);
    case DeviceTableFormat::kTimm:
      return make_timm_table(catalog);
    case DeviceTableFormat::kZeus:
      return make_zeus_table(catalog);
    case DeviceTableFormat::kMlperf:
      return make_mlperf_table(catalog);
  }
  CHECK(false);
}

std::vector<std::string> device_baselines() {
  std::vector<std::string> all;
  const Catalog nothing;
  for (const auto& [format, name] : names_of(DeviceTableFormat{})) {
    for (const std::string& it : make_device_table(format, nothing)->baselines()) {
      if (std::find(all.begin(), all.end(), it) == all.end()) all.push_back(it);
    }
  }
  return all;
}

}  // namespace stint
