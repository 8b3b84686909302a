#include "run/run_record.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/text.h"
#include "run/worker_layout.h"

namespace stint {
namespace {

/// The number of machines of each kind that trains, in the order of the kinds, among these slots.
std::vector<int> counts_of(const RunPlan& plan, std::span<const int> slots) {
  const std::vector<int> kinds = slot_kinds(plan);
  std::vector<int> counts(plan.machines.size());
  for (const int slot : slots) {
    ++counts[static_cast<std::size_t>(kinds[static_cast<std::size_t>(slot)])];
  }
  std::vector<int> training;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (plan.machines[kind].trains) training.push_back(counts[kind]);
  }
  return training;
}

}  // namespace

std::span<const EnumName<RunCompute>> names_of(RunCompute /*type*/) {
  static constexpr EnumName<RunCompute> kNames[] = {{RunCompute::kReal, "real"},
                                                    {RunCompute::kPacedReal, "paced-real"}};
  return kNames;
}

std::string problem(const RunPlan& it) {
  std::size_t kinds = 0;
  for (const RunMachines& machines : it.machines) kinds += machines.trains ? 1U : 0U;
  if (kinds == 0) return "no machine trains";
  for (const RunStepTime& step : it.steps) {
    if (step.machines.size() != kinds) return "a step time has another number of machine kinds";
  }
  return it.steps.empty() ? "there is no step time" : "";
}

std::string problem(const RunRecord& it) {
  // What the tables of a deadline policy hold, see ClusterTable: a run is set up with far less.
  constexpr double kDecisionsMax = 10'000;
  constexpr double kWeighedMax = 16'777'216;
  if (it.command.empty()) return "there is no command";
  if (it.layout) {
    const auto layout = parse_worker_layout(*it.layout);
    if (!layout.ok()) return layout.error().message;
    int machines = 0;
    for (const RunMachines& kind : it.plan.machines) machines += kind.trains ? kind.count : 0;
    if (layout->model() > machines) return "the layout needs more machines than the plan has";
  }
  if (!it.deadline) return "";
  double machines = 0;
  for (const RunMachines& kind : it.plan.machines) machines += kind.trains ? kind.count : 0;
  const double decisions = *it.deadline / it.tick;
  if (decisions <= kDecisionsMax && machines * machines * decisions <= kWeighedMax) return "";
  return fmt::format(
      "{:g} machines with {:.3g} decisions until the deadline are too many to weigh; the maximum "
      "is {:g} decisions, and {:g} for their product with the square of the machines",
      machines, decisions, kDecisionsMax, kWeighedMax);
}

Result<Loaded<RunRecord>> read_run(std::string_view text, const std::string& source) {
  return read_document<RunRecord>(text, kRunSchema, source);
}

std::string write_run(const RunRecord& record) { return write_document(record, kRunSchema); }

Json run_schema() {
  return schema_document(kRunSchema, "A run of a plan", SchemaWalk::schema_of<RunRecord>());
}

Result<Loaded<RunPlan>> read_run_plan(std::string_view text, const std::string& source) {
  return read_document<RunPlan>(text, kRunPlanSchema, source);
}

std::string write_run_plan(const RunPlan& plan) { return write_document(plan, kRunPlanSchema); }

Json run_plan_schema() {
  return schema_document(kRunPlanSchema, "The machines of a run", SchemaWalk::schema_of<RunPlan>());
}

std::string cluster_text(const RunPlan& plan) {
  std::vector<std::string> kinds;
  for (const RunMachines& machines : plan.machines) {
    if (!machines.trains) continue;
    kinds.push_back(fmt::format("{}x {}{}", machines.count, machines.type,
                                machines.market == Market::kSpot ? ":spot" : ""));
  }
  return join(kinds, " + ");
}

std::vector<int> slot_kinds(const RunPlan& plan) {
  std::vector<int> kinds;
  for (std::size_t kind = 0; kind < plan.machines.size(); ++kind) {
    kinds.insert(kinds.end(), static_cast<std::size_t>(plan.machines[kind].count),
                 static_cast<int>(kind));
  }
  return kinds;
}

RunStepTime step_time_of(const RunPlan& plan, std::span<const int> slots) {
  const std::vector<int> counts = counts_of(plan, slots);
  for (const RunStepTime& step : plan.steps) {
    if (step.machines == counts) return step;
  }
  // An unplanned set of machines takes the time of the nearest number, with the same work for each
  // machine.
  const int wanted = std::accumulate(counts.begin(), counts.end(), 0);
  const RunStepTime* nearest = nullptr;
  int distance = 0;
  for (const RunStepTime& step : plan.steps) {
    const int machines = std::accumulate(step.machines.begin(), step.machines.end(), 0);
    const int off = std::abs(machines - wanted);
    if (nearest != nullptr && off >= distance) continue;
    nearest = &step;
    distance = off;
  }
  CHECK(nearest != nullptr);
  const int machines = std::accumulate(nearest->machines.begin(), nearest->machines.end(), 0);
  const double slower = static_cast<double>(machines) / std::max(1, wanted);
  return {.machines = counts,
          .mean = slower * nearest->mean,
          .p10 = slower * nearest->p10,
          .p90 = slower * nearest->p90};
}

