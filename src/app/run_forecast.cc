#include "app/run_forecast.h"

#include <algorithm>
#include <cmath>

#include "app/run_market.h"
#include "base/normal.h"
#include "run/rehearsal_policy.h"
#include "run/rehearsal_run.h"
#include "run/spot_belief.h"

namespace stint {
namespace {

constexpr int kForecastRuns = 300;
constexpr int kOutlookRuns = 60;             // While somebody looks on.
constexpr std::uint64_t kForecastSeed = 77;  // Another than any run's.

// Measured on the emulated cloud: a VM is made, workers that train stand still for a save.
constexpr Seconds kLaunch = 0.4 * kSecond;
constexpr Seconds kSaveStall = 20 * kMillisecond;

std::vector<int> training_slots_of(const RunPlan& plan) {
  std::vector<int> slots;
  const std::vector<int> kinds = slot_kinds(plan);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (plan.machines[static_cast<std::size_t>(kinds[i])].trains) {
      slots.push_back(static_cast<int>(i));
    }
  }
  return slots;
}

RehearsalWorld world_of(const RunRecord& record, const RunPlan& plan, double slowness) {
  const std::vector<int> slots = training_slots_of(plan);
  const RunStepTime whole = step_time_of(plan, slots);
  const double deviation = std::log(whole.p90 / whole.p10) / (2 * normal_quantile(0.9));
  return {.loss = {},
          .notice = record.notice,
          .launch = kLaunch,
          .join = std::max(record.regroup, record.start_up - kLaunch),
          .regroup = record.regroup,
          .save = record.save_time,
          .save_stall = kSaveStall,
          .slowness = slowness,
          .slowness_deviation = std::max(0.0, deviation)};
}

/// Mean and ends of what rehearsals came to; sorts them.
template <class Q>
void spread(std::vector<Q>& values, Q& mean, Q& p10, Q& p90) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(std::lround(place))];
  };
  mean = Q{};
  for (const Q& value : values) mean += value / static_cast<double>(values.size());
  p10 = at(0.1);
  p90 = at(0.9);
}

struct Rehearsed {
  std::vector<Seconds> times;
  std::vector<Dollars> costs;
  double in_time = 0;  // Share of the rehearsals.
  double in_budget = 0;
  double losses = 0;  // Mean.
};

Rehearsed rehearse_all(const RunRecord& record, const RunPlan& plan, const RunSoFar& so_far,
                       double slowness, int runs) {
  const RunTerms terms = terms_of(record, plan);
  const int places = static_cast<int>(training_slots_of(plan).size());
  RehearsalWorld world = world_of(record, plan, slowness);
  if (record.expected && !record.expected->away) world.loss = 1 / record.expected->stay;
  RehearsalTables tables(spot_belief(record, places).model());
  const Random streams(kForecastSeed);
  Rehearsed all;
  // Four times what it takes undisturbed is drawn; after that spot stays as it is then.
  const Seconds horizon =
      so_far.now + 4 * (record.start_up + static_cast<double>(record.steps - so_far.steps) *
                                              terms.step_time(training_slots_of(plan)));
  for (int i = 0; i < runs; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    if (record.expected && record.expected->away) {
      world.capacity = draw_capacity(*record.expected, places, horizon, streams.fork(number));
    }
    std::unique_ptr<DeadlinePolicy> policy;
    if (record.deadline) policy = tables.policy();
    const RehearsedRun run = rehearse_once(terms, world, so_far, number + 1, std::move(policy));
    all.times.push_back(run.time);
    all.costs.push_back(run.cost);
    const bool trained = run.outcome == RunVerdict::kTrained;
    if (trained && record.deadline && run.time <= *record.deadline) ++all.in_time;
    if (trained && record.budget && run.cost <= *record.budget) ++all.in_budget;
    all.losses += run.losses;
  }
  for (double* sum : {&all.in_time, &all.in_budget, &all.losses}) *sum /= runs;
  return all;
}

}  // namespace

RunForecast forecast_of(const RunRecord& record) {
  Rehearsed all = rehearse_all(record, record.plan, {}, 1, kForecastRuns);
  RunForecast forecast{.losses = all.losses};
  spread(all.times, forecast.time.mean, forecast.time.p10, forecast.time.p90);
  spread(all.costs, forecast.cost.mean, forecast.cost.p10, forecast.cost.p90);
  if (record.deadline) forecast.p_deadline = all.in_time;
  if (record.budget) forecast.p_budget = all.in_budget;
  return forecast;
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
  Rehearsed all = rehearse_all(record, plan, so_far, slowness, kOutlookRuns);
  RunOutlook outlook;
  spread(all.times, outlook.time.mean, outlook.time.p10, outlook.time.p90);
  spread(all.costs, outlook.cost.mean, outlook.cost.p10, outlook.cost.p90);
  if (record.deadline) outlook.p_deadline = all.in_time;
  return outlook;
}

RunOutlook outlook_of(const ReplayedRun& run) {
  RunSoFar so_far = so_far_of(*run.supervisor);
  so_far.steps = std::min(so_far.steps, run.record.steps - 1);
  return outlook_of(run.record, run.plan, so_far, run.supervisor->slowness().value_or(1));
}

}  // namespace stint
