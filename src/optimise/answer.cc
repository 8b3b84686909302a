#include "optimise/answer.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/check.h"
#include "predict/predictor.h"

namespace stint {
namespace {

PlanMarket market_of(const Cluster& cluster) {
  const Market first = cluster.groups.front().market;
  for (const VmGroup& group : cluster.groups) {
    if (group.market != first) return PlanMarket::kMixed;
  }
  return first == Market::kSpot ? PlanMarket::kSpot : PlanMarket::kOnDemand;
}

/// What the money buys, by what the time goes to.
Bill bill_of(const IterationParts& parts, Dollars cost) {
  const Seconds whole = total(parts);
  const Dollars compute = cost * ((parts.forward + parts.backward + parts.update) / whole);
  const Dollars exposed = cost * (parts.exposed_communication / whole);
  return {.compute = compute, .exposed_communication = exposed, .idle = cost - compute - exposed};
}

/// The interval of the whole run: that of an iteration, and that of how many there are.
TimeRange time_range(const IterationTime& iteration, const BatchChoice& choice) {
  const double steps = kEightInTen * choice.deviation;
  const double below = std::hypot(std::log(iteration.mean / iteration.p10), steps);
  const double above = std::hypot(std::log(iteration.p90 / iteration.mean), steps);
  const Seconds mean = choice.iterations * iteration.mean;
  return {.mean = mean, .p10 = std::exp(-below) * mean, .p90 = std::exp(above) * mean};
}

std::string note_of(const Plan& plan, const ResolvedJob& resolved) {
  std::vector<std::string> notes;
  for (const PredictedGroup& group : plan.prediction->groups) {
    if (!group.carried_over_from) continue;
    notes.push_back(
        fmt::format("{} not measured, from {}", group.device, *group.carried_over_from));
  }
  if (!plan.prediction->memory) notes.emplace_back("memory not known");
  for (const ResolvedGroup& group : resolved.groups) {
    if (group.efa && resolved.vms() > 1) notes.emplace_back("EFA not calibrated");
    if (group.times.curve.extrapolates(group.batch_max()))
      notes.emplace_back("batch beyond measured");
  }
  std::sort(notes.begin(), notes.end());
  notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
  return fmt::format("{}", fmt::join(notes, "; "));
}

PredictOptions options_of(const Evaluator& evaluator, const Config& config) {
  PredictOptions options{.global_batch = evaluator.choice_of(config).global_batch,
                         .accumulation = config.accumulation,
                         .collective = config.collective};
  for (const Part& part : config.used()) {
    options.group_workers_per_vm.push_back(part.workers_per_vm);
  }
  return options;
}

}  // namespace

Cluster cluster_of(const Evaluator& evaluator, const Config& config) {
  const PlanQuestion& question = evaluator.question();
  Cluster cluster;
  for (const Part& part : config.used()) {
    const Rental& rental = evaluator.space().rentals[static_cast<std::size_t>(part.rental)];
    const VmType& type = *evaluator.space().machine_of(part.rental).type;
    VmName name{.provider = std::nullopt, .region = std::nullopt, .name = type.name};
    if (!find_type(question.context.catalog, name).ok()) name.provider = type.provider;
    if (!question.constraints.regions.empty()) {
      name.provider = type.provider;
      name.region = rental.region;
    }
    cluster.groups.push_back({.vm = name, .market = rental.market, .count = part.vms});
  }
  return cluster;
}

Plan plan_of(const Evaluator& evaluator, const Found& found) {
  const PlanQuestion& question = evaluator.question();
  const BatchChoice& choice = evaluator.choice_of(found.config);
  const Cluster cluster = cluster_of(evaluator, found.config);
  const auto resolved = resolve(question.context, cluster, options_of(evaluator, found.config));
  CHECK(resolved.ok());
  Plan plan{.cluster = cluster, .market = market_of(cluster)};
  plan.layout = layout_of(*resolved);
  plan.prediction = predict(question.context, *resolved, step_parts).prediction;
  // Both ways to ask about a cluster must agree.
  CHECK(std::abs(plan.prediction->iteration.mean / found.outcome.iteration - 1) < 1e-9);
  const DollarsPerSecond rate = evaluator.rate(found.config);
  plan.time = time_range(plan.prediction->iteration, choice);
  plan.cost = {
      .mean = rate * plan.time.mean, .p10 = rate * plan.time.p10, .p90 = rate * plan.time.p90};
  plan.global_batch = choice.global_batch;
  plan.iterations = static_cast<std::int64_t>(std::llround(std::max(1.0, choice.iterations)));
  plan.bill = bill_of(plan.prediction->iteration.parts, plan.cost.mean);
  const double deviation = evaluator.deviation(found.config, found.outcome);
  const Constraints& constraints = question.constraints;
  if (constraints.deadline) {
    plan.p_deadline = probability_within(*constraints.deadline / found.outcome.time, deviation);
  }
  if (constraints.budget) {
    plan.p_budget = probability_within(*constraints.budget / found.outcome.cost, deviation);
  }
  const std::string note = note_of(plan, *resolved);
  if (!note.empty()) plan.note = note;
  return plan;
}

PlanGoal goal_of(const PlanQuestion& question) {
  PlanGoal goal{.deadline = question.constraints.deadline,
                .budget = question.constraints.budget,
                .rate_max = question.constraints.rate_max,
                .confidence = question.constraints.confidence};
  for (const auto& [objective, name] : names_of(question.objective)) {
    if (objective == question.objective) goal.objective = name;
  }
  return goal;
}

std::vector<std::string> assumptions_of(const Evaluator& evaluator,
                                        const std::vector<Plan>& plans) {
  std::vector<std::string> assumptions = evaluator.question().work.assumptions;
  const CalibratedLaw& law = evaluator.question().context.law;
  if (!law.fitted) {
    assumptions.push_back(fmt::format(
        "Nothing was fitted for these networks: their constants are prior belief (calibration {}).",
        law.name));
  }
  const bool spot = std::any_of(plans.begin(), plans.end(), [](const Plan& plan) {
    return plan.market != PlanMarket::kOnDemand;
  });
  if (spot) {
    assumptions.emplace_back("Spot machines are shown without the risk of interruption.");
  }
  assumptions.emplace_back("Start-up, storage and traffic out of the cloud are not counted.");
  return assumptions;
}

}  // namespace stint
