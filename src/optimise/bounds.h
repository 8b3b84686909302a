#pragma once

#include <algorithm>
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

  /// Of `parts` at a global batch in so many micro-steps; more take no less.
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

 private:
  MachineBound bound_of(const Machine& machine) const;
  /// How much longer than alone a worker of a group computes, at least.
  struct Slowdown {
    double together = 1;
    double late = 0;  // Of the slowest worker, as a fraction of that.
  };
  Slowdown slowdown(double load_min, double load_max, int workers_per_vm, int workers) const;

  const Evaluator& evaluator_;
  Crowd crowd_;
  double sharpness_ = 1;
  int workers_per_vm_max_ = 1;
  std::vector<MachineBound> machines_;
};

}  // namespace stint
