#include "optimise/box_bounds.h"

#include <algorithm>
#include <cmath>

namespace stint {
namespace {

// Bounds are computed in another order than times, so they may differ in the last digits.
constexpr double kRounding = 1 - 1e-9;

int level_of(int workers) {
  int level = 0;
  while (workers >> (level + 1) > 0) ++level;
  return level;
}

/// Seconds of a ring over so many VMs or more, of which each has 2^level workers or more.
std::vector<double> rings(const Bounds& bounds, const Machine& machine, int level) {
  std::vector<double> least(2, 0);  // Of no VM and of one.
  for (int vms = 2; vms <= machine.vms_max; ++vms) {
    least.push_back(bounds.synchronisation_min(machine, vms, 1 << level).in(kSecond));
  }
  for (std::size_t n = least.size() - 1; n-- > 0;) least[n] = std::min(least[n], least[n + 1]);
  return least;
}

}  // namespace

/// How fast the VMs of each side are at most in a box, and what there is to do at least.
struct BoxBounds::Pace {
  std::array<double, 2> rate = {};
  std::array<double, 2> forward_rate = {};
  std::array<Pacing, 2> pacing = {};
  double late = 0;  // Of the slowest worker, as a fraction.
  double samples = 0;
  double forward_samples = 0;
  double update = 0;
};

BoxBounds::BoxBounds(const Evaluator& evaluator, const Bounds& bounds)
    : evaluator_(evaluator), bounds_(bounds), soft_maximum_(bounds.sharpness()) {
  const Space& space = evaluator.space();
  int workers_max = 1;
  for (const Machine& machine : space.machines) {
    auto& levels = synchronisations_.emplace_back();
    for (int level = 0; level <= level_of(machine.worker_choices.back()); ++level) {
      levels.push_back(rings(bounds, machine, level));
    }
  }
  for (std::size_t i = 0; i < space.rentals.size(); ++i) {
    const auto rental = static_cast<int>(i);
    const std::vector<int>& choices = space.machine_of(rental).worker_choices;
    Sides& sides = sides_.emplace_back();
    for (const int workers : choices) sides.each.push_back(side_of(rental, workers));
    sides.any = sides.each.back();
    sides.any.workers_min = choices.front();
    sides.any.fixed = sides.each.front().fixed;
    sides.any.forward_fixed = sides.each.front().forward_fixed;
    workers_max = std::max(workers_max, choices.back() * space.rentals[i].vms_max);
  }
  const auto& choices = evaluator.question().work.choices;
  least_ = work(0);
  for (std::size_t i = 1; i < choices.size(); ++i) {
    const BoxWork one = work(static_cast<int>(i));
    const bool surer = evaluator.deviation_min(one.choice) < evaluator.deviation_min(least_.choice);
    least_ = {.samples = std::min(least_.samples, one.samples),
              .iterations = std::min(least_.iterations, one.iterations),
              .batch = std::max(least_.batch, one.batch),
              .choice = surer ? one.choice : least_.choice,
              .one_batch = false};
  }
  logs_.push_back(0);
  const int logs = std::min(least_.batch, 2 * workers_max);
  for (int workers = 1; workers <= logs; ++workers) logs_.push_back(std::log(workers));
}

BoxSide BoxBounds::side_of(int rental, int workers) const {
  const MachineBound& bound = bounds_.of(rental);
  const Rental& own = evaluator_.space().rentals[static_cast<std::size_t>(rental)];
  return {.rental = rental,
          .workers_min = workers,
          .workers_max = workers,
          .rate = workers / bound.compute.per_sample.in(kSecond),
          .forward_rate = workers / bound.forward.per_sample.in(kSecond),
          .fixed = workers * (bound.compute.fixed / bound.compute.per_sample),
          .forward_fixed = workers * (bound.forward.fixed / bound.forward.per_sample),
          .start = bound.compute.fixed.in(kSecond),
          .per_sample = bound.compute.per_sample.in(kSecond),
          .update = bound.update.in(kSecond),
          .load_min = bound.load_min,
          .load_max = bound.load_max,
          .price = own.price.in(kDollar / kSecond),
          .price_floor = evaluator_.risk().price_floor(rental).in(kDollar / kSecond),
          .synchronisation = &synchronisations_[static_cast<std::size_t>(own.machine)]};
}

BoxWork BoxBounds::work(int choice) const {
  const BatchChoice& batch = evaluator_.choice_at(choice);
  return {.samples = batch.iterations * batch.global_batch,
          .iterations = batch.iterations,
          .batch = batch.global_batch,
          .choice = choice};
}

BoxBounds::Pace BoxBounds::pace_of(const Box& box, const BoxWork& work, int fewest,
                                   int most) const {
  const Crowd& crowd = bounds_.crowd();
  Pace pace{.samples = work.samples, .forward_samples = work.samples};
  pace.update = std::numeric_limits<double>::infinity();
  double late = std::numeric_limits<double>::infinity();
  const double helped = std::min(0.0, crowd.straggling) * log_of(most);
  const double straggling = std::max(0.0, crowd.straggling) * log_of(fewest);
  for (int i = 0; i < box.kinds; ++i) {
    const BoxSide& side = *box.sides[static_cast<std::size_t>(i)];
    const double share_min =
        crowd.inside * (1 - 1.0 / side.workers_min) + crowd.across * (1 - 1.0 / fewest);
    const double share_max =
        crowd.inside * (1 - 1.0 / side.workers_max) + crowd.across * (1 - 1.0 / most);
    const double slowed = std::max(kCrowdingMin, 1 + side.load_min * share_min + helped);
    double together = kRounding * crowd.factor * slowed;
    if (fewest == 1) together = std::min(together, 1.0);  // One worker alone has no factor.
    late = std::min(late, kRounding * straggling / (1 + side.load_max * share_max));
    const auto index = static_cast<std::size_t>(i);
    pace.pacing[index] = {.workers = static_cast<double>(box.high[index]) * side.workers_max,
                          .start = together * side.start,
                          .per_sample = together * side.per_sample};
    pace.rate[index] = side.rate / together;
    pace.forward_rate[index] = side.forward_rate / together;
    pace.samples += work.iterations * box.low[index] * side.fixed;
    pace.forward_samples += work.iterations * box.low[index] * side.forward_fixed;
    pace.update = std::min(pace.update, together * side.update);
  }
  pace.late = late;
  pace.samples *= 1 + late;
  pace.forward_samples *= 1 + late;
  return pace;
}

double BoxBounds::synchronisation_of(const Box& box) const {
  int vms = 0;
  int workers_per_vm = box.sides[0]->workers_min;
  for (std::size_t i = 0; i < static_cast<std::size_t>(box.kinds); ++i) vms += box.low[i];
  if (box.kinds == 2) {
    // The mean lies between those of both kinds, so it is least at a corner of the box.
    const auto mean = [&](int first, int second) {
      return (first * box.sides[0]->workers_min + second * box.sides[1]->workers_min) /
             (first + second);
    };
    workers_per_vm = std::min(mean(box.high[0], box.low[1]), mean(box.low[0], box.high[1]));
  }
  double longest = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(box.kinds); ++i) {
    const auto& levels = *box.sides[i]->synchronisation;
    const auto level =
        std::min(levels.size() - 1, static_cast<std::size_t>(level_of(workers_per_vm)));
    const auto size = static_cast<std::size_t>(vms);
    if (size < levels[level].size()) longest = std::max(longest, levels[level][size]);
  }
  return longest;
}

