#include "optimise/evaluate.h"

#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/normal.h"
#include "predict/cluster_step.h"

namespace stint {
namespace {

// The ends of what is believed of losses are one in four each, as if it were normal.
constexpr std::array<std::pair<LossBelief, double>, 3> kBeliefs = {
    {{LossBelief::kTypical, 0.5}, {LossBelief::kLow, 0.25}, {LossBelief::kHigh, 0.25}}};

}  // namespace

Evaluator::Evaluator(const PlanQuestion& question, const Space& space)
    : question_(question),
      space_(space),
      known_(question.context.known()),
      own_(law_of(known_)),
      risk_(question, space) {
  for (const BatchChoice& choice : question.work.choices) {
    auto& steps = accumulations_.emplace_back();
    for (int m = 1; m <= std::min(kAccumulationMax, choice.global_batch); ++m) {
      if (choice.global_batch % m == 0) steps.push_back(m);
    }
  }
}

Workers Evaluator::workers(const Config& config, Groups& groups) const {
  const PredictContext& context = question_.context;
  for (std::size_t i = 0; i < config.used().size(); ++i) {
    const Part& part = config.parts[i];
    const ResolvedGroup& figures = space_.machine_of(part.rental).figures;
    groups[i] = {.times = &figures.times,
                 .jitter = figures.jitter,
                 .network = figures.network,
                 .inside_link = figures.inside_link,
                 .transfer = figures.transfer ? &*figures.transfer : nullptr,
                 .vms = part.vms,
                 .workers_per_vm = part.workers_per_vm};
  }
  const Workers cluster{.groups = std::span(groups.data(), config.used().size()),
                        .collective = config.collective,
                        .accumulation = config.accumulation,
                        .reference_network = context.law.reference_network,
                        .buckets = context.law.buckets ? &context.law.buckets->law : nullptr};
  const int samples = choice_of(config).global_batch / config.accumulation;
  if (samples < cluster.workers()) return {};
  std::array<KindShare, 2> shares;
  // The batch is shared out by what is believed, whatever turns out to be true.
  share_out(context.job, context.law.fabric, own_, cluster, samples,
            std::span(shares.data(), cluster.groups.size()));
  return cluster;
}

std::optional<Seconds> Evaluator::iteration(const Config& config) const {
  CHECK(choice_of(config).global_batch % config.accumulation == 0);
  const PredictContext& context = question_.context;
  Groups groups;
  const Workers cluster = workers(config, groups);
  if (cluster.groups.empty() || !fits(config, cluster)) return std::nullopt;
  return total(step_parts(step_setup(context.job, cluster, context.law.fabric, own_)));
}

bool Evaluator::fits(const Config& config, const Workers& cluster) const {
  for (std::size_t i = 0; i < cluster.groups.size(); ++i) {
    const int most = space_.machine_of(config.parts[i].rental).batch_max;
    if (cluster.groups[i].batch > most) return false;
  }
  return true;
}

bool Evaluator::accumulates_rightly(const Config& config) const {
  if (config.accumulation == 1) return true;
  Config fewest = config;
  Groups larger;
  Workers before;
  for (const int steps : accumulations(config.choice)) {
    fewest.accumulation = steps;
    if (steps >= config.accumulation) return true;  // No fewer fit.
    before = workers(fewest, larger);
    if (!before.groups.empty() && fits(fewest, before)) break;
  }
  Groups smaller;
  const Workers cluster = workers(config, smaller);
  for (std::size_t i = 0; i < cluster.groups.size(); ++i) {
    const ComputeCurve& curve = cluster.groups[i].times->curve;
    if (curve.below_measured(cluster.groups[i].batch)) return false;
    const Seconds now = config.accumulation * curve.passes(cluster.groups[i].batch);
    constexpr double kRounding = 1 - 1e-9;
    if (now >= kRounding * fewest.accumulation * curve.passes(before.groups[i].batch)) return false;
  }
  return true;
}

std::optional<Outcome> Evaluator::outcome(const Config& config, Seconds iteration) const {
  const Seconds work = choice_of(config).iterations * iteration;
  const auto run = risk_.run(config, work, LossBelief::kTypical);
  if (!run) return std::nullopt;
  const DollarsPerSecond whole = rate(config) + run->anchors + run->storage;
  return Outcome{.iteration = iteration,
                 .work = work,
                 .time = run->time.mean,
                 .cost = whole * run->time.mean + run->replacements};
}

std::optional<Outcome> Evaluator::outcome(const Config& config) const {
  const auto time = iteration(config);
  return time ? outcome(config, *time) : std::nullopt;
}

std::optional<Found> Evaluator::with_cheapest_save(const Config& config) const {
  const auto time = iteration(config);
  if (!time) return std::nullopt;
  std::optional<Found> best;
  Found found{.config = config};
  for (const SaveChoice& save : risk_.choices(config)) {
    found.config.save = save;
    const auto outcome = this->outcome(found.config, *time);
    if (!outcome) continue;
    found.outcome = *outcome;
    if (!best || outcome->cost < best->outcome.cost) best = found;
  }
  return best;
}

double Evaluator::p_within(const Found& found, Seconds time, double deviation) const {
  double sum = 0;
  for (const auto& [belief, weight] : kBeliefs) {
    const auto run = risk_.run(found.config, found.outcome.work, belief);
    if (run) sum += weight * run->time.probability_within(time, deviation);
  }
  return sum;
}

double Evaluator::p_within_at_most(const Config& config, Seconds work, Seconds time,
                                   double deviation) const {
  // With fewer losses it may be certain; with more it is no likelier than with the typical ones.
  double sum = 0;
  for (const auto& [belief, weight] : kBeliefs) {
    if (belief == LossBelief::kLow) sum += weight;
  }
  const auto run = risk_.run(config, work, LossBelief::kTypical);
  if (!run) return sum;
  return sum + (1 - sum) * run->time.probability_within(time, deviation);
}

double Evaluator::p_within(const Found& found, Dollars cost, double deviation) const {
  // The bill follows the clock.
  return p_within(found, found.outcome.time * (cost / found.outcome.cost),
                  with_prices(found, deviation));
}

double Evaluator::price_deviation(const Found& found) const {
  double squares = 0;
  for (const Part& part : found.config.used()) {
    const Rental& rental = space_.rentals[static_cast<std::size_t>(part.rental)];
    const double share = part.vms * rental.price * found.outcome.time / found.outcome.cost;
    squares += std::pow(share * rental.price_deviation, 2);
  }
  return std::sqrt(squares);
}

double Evaluator::with_prices(const Found& found, double deviation) const {
  // Prices change all of the bill, work only its own part of the time.
  const double more = found.outcome.time / found.outcome.work;
  return std::hypot(deviation, more * price_deviation(found));
}

Seconds Evaluator::time_at(const Found& found, double probability, double deviation) const {
  Seconds low;
  Seconds high = found.outcome.time;
  while (p_within(found, high, deviation) < probability) high += high;
  for (int i = 0; i < 50; ++i) {
    const Seconds middle = (low + high) / 2;
    (p_within(found, middle, deviation) < probability ? low : high) = middle;
  }
  return high;
}

Dollars Evaluator::cost_at(const Found& found, double probability, double deviation) const {
  const DollarsPerSecond rate = found.outcome.cost / found.outcome.time;
  return rate * time_at(found, probability, with_prices(found, deviation));
}

Seconds Evaluator::iteration(const Config& config, const FabricLaw& fabric,
                             const JobLaw& own) const {
  Groups groups;
  const Workers cluster = workers(config, groups);
  return total(step_parts(step_setup(question_.context.job, cluster, fabric, own)));
}

double Evaluator::deviation(const Config& config, const Outcome& outcome) const {
  const PredictContext& context = question_.context;
  Groups groups;
  const Workers cluster = workers(config, groups);
  // Limits are missed upwards.
  const LogSpread spread =
      time_spread(context.job, context.law, known_, cluster, outcome.iteration);
  return std::hypot(spread.above, choice_of(config).deviation);
}

double Evaluator::deviation_min(int choice) const {
  const double noise = known_ == nullptr ? 1 : known_->noise;
  return std::hypot(noise * question_.context.law.noise_floor, choice_at(choice).deviation);
}

double Evaluator::deviation_min(const Config& config, const Outcome& outcome) const {
  Groups groups;
  const Workers cluster = workers(config, groups);
  return std::hypot(deviation_min(config.choice), compute_deviation(cluster, outcome.iteration));
}

double Evaluator::deviation_part(const Config& config, const Outcome& outcome) const {
  const PredictContext& context = question_.context;
  Groups groups;
  const Workers cluster = workers(config, groups);
  return std::hypot(deviation_min(config.choice), compute_deviation(cluster, outcome.iteration),
                    cost_deviation(context.job, context.law, known_, cluster));
}

DollarsPerSecond Evaluator::rate(const Config& config) const {
  DollarsPerSecond sum;
  for (const Part& part : config.used()) {
    sum += part.vms * space_.rentals[static_cast<std::size_t>(part.rental)].price;
  }
  return sum;
}

double probability_within(double limit_over_mean, double deviation) {
  if (limit_over_mean <= 0) return 0;
  if (deviation <= 0) return limit_over_mean >= 1 ? 1 : 0;
  return normal_distribution(std::log(limit_over_mean) / deviation);
}

}  // namespace stint
