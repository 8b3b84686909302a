#include "app/run/run_replan.h"

#include <algorithm>
#include <fmt/format.h>

#include "app/run/run_forecast.h"
#include "app/run/run_plans.h"
#include "app/run/run_setup.h"
#include "base/file.h"
#include "base/text.h"
#include "load/predict_inputs.h"
#include "plan/plan.h"
#include "run/run_folder.h"

namespace stint {
namespace {

constexpr double kLeastGain = 0.1;       // Of what is left to pay; a move has risks of its own.
constexpr double kNearlyAsSure = 0.05;   // Of keeping the deadline.
constexpr std::size_t kClustersMax = 6;  // Of the answer.

/// The plan with the spot prices of today.
RunPlan at_present_prices(RunPlan plan, const RunTerms& terms) {
  for (RunMachines& machines : plan.machines) {
    for (const RunSlot& slot : terms.slots) {
      if (slot.type == slot_type(plan, machines)) machines.spot = slot.spot;
    }
  }
  return plan;
}

/// The clusters of the answer, with all step times; those that cannot be run are left out.
std::vector<RunPlan> other_clusters(const Environment& environment, const std::string& folder,
                                    const RunRecord& record, const RunPlan& plan) {
  std::vector<RunPlan> plans;
  const auto text = read_file(folder + "/plan.json");
  if (!text.ok()) return plans;
  const auto answer = read_plan(*text, folder + "/plan.json");
  const auto inputs =
      load_predict_inputs(environment, job_path(folder), "", std::string(kLocalProvider));
  if (!answer.ok() || !inputs.ok()) return plans;
  std::vector<Plan> rows = answer->noun.plans;
  rows.insert(rows.end(), answer->noun.front.begin(), answer->noun.front.end());
  for (const Plan& row : rows) {
    if (plans.size() == kClustersMax) break;
    auto made = run_plan_of(
        *inputs, row.cluster,
        {.global_batch = record.global_batch, .micro_batch = plan.machines.front().micro_batch});
    if (!made.ok() || cluster_text(*made) == cluster_text(plan)) continue;
    const bool known = std::any_of(plans.begin(), plans.end(), [&](const RunPlan& it) {
      return cluster_text(it) == cluster_text(*made);
    });
    if (known) continue;
    made->generation = plan.generation;
    for (const RunMachines& machines : plan.machines) {
      if (!machines.trains) made->machines.push_back(machines);
    }
    plans.push_back(std::move(*made));
  }
  return plans;
}

/// Whether the machines that train now were as fast as planned when they began.
bool began_as_planned(const Supervisor& supervisor) {
  const RunTerms& terms = supervisor.terms();
  const auto ratio = supervisor.slowness_first();
  return supervisor.attempt() && ratio && *ratio <= terms.slower && *ratio >= terms.faster;
}

/// What a way on comes to, machines that it keeps being kept.
WeighedWay weigh(const RunRecord& record, const Supervisor& supervisor, WayOn way) {
  RunSoFar so_far = so_far_of(supervisor);
  so_far.steps = std::min(so_far.steps, record.steps - 1);
  Dollars move;
  if (way.moves) {
    so_far.machines.clear();
    so_far.unsaved = 0;
    // Until the new ones train, those that are there do, and are paid for.
    for (const RunVm& vm : supervisor.vms()) {
      if (is_there(vm) && vm.trains) move += vm.price * record.start_up;
    }
  }
  const RunOutlook outlook = outlook_of(record, way.plan, so_far, way.slowness);
  return {.way = std::move(way),
          .time = outlook.time.mean - so_far.now,
          .cost = outlook.cost.mean - so_far.cost + move,
          .p_deadline = outlook.p_deadline};
}

std::string way_text(const WeighedWay& way) {
  std::string text = fmt::format("{}: {:.0f} s more for ${:.4f}", way.way.name,
                                 way.time.in(kSecond), way.cost.in(kDollar));
  if (way.p_deadline) text += fmt::format(", P(deadline) {:.0f} %", 100 * *way.p_deadline);
  return text;
}

}  // namespace

std::size_t best_way(const std::vector<WeighedWay>& ways) {
  double surest = 0;
  for (const WeighedWay& way : ways) surest = std::max(surest, way.p_deadline.value_or(0));
  const auto keeps = [&](const WeighedWay& way) {
    return !way.p_deadline || *way.p_deadline >= surest - kNearlyAsSure;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < ways.size(); ++i) {
    if (!keeps(ways[i])) continue;
    const bool cheaper = ways[i].cost < ways[best].cost;
    const bool pays = ways[i].cost < (1 - kLeastGain) * ways[0].cost;
    if (!keeps(ways[best]) || (cheaper && (pays || !keeps(ways[0])))) best = i;
  }
  return best;
}

std::string reason_of(const std::vector<WeighedWay>& ways, std::size_t chosen,
                      const std::string& cause) {
  std::vector<std::string> texts;
  for (const WeighedWay& way : ways) texts.push_back(way_text(way));
  return fmt::format(
      "{} because {}: {}",
      chosen == 0 ? "the plan is kept" : "a new plan, " + ways[chosen].way.name + ",", cause,
      join(texts, "; "));
}

std::vector<WayOn> ways_on(const Environment& environment, const std::string& folder,
                           const RunRecord& record, const Supervisor& supervisor,
                           const RunPlan& plan, bool changed_in_mid_run) {
  const double slowness = supervisor.slowness().value_or(1);
  const RunPlan present = at_present_prices(plan, supervisor.terms());
  std::vector<WayOn> ways = {{.name = "stay", .plan = present, .slowness = slowness}};
  if (changed_in_mid_run && slowness > 1) {
    WayOn fresh{.name = "new machines of the same kind", .plan = present, .moves = true};
    ++fresh.plan.generation;
    ways.push_back(std::move(fresh));
  }
  for (RunPlan& other : other_clusters(environment, folder, record, plan)) {
    std::string name = cluster_text(other);
    ways.push_back({.name = std::move(name),
                    .plan = at_present_prices(std::move(other), supervisor.terms()),
                    .slowness = changed_in_mid_run ? 1 : slowness,
                    .moves = true});
  }
  return ways;
}

Replanning think_again(const Environment& environment, const std::string& folder,
                       const RunRecord& record, const Supervisor& supervisor, const RunPlan& plan,
                       const std::string& reason) {
  const bool changed = began_as_planned(supervisor);
  std::vector<WeighedWay> ways;
  for (WayOn& way : ways_on(environment, folder, record, supervisor, plan, changed)) {
    ways.push_back(weigh(record, supervisor, std::move(way)));
  }
  const std::size_t chosen = best_way(ways);
  Replanning thought{.reason = reason_of(ways, chosen, reason)};
  if (chosen > 0) thought.plan = std::move(ways[chosen].way.plan);
  return thought;
}

}  // namespace stint
