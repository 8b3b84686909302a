#include "optimise/bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "predict/collective.h"

namespace stint {
namespace {

// Bounds are computed in another order than times, so they may differ in the last digits.
constexpr double kRounding = 1 - 1e-9;

// Stands for no time at all where one divides by it.
constexpr Seconds kHardlyAnything = 1e-200 * kSecond;

/// The lower hull of the points, which rise in batch.
std::vector<BatchTime> lower_hull(const std::vector<BatchTime>& points) {
  std::vector<BatchTime> hull;
  const auto slope = [](const BatchTime& from, const BatchTime& to) {
    return (to.time - from.time) / (to.batch - from.batch);
  };
  for (const BatchTime& point : points) {
    while (hull.size() >= 2 &&
           slope(hull[hull.size() - 2], hull.back()) >= slope(hull.back(), point)) {
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

/// Batches between which curves of a job are straight: all that were measured and those below, and
/// the largest.
std::vector<int> telling_batches(const ComputeCurve& curve, int batch_max) {
  std::vector<int> batches;
  const int dense = std::min(batch_max, static_cast<int>(std::min(1e6, curve.batch_max)) + 1);
  for (int batch = 1; batch <= dense; ++batch) batches.push_back(batch);
  if (batch_max > dense) batches.push_back(batch_max);
  return batches;
}

/// The law on the network of a machine; sets what `input` says of that network.
FabricLaw law_on(const CalibratedLaw& law, const Machine& machine, LawInput& input) {
  const ResolvedGroup& figures = machine.figures;
  input.network = figures.transfer ? 1 : figures.network;
  input.reference = figures.transfer ? figures.transfer->rate : law.reference_network;
  input.inside_link = figures.transfer ? 1 : figures.inside_link;
  return figures.transfer ? transferred(law.fabric, *figures.transfer) : law.fabric;
}

}  // namespace

Seconds least_per_sample(const std::vector<BatchTime>& points) {
  CHECK(!points.empty());
  Seconds least = points.front().time / points.front().batch;
  for (const BatchTime& point : points) least = std::min(least, point.time / point.batch);
  return least;
}

Support support_below(const std::vector<BatchTime>& points) {
  const std::vector<BatchTime> hull = lower_hull(points);
  Support best{{}, std::max(least_per_sample(points), kHardlyAnything)};
  double longest = 0;
  for (std::size_t k = 1; k < hull.size(); ++k) {
    const BatchTime& from = hull[k - 1];
    const BatchTime& to = hull[k];
    const Seconds slope = (to.time - from.time) / (to.batch - from.batch);
    const Seconds fixed = to.time - to.batch * slope;
    const bool usable = fixed >= Seconds{} && slope >= Seconds{};
    if (!usable || std::log(to.batch / from.batch) <= longest) continue;
    longest = std::log(to.batch / from.batch);
    best = {fixed, std::max(slope, kHardlyAnything)};
  }
  return best;
}

double whole_samples_time(std::span<const Pacing> kinds, double samples, double from) {
  constexpr int kWholeStepsMax = 8;
  constexpr double kNearlyWhole = 1e-9;
  double time = from;
  for (int step = 0; step < kWholeStepsMax; ++step) {
    double done = 0;
    double next = std::numeric_limits<double>::infinity();  // When somebody has one more.
    for (const Pacing& kind : kinds) {
      const double own = (time - kind.start) / kind.per_sample;
      const double whole = std::max(0.0, std::floor(own * (1 + kNearlyWhole) + kNearlyWhole));
      done += kind.workers * whole;
      next = std::min(next, kind.start + (whole + 1) * kind.per_sample);
    }
    if (done >= samples || !(next > time)) return time;
    time = next;
  }
  return time;
}

SoftMaximum::SoftMaximum(double sharpness) {
  constexpr int kSteps = 1024;
  for (int i = 0; i <= kSteps; ++i) {
    const double ratio = static_cast<double>(i) / kSteps;
    factors_.push_back(std::pow(1 + std::pow(ratio, sharpness), 1 / sharpness));
  }
}

Bounds::Bounds(const Evaluator& evaluator) : evaluator_(evaluator) {
  const Space& space = evaluator.space();
  const FabricLaw& fabric = evaluator.question().context.law.fabric;
  for (const Machine& machine : space.machines) {
    workers_per_vm_max_ = std::max(workers_per_vm_max_, machine.worker_choices.back());
  }
  crowd_.inside = std::exp(fabric.crowding_inside);
  crowd_.across = std::exp(fabric.crowding_across);
  crowd_.straggling = fabric.straggling + evaluator.own().straggling;
  crowd_.factor = std::exp(evaluator.own().factor);
  sharpness_ = 1 + std::exp(fabric.sharpness);
  const int workers_max = workers_per_vm_max_ * evaluator.question().constraints.vms_max;
  logs_.push_back(-std::numeric_limits<double>::infinity());
  for (int workers = 1; workers <= workers_max; ++workers) logs_.push_back(std::log(workers));
  for (const Machine& machine : space.machines) {
    rings_.push_back(machine.vms_max > 1 ? ring_of(machine) : RingFigures{});
  }
  for (const Machine& machine : space.machines) machines_.push_back(bound_of(machine));
}

MachineBound Bounds::bound_of(const Machine& machine) const {
  int batch_max = 1;
  for (const BatchChoice& choice : evaluator_.question().work.choices) {
    batch_max = std::max(batch_max, choice.global_batch);
  }
  batch_max = std::min(batch_max, machine.batch_max);
  const DeviceTimes& times = machine.figures.times;
  std::vector<BatchTime> forward;
  std::vector<BatchTime> compute;
  MachineBound bound{.update = times.scale * times.curve.update.at(1)};
  double slowest = std::numeric_limits<double>::infinity();  // Samples per second.
  double fastest = 0;
  for (const int batch : telling_batches(times.curve, batch_max)) {
    const Seconds ahead = times.scale * times.curve.forward.at(batch);
    forward.push_back({static_cast<double>(batch), ahead});
    compute.push_back(
        {static_cast<double>(batch), ahead + times.scale * times.curve.backward.at(batch)});
    const Seconds update = times.scale * times.curve.update.at(batch);
    bound.update = std::min(bound.update, update);
    const double rate = batch / (compute.back().time + update).in(kSecond);
    slowest = std::min(slowest, rate);
    fastest = std::max(fastest, rate);
  }
  const FabricLaw& fabric = evaluator_.question().context.law.fabric;
  const double of_slowest = host_load(fabric, evaluator_.own(), slowest);
  const double of_fastest = host_load(fabric, evaluator_.own(), fastest);
  bound.load_min = std::min(of_slowest, of_fastest);
  bound.load_max = std::max(of_slowest, of_fastest);
  bound.forward = support_below(forward);
  bound.compute = support_below(compute);
  bound.per_sample = least_per_sample(compute);
  bound.synchronisation.assign(2, Seconds{});  // Of no VM and of one.
  for (int vms = 2; vms <= machine.vms_max; ++vms) {
    bound.synchronisation.push_back(synchronisation_min(machine, vms, 1));
  }
  return bound;
}

RingFigures Bounds::ring_of(const Machine& machine) const {
  const PredictContext& context = evaluator_.question().context;
  const JobLaw& own = evaluator_.own();
  LawInput input{.alone = kSecond, .gradients = context.job.gradient_bytes, .vms = 2, .workers = 2};
  const FabricLaw fabric = law_on(context.law, machine, input);
  const Bytes gradients = context.job.gradient_bytes;
  if (gradients <= Bytes{}) return {};
  // All summands of the logarithms that are the same for any number of VMs and workers: the cost of
  // two VMs of one worker, without what the depth adds and without the limit of the wire.
  FabricLaw flat = fabric;
  flat.depth_cost = -std::numeric_limits<double>::infinity();
  LawInput free = input;
  free.reference = std::numeric_limits<double>::infinity() * input.reference;
  const double two = std::log((network_cost(flat, own, free) * gradients).in(kSecond));
  flat.two_vm_cost = -std::numeric_limits<double>::infinity();
  flat.depth_cost = fabric.depth_cost;
  // Two workers are one doubling, and two VMs send each byte once.
  const Seconds depth = network_cost(flat, own, free) * gradients;
  return {.two = two,
          .two_by_workers = fabric.two_vm_workers,
          .many = two - fabric.two_vm_cost + fabric.cost,
          .by_vms = fabric.cost_by_vms,
          .by_workers = fabric.cost_by_workers,
          .depth = depth.in(kSecond),
          .wire = (gradients / (input.network * input.reference)).in(kSecond),
          .latency = (2 * network_link(fabric, own, input).latency).in(kSecond)};
}

double Bounds::ring_flat_cost(const RingFigures& ring, int vms, double log_workers) const {
  const double log_vms = log_of(vms);
  return std::exp(vms == 2 ? ring.two + ring.two_by_workers * (log_workers - log_vms)
                           : ring.many + ring.by_vms * (log_vms - log_of(3)) +
                                 ring.by_workers * (log_workers - log_vms));
}

double Bounds::ring_cost(const RingFigures& ring, int vms, int workers) const {
  const double log_workers = log_of(workers);
  const double sent = 2.0 * (vms - 1) / vms;
  const double depth = ring.depth * log_workers / log_of(2) / sent;
  return std::max(ring_flat_cost(ring, vms, log_workers) + depth, ring.wire);
}

Seconds Bounds::synchronisation_min(const Machine& machine, int vms, int workers_per_vm) const {
  const auto index = static_cast<std::size_t>(&machine - evaluator_.space().machines.data());
  const RingFigures& ring = rings_[index];
  const double sent = 2.0 * (vms - 1) / vms;
  const int fewest = vms * workers_per_vm;
  const double latency = ring.latency * log_of(fewest) / log_of(2);
  const double growth = vms == 2 ? ring.two_by_workers : ring.by_workers;
  double cost = ring_cost(ring, vms, fewest);
  // Where the cost per byte falls with the workers and that of the depth rises, the sum is convex
  // in the logarithm x of workers: E e^(growth (x − low)) + D x is least where its slope is zero.
  if (growth < 0) {
    const double low = log_of(fewest);
    const double high = log_of(vms * workers_per_vm_max_);
    const double falling = ring_flat_cost(ring, vms, low);
    const double rising = ring.depth / log_of(2) / sent;
    const double flat = low + std::log(rising / (-growth * falling)) / growth;
    const double x = std::clamp(flat, low, high);
    cost = std::max(ring_flat_cost(ring, vms, x) + rising * x, ring.wire);
  }
  return kRounding * (sent * cost + latency) * kSecond;
}

Seconds Bounds::iteration(const Parts& parts) const {
  const Seconds left = parts.compute - parts.forward;
  const Seconds high = std::max(left, parts.synchronisation);
  if (high <= Seconds{}) return parts.forward + parts.update;
  const double ratio = std::min(left, parts.synchronisation) / high;
  const double both = std::pow(1 + std::pow(ratio, sharpness_), 1 / sharpness_);
  return parts.forward + kRounding * both * high + parts.update;
}

Bounds::Slowdown Bounds::slowdown(double load_min, double load_max, int workers_per_vm,
                                  int workers) const {
  if (workers == 1) return {};
  const double share =
      crowd_.inside * (1 - 1.0 / workers_per_vm) + crowd_.across * (1 - 1.0 / workers);
  const double straggling = crowd_.straggling * std::log(workers);
  const double together = std::max(kCrowdingMin, 1 + load_min * share + std::min(0.0, straggling));
  return {.together = kRounding * crowd_.factor * together,
          .late = kRounding * std::max(0.0, straggling) / (1 + load_max * share)};
}

double Bounds::crowding_min(int rental) const {
  const MachineBound& bound = of(rental);
  // More workers are crowded more; but where stragglers help, they do so the more there are.
  const int workers =
      crowd_.straggling < 0 ? workers_per_vm_max_ * evaluator_.question().constraints.vms_max : 2;
  Slowdown least = slowdown(bound.load_min, bound.load_max, 1, workers);
  if (crowd_.straggling < 0)
    least.together -= kRounding * crowd_.factor * bound.load_min * crowd_.across * 0.5;
  return std::max(kCrowdingMin * kRounding * crowd_.factor, least.together);
}

Bounds::Parts Bounds::of_cluster(std::span<const Part> parts, double global_batch,
                                 int accumulation) const {
  double compute_fixed = 0;  // In samples.
  double forward_fixed = 0;
  double compute_rate = 0;  // In samples per second.
  double forward_rate = 0;
  Seconds synchronisation;
  Seconds update = of(parts[0].rental).update;
  int vms = 0;
  int all = 0;
  for (const Part& part : parts) {
    vms += part.vms;
    all += part.vms * part.workers_per_vm;
  }
  double late = std::numeric_limits<double>::infinity();
  std::array<Pacing, 2> pacing;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    const MachineBound& bound = of(part.rental);
    const Slowdown slow = slowdown(bound.load_min, bound.load_max, part.workers_per_vm, all);
    late = std::min(late, slow.late);
    const double workers = static_cast<double>(part.vms) * part.workers_per_vm;
    pacing[i] = {.workers = workers,
                 .start = (slow.together * bound.compute.fixed).in(kSecond),
                 .per_sample = (slow.together * bound.compute.per_sample).in(kSecond)};
    compute_fixed += accumulation * workers * (bound.compute.fixed / bound.compute.per_sample);
    compute_rate += workers / (slow.together * bound.compute.per_sample).in(kSecond);
    forward_fixed += accumulation * workers * (bound.forward.fixed / bound.forward.per_sample);
    forward_rate += workers / (slow.together * bound.forward.per_sample).in(kSecond);
    const auto size = static_cast<std::size_t>(vms);
    if (size < bound.synchronisation.size()) {
      synchronisation = std::max(synchronisation, bound.synchronisation[size]);
    }
    update = std::min(update, slow.together * bound.update);
  }
  const double step = (global_batch + compute_fixed) / compute_rate / accumulation;
  const double whole =
      whole_samples_time(std::span(pacing.data(), parts.size()), global_batch / accumulation, step);
  const Seconds compute = (1 + late) * accumulation * kRounding * whole * kSecond;
  const Seconds forward = (1 + late) * (global_batch + forward_fixed) / forward_rate * kSecond;
  return {.forward = forward,
          .compute = std::max(compute, forward),
          .synchronisation = synchronisation,
          .update = update};
}

Bounds::Parts Bounds::of_equal(const Part& part, int batch, int accumulation,
                               Seconds synchronisation) const {
  const DeviceTimes& times = evaluator_.space().machine_of(part.rental).figures.times;
  const FabricLaw& fabric = evaluator_.question().context.law.fabric;
  const double rate = batch / alone_time(times, batch).in(kSecond);
  const double load = host_load(fabric, evaluator_.own(), rate);
  const Slowdown slow = slowdown(load, load, part.workers_per_vm, part.vms * part.workers_per_vm);
  const double stretch = slow.together * (1 + slow.late) * accumulation * times.scale;
  const Seconds forward = stretch * times.curve.forward.at(batch);
  return {.forward = forward,
          .compute = forward + stretch * times.curve.backward.at(batch),
          .synchronisation = synchronisation,
          .update = slow.together * of(part.rental).update};
}

Seconds Bounds::synchronisation(std::span<const Part> parts) const {
  int vms = 0;
  int workers = 0;
  for (const Part& part : parts) {
    vms += part.vms;
    workers += part.vms * part.workers_per_vm;
  }
  double cost = 0;
  double latency = 0;
  for (const Part& part : parts) {
    const int machine = evaluator_.space().rentals[static_cast<std::size_t>(part.rental)].machine;
    const RingFigures& ring = rings_[static_cast<std::size_t>(machine)];
    cost = std::max(cost, ring_cost(ring, vms, workers));
    latency = std::max(latency, ring.latency * log_of(workers) / log_of(2));
  }
  const double sent = 2.0 * (vms - 1) / vms;
  return kRounding * (sent * cost + latency) * kSecond;
}

Seconds Bounds::synchronisation(const Part& part) const {
  const PredictContext& context = evaluator_.question().context;
  const Machine& machine = evaluator_.space().machine_of(part.rental);
  LawInput input{.alone = kSecond,
                 .gradients = context.job.gradient_bytes,
                 .vms = part.vms,
                 .workers = part.vms * part.workers_per_vm,
                 .workers_on_fullest_vm = part.workers_per_vm};
  if (input.workers == 1) return {};
  const bool inside = part.vms == 1;
  const FabricLaw fabric = law_on(context.law, machine, input);
  const Link link = inside ? inside_link(fabric, evaluator_.own(), input)
                           : network_link(fabric, evaluator_.own(), input);
  return kRounding *
         ring_allreduce_time(context.job.gradient_bytes, inside ? input.workers : part.vms, link);
}

}  // namespace stint