std::int64_t save_ahead(Seconds step) {
  constexpr Seconds kOnItsWay = 300 * kMillisecond;  // Time until an order has reached all workers.
  return 1 + static_cast<std::int64_t>(std::ceil(kOnItsWay / step));
}

int workers_on(const RunMachines& machines) {
  return machines.trains ? machines.workers.value_or(1) : 0;
}

int workers_of(const RunPlan& plan) {
  int workers = 0;
  for (const RunMachines& machines : plan.machines) {
    workers += machines.count * workers_on(machines);
  }
  return workers;
}

std::vector<int> shares_of(const RunPlan& plan, std::span<const int> slots, int global_batch) {
  const std::vector<int> kinds = slot_kinds(plan);
  std::vector<double> weights;
  for (const int slot : slots) {
    const auto kind = static_cast<std::size_t>(kinds[static_cast<std::size_t>(slot)]);
    const RunMachines& machines = plan.machines[kind];
    const int workers = workers_on(machines);
    const double share = static_cast<double>(std::max(1, machines.batch_per_vm)) / workers;
    weights.insert(weights.end(), static_cast<std::size_t>(workers), share);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<int> shares;
  double handed_out = 0;
  int before = 0;
  // Each gets the share that brings the sum so far nearest to its exact value, so that rounding
  // errors do not add up.
  for (const double weight : weights) {
    handed_out += weight;
    const int until = static_cast<int>(std::lround(global_batch * handed_out / sum));
    shares.push_back(until - before);
    before = until;
  }
  return shares;
}

std::string slot_type(const RunPlan& plan, const RunMachines& machines) {
  return fmt::format("{}#{}", machines.type, plan.generation);
}

const RunMachines* kind_of(const RunPlan& plan, const RunVm& vm) {
  const std::vector<int> kinds = slot_kinds(plan);
  if (vm.leaving || vm.slot < 0 || vm.slot >= static_cast<int>(kinds.size())) return nullptr;
  const auto kind = static_cast<std::size_t>(kinds[static_cast<std::size_t>(vm.slot)]);
  const RunMachines& machines = plan.machines[kind];
  return vm.type == slot_type(plan, machines) ? &machines : nullptr;
}

std::string machine_type(const RunVm& vm) { return vm.type.substr(0, vm.type.rfind('#')); }

int batch_of(const RunRecord& record, const RunPlan& plan) {
  return plan.training ? plan.training->batch : record.global_batch;
}

std::int64_t steps_of(const RunRecord& record, const RunPlan& plan) {
  return plan.training ? plan.training->steps : record.steps;
}

RunTerms terms_of(const RunRecord& record, const RunPlan& plan) {
  RunTerms terms;
  std::vector<int> all;
  for (const int kind : slot_kinds(plan)) {
    const RunMachines& machines = plan.machines[static_cast<std::size_t>(kind)];
    if (machines.trains) all.push_back(static_cast<int>(terms.slots.size()));
    terms.slots.push_back({.type = slot_type(plan, machines),
                           .trains = machines.trains,
                           .market = machines.market,
                           .spot = machines.spot,
                           .on_demand = machines.on_demand});
  }
  terms.steps = steps_of(record, plan);
  if (record.layout) terms.machines_multiple = parse_worker_layout(*record.layout)->model();
  terms.machines_min = terms.machines_multiple;
  terms.step_time = [plan, multiple = static_cast<std::size_t>(terms.machines_multiple)](
                        std::span<const int> slots) {
    const std::size_t trains = slots.size() - slots.size() % multiple;
    if (trains == 0) return std::numeric_limits<double>::infinity() * kSecond;
    return step_time_of(plan, slots.first(trains)).mean;
  };
  const RunStepTime whole = step_time_of(plan, all);
  // Steps of one attempt vary less than the interval of a prediction; beyond its ends, and at least
  // a seventh away, the plan was made for a different cluster.
  terms.slower = std::max(1.15, whole.p90 / whole.mean);
  terms.faster = std::min(0.85, whole.p10 / whole.mean);
  terms.save_every = record.checkpoint.interval.value_or(10 * kMinute);
  terms.save_time = record.save_time;
  terms.start_up = record.start_up;
  terms.regroup = record.regroup;
  terms.tick = record.tick;
  terms.deadline = record.deadline;
  terms.budget = record.budget;
  terms.plain = record.plain.value_or(false);
  terms.hang = record.hang.value_or(terms.hang);
  // A search makes its own plans, and one run may not change machines that it shares.
  // A new plan may have machines that do not fit the layout.
  terms.replans = !plan.training && !record.sharing && !record.layout;
  return terms;
}

}  // namespace stint
