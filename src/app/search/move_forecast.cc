#include "app/search/move_forecast.h"

#include <algorithm>
#include <cmath>

#include "base/normal.h"
#include "load/startup_times.h"

namespace stint {
namespace {

// From a few moves of searches on two cores.
constexpr double kMoveDeviation = 0.3;

struct Machines {
  int workers = 0;
  int kept = 0;  // Workers that the other plan keeps.
  DollarsPerSecond rate;
  DollarsPerSecond rate_new;  // Price of machines that are not kept.
  BytesPerSecond network;
};

/// The machines of a plan that are like these.
RunMachines alike(const RunPlan& plan, const RunMachines& like) {
  RunMachines found = like;
  found.count = 0;
  for (const RunMachines& machines : plan.machines) {
    if (!machines.trains || machines.type != like.type || machines.market != like.market) continue;
    found.count += machines.count;
    found.workers = machines.workers;
  }
  return found;
}

Machines machines_of(const RunPlan& plan, const RunPlan* other) {
  Machines found;
  for (const RunMachines& machines : plan.machines) {
    if (!machines.trains) continue;
    int kept = 0;
    if (other != nullptr && plan.generation == other->generation) {
      const RunMachines others = alike(*other, machines);
      kept = std::min(machines.count, others.count);
      found.kept += kept * std::min(workers_on(machines), workers_on(others));
    }
    const DollarsPerSecond price =
        machines.market == Market::kSpot ? machines.spot : machines.on_demand;
    found.workers += machines.count * workers_on(machines);
    found.rate += static_cast<double>(machines.count) * price;
    found.rate_new += static_cast<double>(machines.count - kept) * price;
    found.network = machines.network;
  }
  return found;
}

Seconds step_of(const RunPlan& plan) {
  std::vector<int> slots;
  const std::vector<int> kinds = slot_kinds(plan);
  for (std::size_t slot = 0; slot < kinds.size(); ++slot) {
    if (plan.machines[static_cast<std::size_t>(kinds[slot])].trains) {
      slots.push_back(static_cast<int>(slot));
    }
  }
  return step_time_of(plan, slots).mean;
}

template <class Range, class Q>
Range range_of(Q mean) {
  const double factor = std::exp(normal_quantile(0.9) * kMoveDeviation);
  return {.mean = mean, .p10 = mean / factor, .p90 = mean * factor};
}

}  // namespace

MoveForecast move_forecast(const RunRecord& record, const RunPlan* from, const RunPlan& to) {
  const Machines after = machines_of(to, from);
  const Machines before = from == nullptr ? Machines{} : machines_of(*from, &to);
  const Bytes state = record.state.value_or(Bytes{});
  const Seconds broken_off = from == nullptr ? Seconds{} : 0.5 * step_of(*from);
  const int newcomers = after.workers - after.kept;
  const StartupTimes& times = startup_times();
  const Seconds start = times.move_start + std::max(0, newcomers - 2) * times.move_start_more;
  Seconds stall = broken_off;
  Dollars cost;
  if (after.kept > 0) {
    stall += times.move_regroup + (newcomers > 0 ? state / after.network : Seconds{});
    cost = stall * std::max(before.rate, after.rate);
    if (newcomers > 0) cost += start * after.rate_new;
  } else {
    stall += state / times.disk + start + state / times.disk;
    cost = stall * (before.rate + after.rate);
  }
  return {.time = range_of<TimeRange>(stall), .cost = range_of<CostRange>(cost)};
}

}  // namespace stint
