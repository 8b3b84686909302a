#include "load/checkpoint_times.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "load/job_files.h"

namespace stint {
namespace {

struct ConstantName {
  const char* scope;
  const char* name;
  const char* unit;
};

Result<double> constant_of(const Calibration& calibration, const ConstantName& wanted) {
  const auto& all = calibration.constants;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Constant& it) {
    return it.scope == wanted.scope && it.name == wanted.name;
  });
  const bool sound = found != all.end() && found->unit == wanted.unit && found->value > 0;
  if (sound) return found->value;
  return bad_input(
      fmt::format("the calibration '{}' needs a constant '{}' above zero in {} of the scope '{}'",
                  printable(calibration.name), wanted.name, wanted.unit, wanted.scope));
}

}  // namespace

Result<HostCopy> read_host_copy(const Calibration& calibration) {
  const auto share = constant_of(calibration, {"host link", "share", "1"});
  if (!share.ok()) return share.error();
  const auto rate = constant_of(calibration, {"host link unknown", "rate", "byte/s"});
  if (!rate.ok()) return rate.error();
  const auto latency = constant_of(calibration, {"host copy", "latency", "s"});
  if (!latency.ok()) return latency.error();
  return HostCopy{
      .latency = *latency * kSecond, .link_share = *share, .rate_unknown = *rate * kByte / kSecond};
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
