#include "app/risk/simulate_plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "app/plan/plan_cases.h"
#include "base/check.h"
#include "base/file.h"
#include "base/normal.h"
#include "base/text.h"
#include "load/plan_files.h"
#include "load/predict_inputs.h"
#include "optimise/spot_risk.h"
#include "risk/checkpoint_schedule.h"

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
    DollarsPerSecond rate;
    for (const Part& part : found.config.used()) {
      rate += part.vms * space_.rentals[static_cast<std::size_t>(part.rental)].price;
    }
    const Seconds paid = found.run.time.mean - found.run.unpaid;
    const Dollars cost = rate * paid + found.run.replacements;
    const Dollars wanted = plan_.cost.mean - (plan_.bill ? plan_.bill->anchors : Dollars());
    return std::abs(cost / wanted - 1);
  }

  const PlanQuestion& question_;
  const Space& space_;
  const Plan& plan_;
  SpotRisk risk_;
};

Hazard hazard_of(const VmType& type, const Rental& rental, const SpotPrior& prior) {
  for (const Offer& offer : type.offers) {
    const bool same = to_lower(offer.region) == to_lower(rental.region) && offer.spot &&
                      offer.spot->rate == rental.price;
    if (same && offer.interruption) return advised_hazard(*offer.interruption).typical;
  }
  return prior.hazard.typical;
}

/// The slots of a part, and their pool.
void add_slots(const PlanQuestion& question, const Space& space, const Part& part,
               PlannedRun& run) {
  const Rental& own = space.rentals[static_cast<std::size_t>(part.rental)];
  const VmType& type = *space.machine_of(part.rental).type;
  std::optional<int> pool;
  if (own.spot) {
    const SpotPrior& prior = question.outlook.spot;
    pool = static_cast<int>(run.world.pools.size());
    run.world.pools.push_back({.hazard = hazard_of(type, own, prior),
                               .group = prior.group,
                               .missing = kSpotMissing.share,
                               .missing_for = kSpotMissing.mean});
    run.world.notice = own.spot->notice.value_or(Seconds{});
    run.world.without_notice = kLossesUnannounced;
  }
  const DollarsPerSecond on_demand = own.spot ? own.spot->on_demand.value_or(own.price) : own.price;
  for (int vm = 0; vm < part.vms; ++vm) {
    run.terms.slots.push_back(
        {.type = type.name, .market = own.market, .spot = own.price, .on_demand = on_demand});
    run.world.pool_of_slot.push_back(pool);
  }
}

/// Decisions of a run without limits. Fewer would make checkpoints late, and the deadline is kept
/// with two ticks to spare.
constexpr double kTicks = 300;
constexpr Seconds kTickMin = 10 * kSecond;

void add_times(const PlanQuestion& question, const Plan& plan, PlannedRun& run) {
  const IterationTime& iteration = plan.prediction->iteration;
  const Outlook& outlook = question.outlook;
  const bool spot = !run.world.pools.empty();
  const RandomTime& start = spot ? outlook.spot_start_up : outlook.on_demand_start_up;
  RunTerms& terms = run.terms;
  RehearsalWorld& world = run.world;
  const auto machines = static_cast<double>(terms.slots.size());
  terms.steps = *plan.iterations;
  terms.step_time = [step = iteration.mean, machines](std::span<const int> slots) {
    return machines / static_cast<double>(slots.size()) * step;
  };
  terms.slower = std::max(terms.slower, iteration.p90 / iteration.mean);
  terms.start_up = start.mean;
  terms.regroup = outlook.regroup;
  const Seconds work = static_cast<double>(terms.steps) * iteration.mean;
  terms.tick = std::max(kTickMin, work / kTicks);
  terms.save_every = kNever;
  terms.patience = kWorkTimesMax * work;
  terms.replans = false;
  // A machine is paid from its launch on.
  world.launch = {};
  world.join = start.mean;
  world.join_deviation = start.deviation;
  world.regroup = outlook.regroup;
  world.save = {};
}

