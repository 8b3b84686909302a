#include "load/startup_times.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "load/job_files.h"

namespace stint {
namespace {

constexpr const char* kCloud = "startup";
constexpr const char* kPlan = "startup: emulated plan";
constexpr const char* kTerms = "startup: emulated terms";
constexpr const char* kForecast = "startup: emulated forecast";
constexpr const char* kMove = "startup: emulated move";
constexpr const char* kProbe = "startup: emulated probe";
constexpr const char* kState = "startup: emulated state";

/// Takes constants out of a calibration, and remembers the first that is wrong.
class Reader {
 public:
  explicit Reader(const Calibration& calibration) : calibration_(calibration) {}

  Seconds time(const char* scope, const char* name) { return value(scope, name, "s") * kSecond; }

  RandomTime random_time(const char* scope, const std::string& name) {
    const std::string deviation = name + "_deviation";
    return {time(scope, name.c_str()), time(scope, deviation.c_str())};
  }

  BytesPerSecond rate(const char* scope, const char* name) {
    return value(scope, name, "byte/s") * kByte / kSecond;
  }

  const Status& status() const { return status_; }

 private:
  double value(const char* scope, const char* name, const char* unit) {
    const auto& all = calibration_.constants;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Constant& it) {
      return it.scope == scope && it.name == name;
    });
    const bool sound = found != all.end() && found->unit == unit && found->value > 0;
    if (sound) return found->value;
    if (status_.ok()) {
      status_ = bad_input(fmt::format(
          "the calibration '{}' needs a constant '{}' above zero in {} of the scope '{}'",
          printable(calibration_.name), name, unit, scope));
    }
    return 0;
  }

  const Calibration& calibration_;
  Status status_ = {};
};

}  // namespace

Result<StartupTimes> read_startup_times(const Calibration& calibration) {
  Reader read(calibration);
  const StartupTimes times{.vm_on_demand = read.random_time(kCloud, "vm_on_demand"),
                           .vm_spot = read.random_time(kCloud, "vm_spot"),
                           .restart = read.time(kCloud, "restart"),
                           .plan_cluster = read.random_time(kPlan, "cluster"),
                           .terms_worker_start = read.time(kTerms, "worker_start"),
                           .terms_regroup = read.time(kTerms, "regroup"),
                           .forecast_launch = read.time(kForecast, "launch"),
                           .forecast_join = read.time(kForecast, "join"),
                           .forecast_join_more = read.time(kForecast, "join_more"),
                           .forecast_regroup = read.time(kForecast, "regroup"),
                           .forecast_shutdown = read.time(kForecast, "shutdown"),
                           .move_start = read.time(kMove, "start"),
                           .move_start_more = read.time(kMove, "start_more"),
                           .probe_worker_start = read.time(kProbe, "worker_start"),
                           .disk = read.rate(kState, "disk")};
  if (!read.status().ok()) return read.status().error();
  return times;
}

const StartupTimes& startup_times() {
  static const StartupTimes kTimes = [] {
    const auto calibration = shipped_calibration("startup");
    const auto times = read_startup_times(calibration);
    CHECK(times.ok());
    return *times;
  }();
  return kTimes;
}

}  // namespace stint
