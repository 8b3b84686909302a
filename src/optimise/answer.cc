#include "optimise/answer.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/check.h"
#include "predict/predictor.h"
#include "predict/sharded/layout_answer.h"
#include "risk/checkpoint_schedule.h"

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
Bill bill_of(const IterationParts& parts, DollarsPerSecond rate, const RiskedRun& run) {
  const Seconds whole = total(parts);
  const Dollars work = rate * run.time.useful;
  const Dollars compute = work * ((parts.forward + parts.backward + parts.update) / whole);
  const Dollars exposed = work * (parts.exposed_communication / whole);
  const Dollars idle = work - compute - exposed;  // Less than rounding leaves is none.
  return {.compute = compute + run.replacements,
          .exposed_communication = exposed,
          .work_redone = rate * run.time.redone,
          .saving = rate * run.time.saving,
          .set_up = rate * (run.time.starting - run.unpaid),
          .idle = idle > 1e-12 * work ? idle : Dollars{},
          .anchors = run.anchors * run.time.mean,
          .storage = run.storage * run.time.mean};
}

/// How the state is saved; without spot machines nothing makes it necessary.
std::optional<CheckpointSchedule> schedule_of(const Evaluator& evaluator, const Config& config,
                                              const RiskedRun& run) {
  if (!run.save) return std::nullopt;
  CheckpointSchedule schedule{.place = config.save.place,
                              .stall = run.save->stall,
                              .transfer = run.save->transfer,
                              .fits_in_notice = run.fits_in_notice};
  if (run.time.interval < run.time.useful) schedule.interval = run.time.interval;
  const double between = run.time.losses * run.returns;
  if (between > 0) {
    // Losses that hardly ever return the run to a checkpoint call for none within it.
    const Seconds daly = daly_interval(run.save->stall, run.time.mean / between);
    if (daly < run.time.useful) schedule.daly_interval = daly;
  }
  if (config.save.place != CheckpointPlace::kTier) return schedule;
  schedule.receivers = config.save.receivers;
  for (const Part& part : config.used()) {
    const Rental& rental = evaluator.space().rentals[static_cast<std::size_t>(part.rental)];
    if (rental.receiver) schedule.receiver = rental.receiver->type->name;
  }
  return schedule;
}

/// What the age of prices adds to the interval of the cost; nothing where they are known.
std::optional<PriceDoubt> prices_of(const Evaluator& evaluator, const Found& found,
                                    const Plan& plan) {
  const double deviation = evaluator.price_deviation(found);
  if (deviation <= 0) return std::nullopt;
  PriceDoubt doubt{.deviation = deviation};
  for (const Part& part : found.config.used()) {
    const Rental& rental = evaluator.space().rentals[static_cast<std::size_t>(part.rental)];
    if (rental.price_deviation <= 0) continue;
    const int days = days_between(rental.date, evaluator.question().outlook.prices->today);
    doubt.oldest_days = std::max(doubt.oldest_days, days);
  }
  // Variances add up; without doubt about prices the cost is as uncertain as the time.
  const double time = std::log(plan.time.p90 / plan.time.p10);
  const double cost = std::log(plan.cost.p90 / plan.cost.p10);
  doubt.share = std::clamp(1 - std::pow(time / cost, 2), 0.0, 1.0);
  return doubt;
}

std::string note_of(const Plan& plan, const ResolvedJob& resolved) {
  std::vector<std::string> notes;
  for (const PredictedGroup& group : plan.prediction->groups) {
    if (group.unvalidated) notes.push_back(fmt::format("{} unvalidated", group.device));
    if (!group.carried_over_from) continue;
    notes.push_back(
        fmt::format("{} not measured, from {}", group.device, *group.carried_over_from));
  }
  if (!plan.prediction->memory) notes.emplace_back("memory unknown");
  for (const ResolvedGroup& group : resolved.groups) {
    const bool far = group.transfer && group.transfer->weight < kFarWeight;
    if (far && resolved.vms() > 1) notes.emplace_back("network not measured");
    const ComputeCurve& curve = group.times.curve;
    if (curve.extrapolates(group.batch_max())) notes.emplace_back("batch beyond measured");
    if (curve.below_measured(group.batch_max())) notes.emplace_back("batch below measured");
  }
  std::sort(notes.begin(), notes.end());
  notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
  return fmt::format("{}", fmt::join(notes, "; "));
}

/// The parts of a sharded iteration as those of any iteration: collectives are communication, the
/// bubble of a pipeline is waiting for others, and the host counts with the update.
IterationParts common_parts(const LayoutParts& parts) {
  return {.forward = parts.forward,
          .backward = parts.backward,
          .exposed_communication =
              parts.tensor + parts.gathers + parts.point_to_point + parts.gradients,
          .straggling = parts.bubble,
          .input = {},
          .update = parts.update + parts.host};
}

