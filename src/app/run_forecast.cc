#include "app/run_forecast.h"

#include <algorithm>
#include <cmath>

#include "app/run_market.h"
#include "base/normal.h"
#include "run/rehearsal.h"
#include "run/rehearsal_policy.h"
#include "run/spot_belief.h"

namespace stint {
namespace {

constexpr int kForecastRuns = 300;
constexpr int kOutlookRuns = 60;             // While somebody looks on.
constexpr std::uint64_t kForecastSeed = 77;  // Another than any run's.

// As seen on the emulated cloud on two cores that have nothing else to do, where decisions are made
// with the longer times of the record: a VM is made, one or two workers start and join, each one
// more beside them, and those that were there form a new group.
constexpr Seconds kLaunch = 0.1 * kSecond;
constexpr Seconds kJoin = 1.8 * kSecond;
constexpr Seconds kJoinMore = 0.6 * kSecond;
constexpr Seconds kRegroup = 0.5 * kSecond;
// Workers hardly wait for a save, but the processors that train have it to do: as seen in two runs
// without losses, of states of 10 and 38 MB.
constexpr Seconds kSaveStall = 50 * kMillisecond;
constexpr BytesPerSecond kSaveWork = 400 * kMB / kSecond;
// How far whole runs are off beyond what steps and losses tell, as ± of the logarithm.
constexpr double kRunDeviation = 0.03;

RehearsalWorld world_of(const RunRecord& record, const RunPlan& plan, double slowness) {
  const std::vector<int> slots = training_slots(terms_of(record, plan));
  const RunStepTime whole = step_time_of(plan, slots);
  const double deviation = std::log(whole.p90 / whole.p10) / (2 * normal_quantile(0.9));
  const Seconds order = static_cast<double>(save_ahead(whole.mean)) * whole.mean;
  const Bytes state = record.state.value_or(Bytes{});
  return {.loss = {},
          .notice = record.notice,
          .launch = kLaunch,
          .join = kJoin,
          .join_more = kJoinMore,
          .regroup = kRegroup,
          .hand_over = state / plan.machines.front().network,
          .save = record.save_time,
          .save_order = std::min(order, record.save_time),
          .save_stall = kSaveStall + state / kSaveWork,
          .slowness = slowness,
          .slowness_deviation = std::hypot(kRunDeviation, std::max(0.0, deviation))};
}

Forecast rehearsed(const RunRecord& record, const RunPlan& plan, const RunSoFar& so_far,
                   double slowness, int runs) {
  const RunTerms terms = terms_of(record, plan);
  const std::vector<int> slots = training_slots(terms);
  const int places = static_cast<int>(slots.size());
  RehearsalWorld world = world_of(record, plan, slowness);
  RehearsalTables tables(spot_belief(record, places).model());
  Rehearsals rehearsals{.runs = runs, .seed = kForecastSeed};
  if (record.deadline) rehearsals.policy = [&] { return tables.policy(); };
  if (record.expected && !record.expected->away) world.loss = 1 / record.expected->stay;
  if (record.expected && record.expected->away) {
    // Four times what it takes undisturbed is drawn; after that spot stays as it is then.
    const Seconds left = static_cast<double>(record.steps - so_far.steps) * terms.step_time(slots);
    const Seconds horizon = so_far.now + 4 * (record.start_up + left);
    rehearsals.capacity = [&record, places, horizon](Random random) {
      return draw_capacity(*record.expected, places, horizon, random);
    };
  }
  return rehearse(terms, world, so_far, rehearsals);
}

template <class Range, class Q>
Range range_of(const Spread<Q>& spread) {
  return {.mean = spread.mean, .p10 = spread.p10, .p90 = spread.p90};
}

}  // namespace

RunForecast forecast_of(const RunRecord& record) {
  const Forecast forecast = rehearsed(record, record.plan, {}, 1, kForecastRuns);
  RunForecast expected{.time = range_of<TimeRange>(forecast.time),
                       .cost = range_of<CostRange>(forecast.cost),
                       .losses = forecast.losses};
  if (record.deadline) expected.p_deadline = forecast.deadline_kept;
  if (record.budget) expected.p_budget = forecast.budget_kept;
  return expected;
}

RunSoFar so_far_of(const Supervisor& supervisor) {
  RunSoFar so_far{
      .now = supervisor.now(), .steps = supervisor.reached(), .cost = supervisor.cost()};
  for (const RunVm& vm : supervisor.vms()) {
    if (is_there(vm) && !vm.leaving) so_far.machines.push_back({vm.slot, vm.market});
  }
  return so_far;
}

RunOutlook outlook_of(const RunRecord& record, const RunPlan& plan, const RunSoFar& so_far,
                      double slowness) {
  const Forecast forecast = rehearsed(record, plan, so_far, slowness, kOutlookRuns);
  RunOutlook outlook{.time = range_of<TimeRange>(forecast.time),
                     .cost = range_of<CostRange>(forecast.cost)};
  if (record.deadline) outlook.p_deadline = forecast.deadline_kept;
  return outlook;
}

RunOutlook outlook_of(const ReplayedRun& run) {
  RunSoFar so_far = so_far_of(*run.supervisor);
  so_far.steps = std::min(so_far.steps, run.record.steps - 1);
  return outlook_of(run.record, run.plan, so_far, run.supervisor->slowness().value_or(1));
}

}  // namespace stint
