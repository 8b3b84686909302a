#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "load/environment.h"
#include "risk/group_loss.h"
#include "risk/hazard.h"

namespace stint {

struct RiskFitRequest {
  std::vector<std::string> files;
  int machines = 1;  // A tick of a trace is up when so many machines are there.
  Seconds gap = kTraceGap;
  std::string name;        // Of the calibration.
  std::string provenance;  // Where the files can be had.
  std::string out;         // Where to write the calibration; empty: nowhere.
};

/// How long something lasted, over several times.
struct TimeSummary {
  int count = 0;
  Seconds mean;
  Seconds median;
  Seconds p90;
};

struct TraceReport {
  std::string name;
  Seconds gap;
  int ticks = 0;
  int most = 0;             // Machines.
  double availability = 0;  // Share of ticks that are up.
  TimeSummary up;           // Spells; the first and the last may have been longer.
  TimeSummary down;
};

struct LifetimeHorizon {
  Seconds age;
  std::optional<SurvivalShare> measured;
  double fitted = 1;
  double exponential = 1;
};

struct LifetimeReport {
  int machines = 0;
  int losses = 0;
  Seconds exposure;
  std::vector<LifetimeHorizon> horizons;
  Hazard hazard = Hazard::constant(PerSecond());  // Of a machine drawn from those in the files.
  PerSecond rate;                                 // Of the exponential.
  std::map<std::string, double> kinds;            // Factors; empty: kinds are not told apart.
};

struct StartupReport {
  std::string device;
  std::string market;
  TimeSummary time;  // Provisioning, staging and booting together.
};

struct FailureReport {
  std::string place;  // Provider and zone.
  int failures = 0;
  int hours = 0;            // From the first failure to the last.
  double hours_failed = 0;  // Share of them with a failure.
  int longest = 0;          // Hours in a row with failures.
};

/// What traces, lifetimes, start-up times and failed starts say about a pool.
struct RiskFitReport {
  std::vector<TraceReport> traces;
  std::optional<GroupLoss> group;  // Of all traces; absent when they do not tell.
  std::optional<LifetimeReport> lifetimes;
  std::vector<StartupReport> startups;
  std::vector<FailureReport> failures;
};

/// Reads the files, which their content tells apart, and fits what they hold. With `out` it writes
/// the hazard and the dependence between machines as a calibration; that needs lifetimes and
/// traces.
Result<RiskFitReport> fit_risk(const Environment& environment, const RiskFitRequest& request);

}  // namespace stint
