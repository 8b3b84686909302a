#include "app/run/run_forecast.h"

#include <algorithm>
#include <cmath>

#include "app/run/run_market.h"
#include "base/normal.h"
#include "load/startup_times.h"
#include "supervise/rehearsal.h"
#include "supervise/spot_belief.h"

namespace stint {
namespace {

constexpr int kForecastRuns = 300;
constexpr int kOutlookRuns = 60;             // While somebody looks on.
constexpr std::uint64_t kForecastSeed = 77;  // Another than any run's.

// Workers hardly wait for a save, but the processors that train have it to do: as seen in two runs
// without losses, of states of 10 and 38 MB.
constexpr Seconds kSaveStall = 30 * kMillisecond;
constexpr BytesPerSecond kSaveWork = 800 * kMB / kSecond;
// How far whole runs are off beyond what steps and losses tell, as ± of the logarithm: so far 29
// runs of tools/measure_runs.py were off their hindsight (seeds 41 to 69).
constexpr double kRunDeviation = 0.05;

RehearsalWorld world_of(const RunRecord& record, const RunPlan& plan, double slowness) {
  const std::vector<int> slots = training_slots(terms_of(record, plan));
  const RunStepTime whole = step_time_of(plan, slots);
  const double deviation = std::log(whole.p90 / whole.p10) / (2 * normal_quantile(0.9));
  const Seconds order = static_cast<double>(save_ahead(whole.mean)) * whole.mean;
  const Bytes state = record.state.value_or(Bytes{});
  const StartupTimes& times = startup_times();
  return {.notice = record.notice,
          .launch = times.forecast_launch,
          .join = times.forecast_join,
          .join_more = times.forecast_join_more,
          .regroup = times.forecast_regroup,
          .hand_over = state / plan.machines.front().network,
          .save = record.save_time,
          .save_order = std::min(order, record.save_time),
          .save_stall = kSaveStall + state / kSaveWork,
          .shutdown = times.forecast_shutdown,
          .slowness = slowness,
          .slowness_deviation = std::hypot(kRunDeviation, std::max(0.0, deviation))};
}

/// `runs`, or fewer of a run with thousands of decisions, all of which each rehearsal makes.
int rehearsals_of(int runs, double decisions) {
  constexpr double kDecisionsMax = 500;
  constexpr double kRunsMin = 20;
  const double fewer = runs * kDecisionsMax / std::max(decisions, kDecisionsMax);
  return static_cast<int>(std::max(fewer, std::min<double>(runs, kRunsMin)));
}

/// How to play a run.
struct Rehearsing {
  double slowness = 1;
  int runs = kForecastRuns;
  std::vector<CapacityChange> market = {};  // Known beforehand; empty: what the record expects.
};

Forecast rehearsed(const RunRecord& record, const RunPlan& plan, const RunSoFar& so_far,
                   const Rehearsing& how) {
  RunTerms terms = terms_of(record, plan);
  // A plain script makes as many steps as it wants to.
  terms.steps = std::max(terms.steps, so_far.steps + so_far.unsaved + 1);
  const std::vector<int> slots = training_slots(terms);
  const int places = static_cast<int>(slots.size());
  RehearsalWorld world = world_of(record, plan, how.slowness);
  world.capacity = how.market;
  RehearsalTables tables(spot_belief(record.expected, record.tick, places).model());
  const Seconds left = static_cast<double>(terms.steps - so_far.steps) * terms.step_time(slots);
  Rehearsals rehearsals{.runs = rehearsals_of(how.runs, left / record.tick), .seed = kForecastSeed};
  if (record.deadline) rehearsals.policy = [&] { return tables.policy(); };
  const bool believes = record.expected && how.market.empty();
  if (believes && !record.expected->away) {
    world.pools = {{.hazard = Hazard::constant(1 / record.expected->stay)}};
  }
  if (believes && record.expected->away) {
    // Four times what it takes undisturbed is drawn; after that spot stays as it is then.
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

RunForecast run_forecast(const RunRecord& record, const Forecast& forecast) {
  RunForecast expected{.time = range_of<TimeRange>(forecast.time),
                       .cost = range_of<CostRange>(forecast.cost),
                       .losses = forecast.losses};
  if (record.deadline) expected.p_deadline = forecast.deadline_kept;
  if (record.budget) expected.p_budget = forecast.budget_kept;
  return expected;
}

}  // namespace

RunForecast forecast_of(const RunRecord& record) {
  return run_forecast(record,
                      rehearsed(record, record.plan, {.plain = record.plain.value_or(false)}, {}));
}

std::optional<RunForecast> hindsight_of(const RunRecord& record) {
  if (record.pool.empty()) return std::nullopt;
  Rehearsing how;
  for (const PoolChange& change : record.pool) how.market.push_back({change.at, change.spot});
  return run_forecast(record,
                      rehearsed(record, record.plan, {.plain = record.plain.value_or(false)}, how));
}

RunSoFar so_far_of(const Supervisor& supervisor) {
  RunSoFar so_far{
      .now = supervisor.now(), .steps = supervisor.reached(), .cost = supervisor.cost()};
  so_far.plain = supervisor.plain();
  if (so_far.plain) {
    so_far.saves_every = supervisor.script_saves_every();
    so_far.steps = std::min(supervisor.saved(), supervisor.terms().steps - 1);
    so_far.unsaved = std::min(supervisor.reached(), supervisor.terms().steps - 1) - so_far.steps;
  }
  for (const RunVm& vm : supervisor.vms()) {
    if (is_there(vm) && !vm.leaving) so_far.machines.push_back({vm.slot, vm.market});
  }
  return so_far;
}

RunOutlook outlook_of(const RunRecord& record, const RunPlan& plan, const RunSoFar& so_far,
                      double slowness) {
  const Forecast forecast =
      rehearsed(record, plan, so_far, {.slowness = slowness, .runs = kOutlookRuns});
  RunOutlook outlook{.time = range_of<TimeRange>(forecast.time),
                     .cost = range_of<CostRange>(forecast.cost)};
  if (record.deadline) outlook.p_deadline = forecast.deadline_kept;
  return outlook;
}

RunOutlook outlook_of(const ReplayedRun& run) {
  RunSoFar so_far = so_far_of(*run.supervisor);
  so_far.steps = std::min(so_far.steps, run.supervisor->terms().steps - 1);
  return outlook_of(run.record, run.plan, so_far, run.supervisor->slowness().value_or(1));
}

}  // namespace stint