std::optional<LeastRun> BoxBounds::least(const Box& box, const BoxWork& work) const {
  int fewest = 0;
  int most = 0;
  std::array<Part, 2> parts;
  double price = 0;
  double floor = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(box.kinds); ++i) {
    const BoxSide& side = *box.sides[i];
    fewest += box.low[i] * side.workers_min;
    most += box.high[i] * side.workers_max;
    price += box.low[i] * side.price;
    floor += box.low[i] * side.price_floor;
    parts[i] = {.rental = side.rental, .vms = box.low[i], .workers_per_vm = side.workers_min};
  }
  if (fewest > work.batch) return std::nullopt;
  const Pace pace = pace_of(box, work, fewest, std::min(most, work.batch));
  const auto sum = [&](const std::array<int, 2>& counts, const std::array<double, 2>& each) {
    return counts[0] * each[0] + (box.kinds == 2 ? counts[1] * each[1] : 0);
  };
  const double update = work.iterations * pace.update;
  const double synchronisation = work.iterations * synchronisation_of(box);
  double compute = pace.samples / sum(box.high, pace.rate);
  // Of many samples a fraction of one is next to nothing, and a wide box is loose anyway.
  constexpr int kManySamples = 8;
  const bool narrow = box.high[0] <= 2 * box.low[0] && box.high[1] <= 2 * box.low[1];
  if (work.one_batch && narrow && work.batch < kManySamples * most) {
    const double per_step = compute / (1 + pace.late) / work.iterations;
    const auto kinds = std::span(pace.pacing.data(), static_cast<std::size_t>(box.kinds));
    const double whole = whole_samples_time(kinds, work.batch, per_step);
    compute = std::max(compute, kRounding * (1 + pace.late) * work.iterations * whole);
  }
  const double forward = pace.forward_samples / sum(box.high, pace.forward_rate);
  const double time =
      forward + soft_maximum_(std::max(0.0, compute - forward), synchronisation) + update;
  LeastRun least =
      evaluator_.risk().least(std::span(parts.data(), static_cast<std::size_t>(box.kinds)),
                              price * kDollar / kSecond, kRounding * time * kSecond);
  const std::array<std::array<int, 2>, 2> corners = {
      {{box.high[0], box.low[1]}, {box.low[0], box.high[1]}}};
  const auto per_sample = [&](double BoxSide::*figure, const std::array<double, 2>& rate) {
    const std::array<double, 2> each = {box.sides[0]->*figure,
                                        box.kinds == 2 ? box.sides[1]->*figure : 0};
    if (box.kinds == 1) return each[0] / rate[0];
    return std::min(sum(corners[0], each) / sum(corners[0], rate),
                    sum(corners[1], each) / sum(corners[1], rate));
  };
  const double compute_cost = pace.samples * per_sample(&BoxSide::price_floor, pace.rate);
  const double forward_cost =
      pace.forward_samples * per_sample(&BoxSide::price_floor, pace.forward_rate);
  const double cost =
      forward_cost +
      soft_maximum_(std::max(0.0, compute_cost - forward_cost), synchronisation * floor) +
      update * floor;
  least.cost = std::max(least.cost, kRounding * cost * kDollar);
  const double work_cost = pace.samples * per_sample(&BoxSide::price, pace.rate);
  least.work_cost = std::max(least.work_cost, kRounding * work_cost * kDollar);
  return least;
}

}  // namespace stint
