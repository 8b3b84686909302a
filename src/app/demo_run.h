#pragma once

#include <functional>
#include <string>

#include "app/environment.h"
#include "app/plan_cases.h"
#include "app/profile_job.h"
#include "app/run_job.h"
#include "app/run_report.h"

namespace stint {

/// Told what the demonstration comes to, part by part.
struct DemoListeners {
  std::function<void(const std::string&)> begins;  // A part, as a heading.
  std::function<void(const JobProfile&)> profiled;
  std::function<void(const PlanOutcome&)> planned;
  std::function<void(const PreparedRun&)> prepared;
  RunAudience running;
};

/// The whole way on the emulated cloud: measures a small training, plans it, rents the machines of
/// the best plan, takes one of them back in the middle, and reports. About two minutes. Unavailable
/// without torch, or without what the emulated cloud needs.
Result<RunReport> demonstrate_run(const Environment& environment, const std::string& python,
                                  const DemoListeners& listeners);

}  // namespace stint
