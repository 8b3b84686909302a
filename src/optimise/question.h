#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "catalog/machine_filter.h"
#include "catalog/market.h"
#include "converge/work.h"
#include "plan/miss_charge.h"
#include "predict/resolve.h"
#include "risk/advisor.h"
#include "risk/price_drift.h"
#include "risk/save_cost.h"
#include "risk/spot_time.h"

namespace stint {

/// What a plan is chosen by.
enum class Objective { kCost, kTime, kKnee, kFront };

std::span<const EnumName<Objective>> names_of(Objective type);

/// How many virtual processors of some VMs may be had at once.
struct Quota {
  std::string name;              // A VM type, its family ("g5"), or a quota class ("G").
  std::optional<Market> market;  // Absent: of both markets together.
  int vcpus = 0;

  bool operator==(const Quota&) const = default;
};

/// "g5=32,p4d:spot=96". A usage error quotes the part that is wrong.
Result<std::vector<Quota>> parse_quotas(std::string_view text);
std::string to_text(const Quota& quota);

/// True when VMs of `type` on `market` count against `quota`.
bool counts(const Quota& quota, const VmType& type, Market market);

/// Clusters of more VMs are not planned.
inline constexpr int kPlannedVmsMax = 10000;

/// What a plan must keep. Empty lists allow everything.
struct Constraints {
  std::optional<Seconds> deadline = {};           // From the start.
  std::optional<Dollars> budget = {};             // For the whole training.
  std::optional<DollarsPerSecond> rate_max = {};  // Expected, with replacements on demand.
  double confidence = 0.95;  // That the deadline, and the budget, are kept with; at least 0.5.
  // Where cost is minimised: how the risk of missing the deadline is weighed, instead of a demand
  // for the confidence. The budget is kept with the confidence all the same.
  std::optional<MissCharge> miss = {};
  std::vector<Market> markets = {};
  std::vector<std::string> providers = {};
  std::vector<std::string> regions = {};
  MachineFilter machines = {};
  std::vector<Quota> quotas = {};
  int vms_max = 64;
};

/// What disturbs runs. As it is made here: nothing.
struct Outlook {
  SpotPrior spot = {.hazard = {.typical = Hazard::constant({}),
                               .low = Hazard::constant({}),
                               .high = Hazard::constant({}),
                               .origin = "no losses"},
                    .group = {}};  // Of machines without figures of their own.
  RandomTime on_demand_start_up = {};
  RandomTime spot_start_up = {};
  Seconds regroup = {};                     // Pause of workers that stay, when others come or go.
  std::optional<PriceOutlook> prices = {};  // Absent: prices are what the catalogue says.
  std::optional<HostCopy> host_copy = {};   // Absent: copies take as long as writes to a disk.
};

/// All that the optimiser is asked. The context must outlive it.
struct PlanQuestion {
  PredictContext context;
  Work work;
  Constraints constraints = {};
  Objective objective = Objective::kCost;
  int rows = 10;                                  // Plans in the answer; each of other VMs.
  std::vector<std::string> disabled_passes = {};  // Names of switchable passes.
  Outlook outlook = {};
};

}  // namespace stint
