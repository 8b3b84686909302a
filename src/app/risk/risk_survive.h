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
  std::string vm;      // Name in the catalogue.
  std::string region;  // Empty: the region of its cheapest spot offer with a band.
  int count = 1;
  Seconds time;                        // Time for which the machines are needed.
  std::vector<std::string> lifetimes;  // Files for the hazard; empty: catalogue or prior.
  std::string advisor = {};            // A table of bands that replaces the catalogue's.
};

/// One figure under the typical hazard, at the ends of its band, and if machines were independent.
struct RiskFigure {
  double typical = 0;
  double low = 0;   // The smaller value at the ends of the band.
  double high = 0;  // The larger value.
  double independent = 0;
};

/// The time of the first loss. Absent: never.
struct FirstLoss {
  std::optional<Seconds> p10;  // 10th percentile.
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
  std::string hazard_origin;  // Source of the hazard,
  std::string group_origin;   // and of the dependence of losses.
  std::vector<std::string> warnings;
};

/// The hazard of one machine of the type: by the given files, else by the catalogue's band, else by
/// the shipped prior.
Result<PoolHazard> pool_hazard(const VmType& type, const SurviveRequest& request);

/// The survival of `count` new spot machines of one pool, none of which is replaced. The hazard is
/// that of the given lifetimes, else of the catalogue's band, else the shipped prior.
Result<SurviveReport> survive_risk(const Environment& environment, const SurviveRequest& request);

}  // namespace stint
