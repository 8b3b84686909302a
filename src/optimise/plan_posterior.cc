#include "optimise/plan_posterior.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "predict/calibrated_law.h"
#include "predict/cluster_step.h"

namespace stint {
namespace {

constexpr int kWorlds = 400;
constexpr std::uint64_t kSeed = 20260715;
constexpr std::uint64_t kPriceSeed = 20261118;  // Prices leave all other draws as they are.

/// What is the same for all plans of a world.
struct World {
  LawDraw law;
  double steps = 0;                       // Of the number of iterations, in deviations.
  double network = 0;                     // Of the cost of networks that were not measured.
  std::map<std::string, double> devices;  // Of times carried over to a device.
  std::map<std::pair<int, Market>, double> prices = {};  // Of a machine on a market.
  Random price_random;
};

/// A contender with what does not change from world to world.
struct Entry {
  const Found* found;
  double network = 0;  // Deviation of ln of the cost of its network.
  std::string device;  // Whose times are most unsure.
  double compute = 0;  // Deviation of log time by those.
  double luck = 0;     // Of the cluster itself.
  double steps = 0;    // Of the number of iterations.
};

/// A cluster that shards: all that is unsure of it is the law of layouts, the same for one device.
Entry sharded_entry(const Evaluator& evaluator, const Found& found) {
  const int rental = found.config.parts[0].rental;
  return {.found = &found,
          .device = evaluator.space().machine_of(rental).figures.times.device + " (layouts)",
          .compute = evaluator.question().context.sharded->laws.spread,
          .steps = evaluator.choice_of(found.config).deviation};
}

Entry entry_of(const Evaluator& evaluator, const Found& found) {
  if (evaluator.shards(found.config)) return sharded_entry(evaluator, found);
  Evaluator::Groups groups;
  const Workers cluster = evaluator.workers(found.config, groups);
  const CalibratedLaw& law = evaluator.question().context.law;
  Entry entry{.found = &found, .steps = evaluator.choice_of(found.config).deviation};
  LawInput input{.alone = alone_time(cluster), .workers = cluster.workers()};
  double most = -1;
  for (const WorkerGroup& group : cluster.groups) {
    input.jitter = std::max(input.jitter, group.jitter);
    if (group.transfer != nullptr)
      entry.network = std::max(entry.network, group.transfer->deviation);
    if (group.times->deviation <= most) continue;
    most = group.times->deviation;
    entry.device = group.times->device;
  }
  entry.compute = compute_deviation(cluster, found.outcome.iteration);
  const KnownJob* known = evaluator.known();
  const LawNoise noise{.floor = law.noise_floor,
                       .exposed = law.noise_exposed,
                       .scale = known == nullptr ? 1 : known->noise};
  entry.luck = std::sqrt(noise_variance(noise, input, found.outcome.iteration));
  return entry;
}

/// What a plan is worth in a world: dollars, or seconds, with what breaks a limit charged twice.
double charged(const Evaluator& evaluator, const Found& found, Seconds work, double price) {
  const PlanQuestion& question = evaluator.question();
  const Constraints& constraints = question.constraints;
  // Losses lengthen a run in about the same proportion whatever its length.
  const double ratio = work / found.outcome.work;
  const Seconds time = ratio * found.outcome.time;
  const Dollars cost = price * ratio * found.outcome.cost;
  const Seconds late =
      constraints.deadline ? std::max(Seconds{}, time - *constraints.deadline) : Seconds{};
  const Dollars over =
      constraints.budget ? std::max(Dollars{}, cost - *constraints.budget) : Dollars{};
  if (question.objective == Objective::kTime) {
    const double above = constraints.budget ? over / *constraints.budget : 0;
    return (time + late).in(kSecond) * (1 + above);
  }
  return (cost * (1 + late / time) + over).in(kDollar);
}

/// What a plan pays in a world over what it pays at the catalogue's prices.
double price_in(const Evaluator& evaluator, const Found& found, World& world) {
  double factor = 1;
  for (const Part& part : found.config.used()) {
    const Rental& rental = evaluator.space().rentals[static_cast<std::size_t>(part.rental)];
    if (rental.price_deviation <= 0) continue;
    const auto key = std::pair(rental.machine, rental.market);
    const auto [draw, fresh] = world.prices.emplace(key, 0);
    if (fresh) draw->second = world.price_random.normal();
    const double share = part.vms * rental.price * found.outcome.time / found.outcome.cost;
    factor += share * std::expm1(rental.price_deviation * draw->second);
  }
  return factor;
}

Seconds work_in(const Evaluator& evaluator, const Entry& entry, World& world, Random& random) {
  JobLaw own = world.law.own;
  own.cost += entry.network * world.network;
  const Config& config = entry.found->config;
  const Seconds iteration = evaluator.iteration(config, world.law.fabric, own);
  const auto [device, fresh] = world.devices.emplace(entry.device, 0);
  if (fresh) device->second = random.normal();
  const double change =
      entry.compute * device->second + entry.luck * random.normal() + entry.steps * world.steps;
  return evaluator.choice_of(config).iterations * std::exp(change) * iteration;
}

}  // namespace

Posterior posterior(const Evaluator& evaluator, const std::vector<Found>& leaders,
                    const std::vector<Found>& others) {
  CHECK(!leaders.empty());
  std::vector<Entry> entries;
  for (const Found& found : leaders) entries.push_back(entry_of(evaluator, found));
  for (const Found& found : others) entries.push_back(entry_of(evaluator, found));
  const LawSampler sampler(evaluator.question().context.law, evaluator.known());
  Posterior answer{.p_best = std::vector<double>(leaders.size(), 0)};
  const double expected = leaders.front().outcome.cost.in(kDollar);
  double regret = 0;
  const Random seed(kSeed);
  const Random price_seed(kPriceSeed);
  for (int i = 0; i < kWorlds; ++i) {
    Random random = seed.fork(static_cast<std::uint64_t>(i));
    World world{.law = sampler.draw(random),
                .steps = random.normal(),
                .network = random.normal(),
                .price_random = price_seed.fork(static_cast<std::uint64_t>(i))};
    std::vector<double> values;
    for (const Entry& entry : entries) {
      const Seconds work = work_in(evaluator, entry, world, random);
      const double price = price_in(evaluator, *entry.found, world);
      values.push_back(charged(evaluator, *entry.found, work, price));
    }
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(leaders.size());
    const auto leader = std::min_element(values.begin(), end);
    answer.p_best[static_cast<std::size_t>(leader - values.begin())] += 1.0 / kWorlds;
    const double best = *std::min_element(values.begin(), values.end());
    regret += std::min(expected, values.front() - best) / kWorlds;
  }
  if (evaluator.question().objective != Objective::kTime) answer.regret = regret * kDollar;
  return answer;
}

}  // namespace stint
