#pragma once

#include <functional>
#include <string>

#include "app/import/profile_job.h"
#include "app/plan/plan_cases.h"
#include "app/run/run_job.h"
#include "app/run/run_report.h"
#include "load/environment.h"

namespace stint {

/// Callbacks for the parts of the demonstration.
struct DemoListeners {
  std::function<void(const std::string&)> begins;  // A part, as a heading.
  std::function<void(const JobProfile&)> profiled;
  std::function<void(const PlanOutcome&)> planned;
  std::function<void(const PreparedRun&)> prepared;
  RunAudience running;
};

/// The whole way on the emulated cloud: measures a small training, plans it, rents the machines of
/// the best plan, interrupts one of them in the middle, and reports. About two minutes. Unavailable
/// without torch, or without what the emulated cloud needs.
Result<RunReport> demonstrate_run(const Environment& environment, const std::string& python,
                                  const DemoListeners& listeners);

}  // namespace stint
