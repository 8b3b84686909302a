#include "load/checkpoint_times.h"

#include "base/check.h"
#include "load/constant_reader.h"
#include "load/job_files.h"

namespace stint {

Result<HostCopy> read_host_copy(const Calibration& calibration) {
  ConstantReader read(calibration);
  const HostCopy copy{.latency = read.time("host copy", "latency"),
                      .link_share = read.number("host link", "share"),
                      .rate_unknown = read.rate("host link unknown", "rate")};
  if (!read.status().ok()) return read.status().error();
  return copy;
}

const HostCopy& host_copy() {
  static const HostCopy kCopy = [] {
    const auto copy = read_host_copy(shipped_calibration("checkpoints"));
    CHECK(copy.ok());
    return *copy;
  }();
  return kCopy;
}

}  // namespace stint
