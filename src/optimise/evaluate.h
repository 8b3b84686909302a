#pragma once

#include <array>
#include <optional>
#include <vector>

#include "optimise/space.h"

namespace stint {

/// VMs of one rental in a cluster.
struct Part {
  int rental = 0;
  int vms = 1;
  int workers_per_vm = 1;

  bool operator==(const Part&) const = default;
};

/// One thing to rent and one way to run the job on it.
struct Config {
  std::array<Part, 2> parts;  // The first `kinds` of them count.
  int kinds = 1;
  int choice = 0;        // Index into the choices of batch.
  int accumulation = 1;  // Divides the global batch.
  Collective collective = Collective::kRing;

  std::span<const Part> used() const { return {parts.data(), static_cast<std::size_t>(kinds)}; }
  bool operator==(const Config&) const = default;
};

/// What a configuration is predicted to take.
struct Outcome {
  Seconds iteration;
  Seconds time;  // To the goal.
  Dollars cost;
};

/// Asks the predictor about configurations; the question and the space must outlive it.
class Evaluator {
 public:
  Evaluator(const PlanQuestion& question, const Space& space);

  /// Nothing when a worker would have no sample, or more than memory allows.
  std::optional<Outcome> outcome(const Config& config) const;

  /// The same under another law; only for configurations that have an outcome.
  Seconds iteration(const Config& config, const FabricLaw& fabric, const JobLaw& own) const;

  /// Deviation of the logarithm of its time: the iteration's, and that of the number of them.
  double deviation(const Config& config, const Outcome& outcome) const;

  /// What deviation cannot fall below: with any configuration, and with this one.
  double deviation_min(int choice) const;
  double deviation_min(const Config& config, const Outcome& outcome) const;

  /// The same with what the job's cost of communication adds, for a tenth of the work of deviation.
  double deviation_part(const Config& config, const Outcome& outcome) const;

  DollarsPerSecond rate(const Config& config) const;

  /// Micro-steps that divide the batch of `choice`; at most kAccumulationMax.
  const std::vector<int>& accumulations(int choice) const {
    return accumulations_[static_cast<std::size_t>(choice)];
  }

  const PlanQuestion& question() const { return question_; }
  const Space& space() const { return space_; }
  const JobLaw& own() const { return own_; }

  const KnownJob* known() const { return known_; }

  const BatchChoice& choice_at(int index) const {
    return question_.work.choices[static_cast<std::size_t>(index)];
  }
  const BatchChoice& choice_of(const Config& config) const { return choice_at(config.choice); }

  using Groups = std::array<WorkerGroup, 2>;

  /// The workers of `config`, kept in `groups`, with the batch shared out; without groups where
  /// some worker would have no sample.
  Workers workers(const Config& config, Groups& groups) const;

 private:
  const PlanQuestion& question_;
  const Space& space_;
  const KnownJob* known_;
  JobLaw own_;
  std::vector<std::vector<int>> accumulations_;
};

/// More micro-steps than this are not considered.
inline constexpr int kAccumulationMax = 64;

/// Probability that a time or cost whose logarithm has this deviation stays within `limit`.
double probability_within(double limit_over_mean, double deviation);

}  // namespace stint
