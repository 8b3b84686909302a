#include "optimise/evaluate.h"

#include <algorithm>
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

/// The logarithm of the time, from `start` on, at which `score` rises above zero. Over this
/// logarithm the normal score of a probability is nearly a straight line, so the secant finds its
/// root in a few steps; the end that does not move is pulled in (the Illinois rule).
template <class Score>
double log_time_at(double start, Score score) {
  constexpr double kStep = 0.25;
  constexpr int kStepsMax = 60;  // Doubled each time: beyond any finite time.
  constexpr int kSecantsMax = 100;
  constexpr double kScoreClose = 1e-10;
  double low = start;
  double low_score = score(low);
  double high = low;
  double high_score = low_score;
  double step = kStep;
  for (int i = 0; i < kStepsMax && high_score < 0; ++i, step *= 2) {
    low = high;
    low_score = high_score;
    high += step;
    high_score = score(high);
  }
  for (int i = 0; i < kStepsMax && low_score >= 0; ++i, step *= 2) {
    high = low;
    high_score = low_score;
    low -= step;
    low_score = score(low);
  }
  if (low_score > -kScoreClose) return low;
  if (high_score < kScoreClose) return high;
  bool below = false;  // Where the last step led.
  for (int i = 0; i < kSecantsMax; ++i) {
    double middle = low + (high - low) * (-low_score / (high_score - low_score));
    if (!(low < middle && middle < high)) middle = low + (high - low) / 2;
    if (!(low < middle && middle < high)) break;
    const double there = score(middle);
    if (std::abs(there) < kScoreClose) return middle;
    const bool again = i > 0 && below == (there < 0);
    below = there < 0;
    (below ? low : high) = middle;
    (below ? low_score : high_score) = there;
    if (again) (below ? high_score : low_score) /= 2;
  }
  return high;
}

/// Whether every layout takes as long, and as much memory, on both.
bool alike(const ShardedCluster& a, const ShardedCluster& b) {
  const ShardedMachines& x = a.machines;
  const ShardedMachines& y = b.machines;
  return a.memory == b.memory && x.device.peak == y.device.peak &&
         x.device.bandwidth == y.device.bandwidth &&
         x.device.multiprocessors == y.device.multiprocessors && x.fp8 == y.fp8 &&
         x.workers_per_vm == y.workers_per_vm && x.inside == y.inside && x.network == y.network &&
         x.host == y.host && x.device.name == y.device.name;
}

