#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "catalog/catalog.h"
#include "load/environment.h"
#include "risk/advisor.h"
#include "risk/group_loss.h"

namespace stint {

struct SurviveRequest {
  std::string vm;      // As the catalogue calls it.
  std::string region;  // Empty: the one of its cheapest spot offer with a band.
  int count = 1;
  Seconds time;                        // How long the machines are needed.
  std::vector<std::string> lifetimes;  // Files to take the hazard from; empty: catalogue or prior.
  std::string advisor = {};            // A table of bands to take instead of the catalogue's.
};

/// One figure under the typical hazard, at the ends of its band, and if machines were independent.
struct RiskFigure {
  double typical = 0;
  double low = 0;   // The smaller of the two.
  double high = 0;  // The larger.
  double independent = 0;
};

/// When the first machine is lost. Absent: never.
struct FirstLoss {
  std::optional<Seconds> p10;  // One time in ten it is earlier.
  std::optional<Seconds> median;
  std::optional<Seconds> p90;
};

/// P(at least this many machines are left).
struct LeftShare {
  int machines = 0;
  double typical = 0;
  double independent = 0;
};

struct SurviveReport {
  std::string vm;  // "aws/p4d.24xlarge".
  int count = 1;
  Seconds time;
  RiskFigure all_left;
  RiskFigure losses_expected;
  std::vector<LeftShare> left;
  FirstLoss first_loss;
  FirstLoss first_loss_independent;
  GroupLoss group;
  std::string hazard_origin;  // Where the hazard comes from,
  std::string group_origin;   // and how machines are lost together.
  std::vector<std::string> warnings;
};

/// The hazard of one machine of the type: by the files that are given, else by the catalogue's
/// band, else by the shipped prior.
Result<PoolHazard> pool_hazard(const VmType& type, const SurviveRequest& request);

/// What becomes of `count` new spot machines of one pool, none of which is replaced. The hazard is
/// that of the lifetimes given, else of the catalogue's band, else the shipped prior.
Result<SurviveReport> survive_risk(const Environment& environment, const SurviveRequest& request);

}  // namespace stint
