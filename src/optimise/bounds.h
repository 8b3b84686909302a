#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "optimise/evaluate.h"

namespace stint {

/// fixed + batch · per_sample, nowhere above a curve; both at least zero.
struct Support {
  Seconds fixed;
  Seconds per_sample;
};

/// A point of a curve.
struct BatchTime {
  double batch = 1;
  Seconds time;
};

/// The straight line below the points that touches them over the longest stretch: an edge of their
/// lower hull that neither falls nor starts below zero, else the steepest line through the origin.
/// A line that does not rise rises by next to nothing, because one divides by it. Requires points
/// that rise in batch, at least one.
Support support_below(const std::vector<BatchTime>& points);

/// Of the point with the least time for a sample.
Seconds least_per_sample(const std::vector<BatchTime>& points);

/// What a worker of a machine takes at least.
struct MachineBound {
  Support compute;  // Forward and backward.
  Support forward;
  Seconds per_sample;  // Of forward and backward at the best batch.
  Seconds update;
  std::vector<Seconds> synchronisation;  // By VMs of the cluster, whatever machines the others are.
  double load_min = 0;                   // See host_load in predict/law.h; at any batch.
  double load_max = 0;
};

/// Equal workers that take `start` + batch · `per_sample` seconds or more for a batch.
struct Pacing {
  double workers = 0;
  double start = 0;
  double per_sample = 1;
};

/// The shortest time, `from` or later, in which the workers can share out so many samples, each a
/// whole number of them:
///
///   min T ≥ from  such that  Σ workers_i ⌊(T − start_i) / per_sample_i⌋ ≥ samples
///
/// Where workers have few samples each, that is far above what fractions of samples would take. It
/// stops after a few steps, so that it may say less than the minimum, never more.
double whole_samples_time(std::span<const Pacing> kinds, double samples, double from);

/// (1 + r^G)^(1/G) from below, by a table: what the soft maximum of two times is over the larger.
class SoftMaximum {
 public:
  explicit SoftMaximum(double sharpness);

  /// Of two times, neither below zero; never above (a^G + b^G)^(1/G).
  double operator()(double a, double b) const {
    const double high = std::max(a, b);
    if (high <= 0) return 0;
    const double at = std::min(a, b) / high * static_cast<double>(factors_.size() - 1);
    return high * factors_[static_cast<std::size_t>(at)];
  }

 private:
  std::vector<double> factors_;
};

/// What decides on the time of a ring over VMs of a machine, with all that does not change from
/// cluster to cluster worked out; see network_link in predict/law.h. Times are in seconds, costs in
/// ln of seconds per gradient.
struct RingFigures {
  double two = 0;  // Of two VMs,
  double two_by_workers = 0;
  double many = 0;  // and of more.
  double by_vms = 0;
  double by_workers = 0;
  double depth = 0;    // Seconds per doubling of workers.
  double wire = 0;     // The cost is at least this.
  double latency = 0;  // Per doubling of workers.
};

/// How workers slow each other, under the law of a question.
struct Crowd {
  double inside = 0;  // Crowding by the workers of the VM, and by all, per load.
  double across = 0;
  double straggling = 0;  // With ln(workers).
  double factor = 1;
};

/// Lower bounds of times, for pruning: never above what Evaluator says of any configuration of the
/// cluster. With n_i VMs of w_i workers that take at least a_i + c_i · b for a batch of b,
///
///   compute ≥ (B + m Σ n_i w_i a_i/c_i) / Σ n_i w_i/c_i
///
/// because the slowest worker takes at least that long for its part of any split of B in m
/// micro-steps; forward likewise. Workers slow each other: a_i and c_i hold what crowding makes of
/// them at the least load of any batch, and straggling at the most. Then
///
///   iteration ≥ forward + ‖compute − forward, synchronisation‖_G + update.
class Bounds {
 public:
  explicit Bounds(const Evaluator& evaluator);

  const MachineBound& of(int rental) const {
    const int machine = evaluator_.space().rentals[static_cast<std::size_t>(rental)].machine;
    return machines_[static_cast<std::size_t>(machine)];
  }

  /// What bounds one iteration: as good as it gets, and the cheaper max(compute, forward +
  /// synchronisation) + update below it, to be asked first.
  struct Parts {
    Seconds forward;
    Seconds compute;
    Seconds synchronisation;
    Seconds update;

    Seconds quick() const { return std::max(compute, forward + synchronisation) + update; }
  };

  /// Of `parts` at a global batch in so many micro-steps. In one, it holds for any number of them;
  /// of two other numbers the larger may take less, where samples divide better.
  Parts of_cluster(std::span<const Part> parts, double global_batch, int accumulation) const;

  /// Of equal VMs in `accumulation` micro-steps of `batch` per worker, by the curve itself.
  Parts of_equal(const Part& part, int batch, int accumulation, Seconds synchronisation) const;

  Seconds iteration(const Parts& parts) const;

  /// The exact time of a ring over several VMs, for of_cluster's, which holds for any workers.
  Seconds synchronisation(std::span<const Part> parts) const;

  /// The exact time of a ring over `vms` equal VMs of the rental; nothing for one worker.
  Seconds synchronisation(const Part& part) const;

  /// What a ring over so many VMs, of any machines with at least so many workers on each, takes at
  /// least when `machine` is among them. Requires vms >= 2.
  Seconds synchronisation_min(const Machine& machine, int vms, int workers_per_vm) const;

  /// How much workers of the rental are slowed at least, in a cluster of two kinds.
  double crowding_min(int rental) const;

  const Crowd& crowd() const { return crowd_; }
  double sharpness() const { return sharpness_; }

 private:
  MachineBound bound_of(const Machine& machine) const;
  /// How much longer than alone a worker of a group computes, at least.
  struct Slowdown {
    double together = 1;
    double late = 0;  // Of the slowest worker, as a fraction of that.
  };
  Slowdown slowdown(double load_min, double load_max, int workers_per_vm, int workers) const;
  RingFigures ring_of(const Machine& machine) const;
  /// Cost of the gradients once through the slowest NIC, of so many workers.
  double ring_cost(const RingFigures& ring, int vms, int workers) const;
  /// The same without what the depth adds, and without the limit of the wire.
  double ring_flat_cost(const RingFigures& ring, int vms, double log_workers) const;
  double log_of(int count) const {
    const auto index = static_cast<std::size_t>(count);
    return index < logs_.size() ? logs_[index] : std::log(count);
  }

  const Evaluator& evaluator_;
  Crowd crowd_;
  double sharpness_ = 1;
  int workers_per_vm_max_ = 1;
  std::vector<MachineBound> machines_;
  std::vector<RingFigures> rings_;  // By machine.
  std::vector<double> logs_;        // Of numbers of workers.
};

}  // namespace stint
