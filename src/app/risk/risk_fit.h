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
  int machines = 1;  // A tick of a trace is up when this many machines are available.
  Seconds gap = kTraceGap;
  std::string name;        // Name of the calibration.
  std::string provenance;  // Source of the files.
  std::string out;         // File for the calibration; empty: none.
};

/// A summary of durations.
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
  int most = 0;             // Largest number of machines.
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
  // Hazard of a machine drawn from those in the files.
  Hazard hazard = Hazard::constant(PerSecond());
  PerSecond rate;                       // Rate of the exponential.
  std::map<std::string, double> kinds;  // Factors; empty: kinds are not distinguished.
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
  double hours_failed = 0;  // Share of those hours with a failure.
  int longest = 0;          // Longest series of consecutive hours with failures.
};

/// The results from traces, lifetimes, start-up times and failed starts of a pool.
struct RiskFitReport {
  std::vector<TraceReport> traces;
  // Dependence in all traces; absent when they do not determine it.
  std::optional<GroupLoss> group;
  std::optional<LifetimeReport> lifetimes;
  std::vector<StartupReport> startups;
  std::vector<FailureReport> failures;
};

/// Reads the files, whose contents determine their kind, and fits them. With `out` it writes the
/// hazard and the dependence between machines as a calibration; that needs lifetimes and traces.
Result<RiskFitReport> fit_risk(const Environment& environment, const RiskFitRequest& request);

}  // namespace stint
