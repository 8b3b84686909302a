#include "app/risk/simulate_plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "app/plan/plan_cases.h"
#include "base/check.h"
#include "base/file.h"
#include "base/normal.h"
#include "base/text.h"
#include "load/plan_files.h"
#include "load/predict_inputs.h"
#include "optimise/spot_risk.h"
#include "risk/group_loss.h"

namespace stint {
namespace {

/// A plan with the optimiser's inputs.
struct PlannedConfig {
  Config config;
  RiskedRun run;
  std::string region;
};

Error not_simulated(const Plan& plan, std::string_view why) {
  return bad_input(
      fmt::format("cannot simulate the plan {}: {}", printable(to_text(plan.cluster)), why));
}

/// Rebuilds configurations from plans.
class Rebuilt {
 public:
  Rebuilt(const PlanQuestion& question, const Space& space, const Plan& plan)
      : question_(question), space_(space), plan_(plan), risk_(question, space) {}

  Result<PlannedConfig> config() const {
    std::set<std::string> regions;
    for (const Rental& rental : space_.rentals) regions.insert(rental.region);
    std::optional<PlannedConfig> best;
    for (const std::string& region : regions) {
      auto found = in_region(region);
      if (found && (!best || strangeness(*found) < strangeness(*best))) best = std::move(found);
    }
    if (best) return std::move(*best);
    return not_simulated(
        plan_, "the catalogue lacks its machines, or a machine for its checkpoints, in one region");
  }

 private:
  std::optional<int> rental_of(const VmGroup& group, const std::string& region) const {
    const auto type = find_type(question_.context.catalog, group.vm);
    if (!type.ok()) return std::nullopt;
    if (group.vm.region && to_lower(*group.vm.region) != to_lower(region)) return std::nullopt;
    for (int i = 0; i < static_cast<int>(space_.rentals.size()); ++i) {
      const Rental& rental = space_.rentals[static_cast<std::size_t>(i)];
      const bool same = rental.market == group.market && rental.region == region;
      if (same && space_.machine_of(i).type == *type) return i;
    }
    return std::nullopt;
  }

  std::optional<PlannedConfig> in_region(const std::string& region) const {
    const auto& groups = plan_.cluster.groups;
    PlannedConfig found{.region = region};
    if (groups.empty() || groups.size() > found.config.parts.size()) return std::nullopt;
    found.config.kinds = static_cast<int>(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto rental = rental_of(groups[i], region);
      if (!rental) return std::nullopt;
      found.config.parts[i] = {.rental = *rental, .vms = groups[i].count};
    }
    if (plan_.checkpoint) {
      found.config.save = {.place = plan_.checkpoint->place,
                           .receivers = plan_.checkpoint->receivers.value_or(0)};
    }
    if (!keeps(found.config)) return std::nullopt;
    const Seconds work = static_cast<double>(*plan_.iterations) * plan_.prediction->iteration.mean;
    const auto run = risk_.run(found.config, work, LossBelief::kTypical);
    if (!run) return std::nullopt;
    found.run = *run;
    return found;
  }

  /// Whether the machines that receive the checkpoints are available.
  bool keeps(const Config& config) const {
    const CheckpointPlace place = config.save.place;
    return place == CheckpointPlace::kObjectStore ||
           std::any_of(config.used().begin(), config.used().end(), [&](const Part& part) {
             const Rental& own = space_.rentals[static_cast<std::size_t>(part.rental)];
             return place == CheckpointPlace::kTier ? !own.spot || own.receiver : !own.spot;
           });
  }

  /// The difference between its expected cost and the plan's; machines that keep checkpoints are
  /// left out, as policies may choose others than ours.
  double strangeness(const PlannedConfig& found) const {
    DollarsPerSecond rate = found.run.storage;
    for (const Part& part : found.config.used()) {
      rate += part.vms * space_.rentals[static_cast<std::size_t>(part.rental)].price;
    }
    const Dollars cost = rate * found.run.time.mean + found.run.replacements;
    const Dollars wanted = plan_.cost.mean - (plan_.bill ? plan_.bill->anchors : Dollars());
    return std::abs(cost / wanted - 1);
  }

