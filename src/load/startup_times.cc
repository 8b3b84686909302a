#include "load/startup_times.h"

#include "base/check.h"
#include "load/constant_reader.h"
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

}  // namespace

Result<StartupTimes> read_startup_times(const Calibration& calibration) {
  ConstantReader read(calibration);
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
                           .move_regroup = read.time(kMove, "regroup"),
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