void add_saves(const Plan& plan, const RiskedRun& risked, PlannedRun& run) {
  run.storage = risked.storage;
  run.anchors = risked.anchors;
  const bool tier = plan.checkpoint && plan.checkpoint->place == CheckpointPlace::kTier;
  if (tier && plan.bill) run.anchors = plan.bill->anchors / plan.time.mean;
  if (!risked.save) return;
  RunTerms& terms = run.terms;
  terms.start_up += risked.save->restore;
  terms.save_time = risked.save->until_safe();
  run.world.save = risked.save->until_safe();
  run.world.save_order = risked.save->until_safe();  // A plan ends with its last step.
  run.world.save_stall = risked.save->stall;
  run.world.restore = risked.save->restore;
  if (!plan.checkpoint || !plan.checkpoint->interval) return;
  // A checkpoint must be safe before the next, and is made at a tick.
  const Seconds between =
      std::max(*plan.checkpoint->interval + risked.save->stall, risked.save->until_safe());
  terms.tick = between / std::ceil(between / terms.tick);
  terms.save_every = (1 - 1e-6) * between;
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

/// The bill of a rehearsal. Useful work in which workers wait is idle time, as in the plan's.
Bill bill_of(const PlannedRun& run, const RehearsedRun& rehearsed) {
  const BillParts& parts = rehearsed.parts;
  return {.compute = (1 - run.exposed - run.waiting) * parts.training,
          .exposed_communication = run.exposed * parts.training,
          .work_redone = parts.redone,
          .saving = parts.saving,
          .set_up = parts.starting + parts.standing,
          .idle = run.waiting * parts.training,
          .anchors = run.anchors * rehearsed.time,
          .storage = run.storage * rehearsed.time};
}

/// The trace from a tick on, again and again.
void follow(const AvailabilityTrace& trace, std::size_t start, RehearsalWorld& world) {
  world.pools.clear();
  world.capacity.clear();
  const std::size_t ticks = trace.counts.size();
  for (std::size_t tick = 0; tick < ticks; ++tick) {
    const int count = trace.counts[(start + tick) % ticks];
    if (tick > 0 && world.capacity.back().machines == count) continue;
    world.capacity.push_back({static_cast<double>(tick) * trace.gap, count});
  }
  world.lap = static_cast<double>(ticks) * trace.gap;
}

/// As many events take about a minute.
constexpr std::int64_t kHappeningsEnough = 30'000'000;

Result<std::optional<AvailabilityTrace>> trace_of(const std::string& file, const PlannedRun& run) {
  if (file.empty()) return std::optional<AvailabilityTrace>();
  const std::size_t spot = run.world.pools.size();
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
  const IterationParts& parts = iteration.parts;
  run.exposed = parts.exposed_communication / iteration.mean;
  run.waiting = (parts.straggling + parts.input) / iteration.mean;
  bool replaced = true;  // Whether all machines that may be lost are replaced on demand.
  for (const Part& part : found->config.used()) {
    const Rental& own = space.rentals[static_cast<std::size_t>(part.rental)];
    add_slots(question, space, part, run);
    replaced = replaced && (!own.spot || own.spot->on_demand);
  }
  add_times(question, plan, run);
  if (run.world.pools.empty()) return run;
  run.terms.fills_up = replaced;
  if (space.machine_of(found->config.parts[0].rental).sharded) {
    run.terms.machines_min = static_cast<int>(run.terms.slots.size());
    run.world.state_is_split = true;
  }
  add_saves(plan, found->run, run);
  return run;
}

Status check(const SimulateOptions& options) {
  if (options.runs >= 1 && options.runs <= kRunsMax) return {};
  return bad_usage(fmt::format("--runs must be from 1 to {}", kRunsMax));
}

RunSummary simulate_planned(const PlannedRun& run, const PlanGoal& goal,
                            const SimulateOptions& options, const AvailabilityTrace* trace) {
  CHECK(options.runs >= 1);
  const Random streams(options.seed);
  RunTerms terms = run.terms;
  if (terms.fills_up) terms.deadline = goal.deadline;
  terms.step_time = remembered(terms.step_time);
  RehearsalWorld world = run.world;
  if (options.prediction_error) {
    // The median is what was predicted.
    const double variance = run.deviation * run.deviation;
    world.slowness = std::exp(variance / 2);
    world.slowness_deviation = std::sqrt(std::expm1(variance));
  }
  std::vector<RunOutcome> outcomes;
  std::int64_t happenings = 0;
  for (int i = 0; i < options.runs && happenings < kHappeningsEnough; ++i) {
    Random random = streams.fork(static_cast<std::uint64_t>(i));
    if (trace != nullptr) {
      follow(*trace, static_cast<std::size_t>(random.below(static_cast<int>(trace->counts.size()))),
             world);
    }
    const RehearsedRun rehearsed = rehearse_once(terms, world, {}, random.bits(), nullptr);
    happenings += rehearsed.happenings;
    outcomes.push_back({.time = rehearsed.time,
                        .finished = rehearsed.outcome == RunVerdict::kTrained,
                        .bill = bill_of(run, rehearsed),
                        .losses = rehearsed.interruptions,
                        .machines_lost = rehearsed.losses});
  }
  return summary_of(outcomes, goal.deadline, goal.budget);
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
  if (request.wait) run->terms.fills_up = false;
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