  const PlanQuestion& question_;
  const Space& space_;
  const Plan& plan_;
  SpotRisk risk_;
};

/// With n machines of one age the simulator's pool has 1 + share · chance · (n − 1) times fewer
/// loss events than n independent ones; the chance is set so that this is the model's number.
CommonShock shock_of(const GroupLoss& group, int machines) {
  if (machines < 2 || group.shared <= 0) return {};
  const double events = events_rate(group, machines, 1 / kSecond).in(1 / kSecond);
  const double taken_along = machines / events - 1;
  return {.share = group.shared,
          .chance = std::clamp(taken_along / (group.shared * (machines - 1)), 0.0, 1.0)};
}

Hazard hazard_of(const VmType& type, const Rental& rental, const SpotPrior& prior) {
  for (const Offer& offer : type.offers) {
    const bool same = to_lower(offer.region) == to_lower(rental.region) && offer.spot &&
                      offer.spot->rate == rental.price;
    if (same && offer.interruption) return advised_hazard(*offer.interruption).typical;
  }
  return prior.hazard.typical;
}

RunGroup group_of(const PlanQuestion& question, const Space& space, const Part& part) {
  const Rental& own = space.rentals[static_cast<std::size_t>(part.rental)];
  RunGroup group{.market = own.market,
                 .pool = {.count = part.vms, .hazard = Hazard::constant({})},
                 .price = own.price,
                 .price_on_demand = own.price};
  if (!own.spot) return group;
  const SpotPrior& prior = question.outlook.spot;
  group.pool.hazard = hazard_of(*space.machine_of(part.rental).type, own, prior);
  group.pool.shock = shock_of(prior.group, part.vms);
  // Waits are exponential for the optimiser, so their deviation is their mean.
  group.pool.wait = {.at_once = 1 - kSpotMissing, .otherwise = {kSpotMissingFor, kSpotMissingFor}};
  group.price_on_demand = own.spot->on_demand.value_or(own.price);
  return group;
}

void add_saves(const Plan& plan, const RiskedRun& run, RunSetup& setup) {
  setup.without_notice = run.without_notice;
  setup.storage = run.storage;
  setup.anchors = run.anchors;
  const bool tier = plan.checkpoint && plan.checkpoint->place == CheckpointPlace::kTier;
  if (tier && plan.bill) setup.anchors = plan.bill->anchors / plan.time.mean;
  if (!run.save) return;
  setup.job.save = *run.save;
  if (!plan.checkpoint || !plan.checkpoint->interval) return;
  // A checkpoint must be safe before the next.
  setup.job.schedule.interval = std::max(*plan.checkpoint->interval, run.save->transfer);
}

/// Deviation of the logarithm of the plan's work: its iterations' time and their number.
double deviation_of(const PlanQuestion& question, const Plan& plan) {
  const IterationTime& iteration = plan.prediction->iteration;
  const double time = std::log(iteration.p90 / iteration.p10) / (2 * normal_quantile(0.9));
  double number = 0;
  for (const BatchChoice& choice : question.work.choices) {
    if (choice.global_batch == plan.global_batch) number = choice.deviation;
  }
  return std::hypot(std::max(0.0, time), number);
}

/// Useful work in which workers wait is idle time on the bill, as in the plan's.
void move_waiting(double share, Bill& bill) {
  const Dollars waiting = share * (bill.compute + bill.exposed_communication);
  bill.compute -= waiting;
  bill.idle += waiting;
}

Result<std::optional<AvailabilityTrace>> trace_of(const std::string& file, const PlannedRun& run) {
  if (file.empty()) return std::optional<AvailabilityTrace>();
  const auto& groups = run.setup.groups;
  const auto spot = std::count_if(groups.begin(), groups.end(), [](const RunGroup& group) {
    return group.market == Market::kSpot;
  });
  if (spot != 1) {
    return bad_usage(
        fmt::format("--trace counts the machines of one pool, but the plan has {} pools",
                    spot == 0 ? "none" : fmt::to_string(spot)));
  }
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  auto trace = read_availability_trace(*text, file);
  if (!trace.ok()) return trace.error();
  return std::optional(std::move(*trace));
}

}  // namespace

Result<PlannedRun> planned_run(const PlanQuestion& question, const Space& space, const Plan& plan) {
  if (!plan.prediction || plan.iterations.value_or(0) < 1) {
    return not_simulated(plan, "it lacks the number of iterations or their length");
  }
  const auto found = Rebuilt(question, space, plan).config();
  if (!found.ok()) return found.error();
  const IterationTime& iteration = plan.prediction->iteration;
  PlannedRun run{.region = found->region, .deviation = deviation_of(question, plan)};
  RunSetup& setup = run.setup;
  setup.job.work = static_cast<double>(*plan.iterations) * iteration.mean;
  setup.exposed_communication = iteration.parts.exposed_communication / iteration.mean;
  run.waiting = (iteration.parts.straggling + iteration.parts.input) / iteration.mean;
  setup.start_up = question.outlook.on_demand_start_up;
  bool spot = false;
  bool replaced = true;  // Whether all machines that may be lost are replaced on demand.
  for (const Part& part : found->config.used()) {
    const Rental& own = space.rentals[static_cast<std::size_t>(part.rental)];
    setup.groups.push_back(group_of(question, space, part));
    spot = spot || own.spot;
    replaced = replaced && (!own.spot || own.spot->on_demand);
  }
  if (!spot) return run;
  setup.start_up = question.outlook.spot_start_up;
  if (replaced) setup.patience = Seconds();
  add_saves(plan, found->run, setup);
  return run;
}

Status check(const SimulateOptions& options) {
  if (options.runs >= 1 && options.runs <= kRunsMax) return {};
  return bad_usage(fmt::format("--runs must be from 1 to {}", kRunsMax));
}

PlanRuns simulate_planned(const PlannedRun& run, const PlanGoal& goal,
                          const SimulateOptions& options, const AvailabilityTrace* trace) {
  CHECK(options.runs >= 1);
  const Random streams(options.seed);
  std::vector<RunOutcome> outcomes;
  RunSetup setup = run.setup;
  PlanRuns runs;
  double in_budget = 0;
  for (int i = 0; i < options.runs; ++i) {
    Random random = streams.fork(static_cast<std::uint64_t>(i));
    const double error = run.deviation * random.normal();
    setup.job.work = run.setup.job.work * (options.prediction_error ? std::exp(error) : 1);
    RunOutcome outcome;
    if (trace == nullptr) {
      outcome = simulate_run(setup, random);
    } else {
      const Seconds length = static_cast<double>(trace->counts.size()) * trace->gap;
      const Seconds start = random.uniform() * length;
      outcome = replay_run(setup, *trace, start, random);
    }
    move_waiting(run.waiting, outcome.bill);
    runs.machines_lost += static_cast<double>(outcome.machines_lost) / options.runs;
    const bool kept = goal.budget && outcome.finished && total(outcome.bill) <= *goal.budget;
    in_budget += kept ? 1.0 / options.runs : 0;
    outcomes.push_back(std::move(outcome));
  }
  runs.summary = summary_of(outcomes, goal.deadline);
  if (goal.budget) runs.p_budget = in_budget;
  return runs;
}

Result<SimulateReport> simulate_plan(const Environment& environment,
                                     const SimulateRequest& request) {
  const Status fine = check(request.options);
  if (!fine.ok()) return fine.error();
  auto picked = load_plan(environment, request.plan);
  if (!picked.ok()) return picked.error();
  auto job = request.job.empty() ? load_planned_job(picked->answer) : load_job(request.job);
  if (!job.ok()) return job.error();
  const Plan& plan = picked->answer.plans[picked->row];
  auto inputs =
      load_predict_inputs(environment, std::move(*job), request.calibration, plan.cluster);
  if (!inputs.ok()) return inputs.error();
  const auto question = plan_question(*inputs, {.constraints = {.machines = {.unusual = true}}});
  if (!question.ok()) return question.error();
  const auto space = plan_space(*question, Sharding::kAllowed);
  if (!space.ok()) return space.error();
  auto run = planned_run(*question, *space, plan);
  if (!run.ok()) return run.error();
  if (request.wait) run->setup.patience.reset();
  const auto trace = trace_of(request.trace, *run);
  if (!trace.ok()) return trace.error();
  SimulateReport report{.job = inputs->job.name,
                        .plan = plan,
                        .goal = picked->answer.goal.value_or(PlanGoal{}),
                        .region = run->region,
                        .warnings = std::move(picked->warnings)};
  if (*trace) report.trace = (*trace)->name;
  report.runs = simulate_planned(*run, report.goal, request.options, *trace ? &**trace : nullptr);
  report.warnings.insert(report.warnings.end(), inputs->warnings.begin(), inputs->warnings.end());
  return report;
}

}  // namespace stint