/// Says how the model is split instead of how replicas share the batch.
void set_sharding(const Evaluator& evaluator, const Found& found, Plan& plan) {
  const Part& part = found.config.parts[0];
  const LayoutQuestion asked =
      evaluator.layout_question(part.rental, part.vms, found.config.choice);
  const std::vector<LayoutChoice> best = best_layouts(asked, 2);
  CHECK(!best.empty());
  const LayoutEstimate chosen = estimate_of(asked, best.front());
  plan.parallel_layout = to_text(chosen.layout);
  plan.sharding = chosen;
  if (best.size() > 1) plan.runner_up = estimate_of(asked, best[1]);
  const int steps = asked.global_batch / (chosen.layout.data * chosen.layout.micro_batch);
  plan.layout->accumulation = steps;
  plan.layout->setups.front().batch_per_worker = chosen.layout.micro_batch;
  Prediction& prediction = *plan.prediction;
  prediction.iteration = {.mean = chosen.mean,
                          .p10 = chosen.p10,
                          .p90 = chosen.p90,
                          .parts = common_parts(chosen.parts)};
  prediction.global_batch = asked.global_batch;
  prediction.throughput_samples_per_second = asked.global_batch / chosen.mean.in(kSecond);
  if (prediction.price) {
    prediction.cost_per_million_samples =
        prediction.price->rate * chosen.mean * (1e6 / asked.global_batch);
  }
  prediction.memory =
      MemoryVerdict{.fits = true, .needed = chosen.reserved, .available = chosen.available};
  prediction.fitting.reset();
  prediction.groups.front().batches = {
      {.workers = part.vms * part.workers_per_vm, .batch_per_worker = chosen.layout.micro_batch}};
  prediction.assumptions = {fmt::format(
      "The model is split over the workers by the layout '{}', in {} micro-batches of each "
      "pipeline.",
      to_text(chosen.layout), steps)};
  if (!chosen.unvalidated.empty()) {
    prediction.assumptions.push_back(
        fmt::format("Unvalidated parts of the layout: {}.", fmt::join(chosen.unvalidated, ", ")));
  }
}

/// Remarks on a plan that shards, as note_of has them of replicas.
std::string sharding_note(const Plan& plan) {
  std::vector<std::string> notes;
  for (const std::string& it : plan.sharding->unvalidated) {
    notes.push_back(fmt::format("{} unvalidated", it));
  }
  return fmt::format("{}", fmt::join(notes, "; "));
}

PredictOptions options_of(const Evaluator& evaluator, const Config& config) {
  // There may be more workers than samples; set_sharding says what each of them does.
  if (evaluator.shards(config)) return {.batch_per_worker = 1};
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
  if (evaluator.shards(found.config)) set_sharding(evaluator, found, plan);
  // Both ways to ask about a cluster must agree.
  CHECK(std::abs(plan.prediction->iteration.mean / found.outcome.iteration - 1) < 1e-9);
  const auto run = evaluator.risk().run(found.config, found.outcome.work, LossBelief::kTypical);
  CHECK(run.has_value());
  const double deviation = evaluator.deviation(found.config, found.outcome);
  const auto wide = [&](double iteration) {  // By how much the logarithm of the work may be off.
    return std::hypot(iteration / kEightInTen, choice.deviation);
  };
  const IterationTime& iteration = plan.prediction->iteration;
  const double below = wide(std::log(iteration.mean / iteration.p10));
  const double above = wide(std::log(iteration.p90 / iteration.mean));
  plan.time = {.mean = found.outcome.time,
               .p10 = evaluator.time_at(found, 0.1, below),
               .p90 = evaluator.time_at(found, 0.9, above)};
  plan.cost = {.mean = found.outcome.cost,
               .p10 = evaluator.cost_at(found, 0.1, below),
               .p90 = evaluator.cost_at(found, 0.9, above)};
  plan.prices = prices_of(evaluator, found, plan);
  plan.global_batch = choice.global_batch;
  plan.iterations = static_cast<std::int64_t>(std::llround(std::max(1.0, choice.iterations)));
  plan.bill = bill_of(plan.prediction->iteration.parts, evaluator.rate(found.config), *run);
  plan.checkpoint = schedule_of(evaluator, found.config, *run);
  if (run->save) plan.losses = run->time.losses;
  const Constraints& constraints = question.constraints;
  if (constraints.deadline) {
    plan.p_deadline = evaluator.p_within(found, *constraints.deadline, deviation);
  }
  if (constraints.budget) {
    plan.p_budget = evaluator.p_within(found, *constraints.budget, deviation);
  }
  const std::string note = plan.sharding ? sharding_note(plan) : note_of(plan, *resolved);
  if (!note.empty()) plan.note = note;
  return plan;
}

PlanGoal goal_of(const PlanQuestion& question) {
  PlanGoal goal{.deadline = question.constraints.deadline,
                .budget = question.constraints.budget,
                .rate_max = question.constraints.rate_max,
                .confidence = question.constraints.confidence};
  const bool weighed = question.constraints.deadline && question.objective == Objective::kCost;
  if (weighed && question.constraints.miss) goal.miss_charge = question.constraints.miss->bills;
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
        "Nothing was fitted for these networks: their constants are priors (calibration {}).",
        law.name));
  }
  const bool spot = std::any_of(plans.begin(), plans.end(), [](const Plan& plan) {
    return plan.market != PlanMarket::kOnDemand;
  });
  if (spot) {
    assumptions.emplace_back(
        "Spot interruption rates are the catalogue's bands, and otherwise the prior; 'stint risk "
        "survive' shows both.");
    assumptions.push_back(
        fmt::format("An interrupted spot machine is replaced on-demand while there is no spot "
                    "capacity, which is assumed {} times in ten, for {:.1f} h on average.",
                    std::lround(10 * kSpotMissing.share), kSpotMissing.mean.in(kHour)));
    assumptions.emplace_back(
        "The machines that are left go on training meanwhile, where each holds the whole state.");
    assumptions.emplace_back(
        "Checkpoints are asynchronous and sharded over the workers, as stint.Job writes them; a "
        "script that writes them from rank 0 stalls longer.");
    if (evaluator.risk().assumes_bytes()) {
      assumptions.push_back(
          fmt::format("A checkpoint is assumed to have {:.3g} MB: the job does not give its size, "
                      "and optimizers keep two numbers per parameter.",
                      evaluator.risk().checkpoint_bytes().in(kMB)));
    }
  }
  assumptions.emplace_back("Traffic out of the cloud is not included.");
  return assumptions;
}

}  // namespace stint
