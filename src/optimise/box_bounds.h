#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "optimise/bounds.h"

namespace stint {

/// VMs of one rental, with one number of workers on each or any of its choices, in plain numbers:
/// these are the figures of the innermost loops. Times are in seconds, money in dollars.
struct BoxSide {
  int rental = 0;
  int workers_min = 1;  // On a VM.
  int workers_max = 1;
  double rate = 0;          // Samples per second of a VM at most, if nobody disturbs it.
  double forward_rate = 0;  // And of its forward pass.
  double fixed = 0;         // What a VM spends besides, in samples per iteration, at least.
  double forward_fixed = 0;
  double start = 0;  // Of one worker that nobody disturbs; see Pacing.
  double per_sample = 1;
  double update = 0;
  double load_min = 0;  // See MachineBound.
  double load_max = 0;
  double price = 0;        // Per second.
  double price_floor = 0;  // The same, with what losses cost in any case.
  // In a cluster of so many VMs or more, by the level of the fewest workers on any VM.
  const std::vector<std::vector<double>>* synchronisation = nullptr;
};

/// From so many VMs to so many, of one or two sides.
struct Box {
  std::array<const BoxSide*, 2> sides = {};
  std::array<int, 2> low = {};
  std::array<int, 2> high = {};
  int kinds = 1;

  bool single() const { return low == high; }
};

/// Work at one choice of batch, or at the least of several.
struct BoxWork {
  double samples = 0;     // Of all iterations.
  double iterations = 0;  // Of the optimizer.
  int batch = 1;          // The largest.
  int choice = 0;         // Of the batch whose number of iterations is least unsure.
  bool one_batch = true;  // False: of several, so that a batch and its iterations are not known.
};

/// Lower bounds that hold for all clusters of a box at once, so that whole ranges of numbers of VMs
/// are cut off by one look. As in bounds.h,
///
///   compute ≥ (samples + iterations Σ n_i a_i) / Σ n_i r_i
///
/// with the fewest VMs above the line and the most below it; crowding and straggling are those of
/// the fewest or the most workers, whichever is less. At one batch, workers have whole numbers of
/// samples; see whole_samples_time. With the least of compute, forward and synchronisation, a run
/// takes at least forward + ‖compute − forward, synchronisation‖_G, which never falls when one of
/// them rises; the same holds for what they cost. The cost per sample of a mix lies between
/// those of its kinds, so it is least at a corner of the box.
class BoxBounds {
 public:
  /// Both must outlive it.
  BoxBounds(const Evaluator& evaluator, const Bounds& bounds);

  /// VMs of the rental with the given of its worker_choices, and with any.
  const BoxSide& side(int rental, std::size_t choice) const {
    return sides_[static_cast<std::size_t>(rental)].each[choice];
  }
  const BoxSide& side(int rental) const { return sides_[static_cast<std::size_t>(rental)].any; }

  /// The work of one choice of batch, and the least of all.
  BoxWork work(int choice) const;
  const BoxWork& least_work() const { return least_; }

  /// What a run on any cluster of the box takes at least. Nothing when all have more workers than
  /// the batch has samples.
  std::optional<LeastRun> least(const Box& box, const BoxWork& work) const;

 private:
  struct Sides {
    BoxSide any;
    std::vector<BoxSide> each;  // By choice of workers.
  };
  struct Pace;
  Pace pace_of(const Box& box, const BoxWork& work, int fewest, int most) const;
  double synchronisation_of(const Box& box) const;
  BoxSide side_of(int rental, int workers) const;
  double log_of(int workers) const {
    const auto index = static_cast<std::size_t>(workers);
    return logs_[std::min(index, logs_.size() - 1)];
  }

  const Evaluator& evaluator_;
  const Bounds& bounds_;
  std::vector<Sides> sides_;                                        // By rental.
  std::vector<std::vector<std::vector<double>>> synchronisations_;  // By machine.
  std::vector<double> logs_;                                        // Of numbers of workers.
  SoftMaximum soft_maximum_;
  BoxWork least_;
};

}  // namespace stint