/// The first machine that is like it, for each.
std::vector<int> kinds_of(const std::vector<Machine>& machines) {
  std::vector<int> kinds;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    int kind = static_cast<int>(i);
    for (std::size_t k = 0; k < i && machines[i].sharded; ++k) {
      if (!machines[k].sharded || !alike(*machines[k].sharded, *machines[i].sharded)) continue;
      kind = static_cast<int>(k);
      break;
    }
    kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace

Evaluator::Evaluator(const PlanQuestion& question, const Space& space)
    : question_(question),
      space_(space),
      known_(question.context.known()),
      own_(law_of(known_)),
      risk_(question, space),
      kinds_(kinds_of(space.machines)) {
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
  if (shards(config)) return sharded_iteration(config);
  const PredictContext& context = question_.context;
  Groups groups;
  const Workers cluster = workers(config, groups);
  if (cluster.groups.empty() || !fits(config, cluster)) return std::nullopt;
  return total(step_parts(step_setup(context.job, cluster, context.law.fabric, own_)));
}

LayoutQuestion Evaluator::layout_question(int rental, int vms, int choice) const {
  const ShardedModel* model = question_.context.sharded;
  CHECK(model != nullptr);
  LayoutQuestion question{.model = *model,
                          .cluster = *space_.machine_of(rental).sharded,
                          .global_batch = choice_at(choice).global_batch};
  question.cluster.vms = vms;
  return question;
}

std::optional<Seconds> Evaluator::sharded_iteration(const Config& config) const {
  const Part& part = config.parts[0];
  // A layout is for all accelerators of equal VMs, and has micro-batches of its own.
  const bool whole = part.workers_per_vm == space_.machine_of(part.rental).worker_choices.back();
  if (config.kinds != 1 || config.accumulation != 1 || !whole) return std::nullopt;
  const int machine = space_.rentals[static_cast<std::size_t>(part.rental)].machine;
  const int kind = kinds_[static_cast<std::size_t>(machine)];
  const auto [at, fresh] =
      layouts_.emplace(std::tuple(kind, part.vms, config.choice), std::nullopt);
  if (fresh) {
    const auto best = best_layouts(layout_question(part.rental, part.vms, config.choice), 1);
    if (!best.empty()) at->second = best.front().iteration;
  }
  return at->second;
}

Seconds Evaluator::layout_work(int rental, int choice) const {
  const int machine = space_.rentals[static_cast<std::size_t>(rental)].machine;
  const std::pair key(kinds_[static_cast<std::size_t>(machine)], choice);
  const auto [at, fresh] = works_.emplace(key, Seconds{});
  if (fresh) at->second = least_work(layout_question(rental, 1, choice));
  return at->second;
}

double Evaluator::sharded_deviation(int choice) const {
  // The bounds of the search rely on no plan being surer than deviation_min says.
  const double own =
      std::hypot(question_.context.sharded->laws.spread, choice_at(choice).deviation);
  return std::max(deviation_min(choice), own);
}

bool Evaluator::fits(const Config& config, const Workers& cluster) const {
  for (std::size_t i = 0; i < cluster.groups.size(); ++i) {
    const int most = space_.machine_of(config.parts[i].rental).batch_max;
    if (cluster.groups[i].batch > most) return false;
  }
  return true;
}

bool Evaluator::accumulates_rightly(const Config& config) const {
  if (config.accumulation == 1 || shards(config)) return true;
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
  const Seconds paid = run->time.mean - run->unpaid;
  const Dollars beside = (run->anchors + run->storage) * run->time.mean;
  return Outcome{.iteration = iteration,
                 .work = work,
                 .time = run->time.mean,
                 .paid = paid,
                 .cost = rate(config) * paid + beside + run->replacements};
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

Evaluator::Beliefs Evaluator::beliefs(const Found& found) const {
  Beliefs all;
  for (std::size_t i = 0; i < kBeliefs.size(); ++i) {
    const auto& [belief, weight] = kBeliefs[i];
    const auto run = risk_.run(found.config, found.outcome.work, belief);
    all[i] = {weight, run ? std::optional(run->time) : std::nullopt};
  }
  return all;
}

double Evaluator::p_within(const Found& found, Seconds time, double deviation) const {
  double sum = 0;
  for (const auto& [weight, run] : beliefs(found)) {
    if (run) sum += weight * run->probability_within(time, deviation);
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
  const Beliefs runs = beliefs(found);
  const double wanted = normal_quantile(probability);
  constexpr double kRounding = 1e-15;  // The score of certainty is infinite.
  const auto score = [&](double log_time) {
    const Seconds time = std::exp(log_time) * kSecond;
    double sum = 0;
    for (const auto& [weight, run] : runs) {
      if (run) sum += weight * run->probability_within(time, deviation);
    }
    return normal_quantile(std::clamp(sum, kRounding, 1 - kRounding)) - wanted;
  };
  return std::exp(log_time_at(std::log(found.outcome.time.in(kSecond)), score)) * kSecond;
}

Dollars Evaluator::cost_at(const Found& found, double probability, double deviation) const {
  const DollarsPerSecond rate = found.outcome.cost / found.outcome.time;
  return rate * time_at(found, probability, with_prices(found, deviation));
}

Seconds Evaluator::iteration(const Config& config, const FabricLaw& fabric,
                             const JobLaw& own) const {
  if (shards(config)) return *sharded_iteration(config);
  Groups groups;
  const Workers cluster = workers(config, groups);
  return total(step_parts(step_setup(question_.context.job, cluster, fabric, own)));
}

double Evaluator::deviation(const Config& config, const Outcome& outcome) const {
  if (shards(config)) return sharded_deviation(config.choice);
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
  if (shards(config)) return sharded_deviation(config.choice);
  Groups groups;
  const Workers cluster = workers(config, groups);
  return std::hypot(deviation_min(config.choice), compute_deviation(cluster, outcome.iteration));
}

double Evaluator::deviation_part(const Config& config, const Outcome& outcome) const {
  if (shards(config)) return sharded_deviation(config.choice);
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
