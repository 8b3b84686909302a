#pragma once

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "optimise/spot_risk.h"
#include "predict/sharded/layout_choices.h"

namespace stint {

/// What a configuration is predicted to take.
struct Outcome {
  Seconds iteration;
  Seconds work;  // To the goal, if nothing disturbs it.
  Seconds time;  // Expected, with start-up, saves and losses.
  Seconds paid;  // Of it, without waits for machines that are missing: of all machines.
  Dollars cost;  // Expected.
};

/// A configuration with what it is predicted to take.
struct Found {
  Config config;
  Outcome outcome;
};

/// Asks the predictor about configurations; the question and the space must outlive it.
class Evaluator {
 public:
  Evaluator(const PlanQuestion& question, const Space& space);

  /// Nothing when a worker would have no sample, or more than memory allows.
  std::optional<Seconds> iteration(const Config& config) const;

  /// What it takes with iterations of that time. Nothing when losses leave no work done.
  std::optional<Outcome> outcome(const Config& config, Seconds iteration) const;

  /// Both.
  std::optional<Outcome> outcome(const Config& config) const;

  /// The configuration with the way to save that costs least.
  std::optional<Found> with_cheapest_save(const Config& config) const;

  /// P(it takes no longer than `time`, and costs no more than `cost`), where the logarithm of the
  /// undisturbed time has this deviation. What is believed of losses is not certain either, nor are
  /// prices, on which the cost depends.
  double p_within(const Found& found, Seconds time, double deviation) const;
  double p_within(const Found& found, Dollars cost, double deviation) const;

  /// What p_within cannot exceed for this work, for a third of the effort.
  double p_within_at_most(const Config& config, Seconds work, Seconds time, double deviation) const;

  /// The time, and the cost, that is not exceeded with `probability`.
  Seconds time_at(const Found& found, double probability, double deviation) const;
  Dollars cost_at(const Found& found, double probability, double deviation) const;

  /// Deviation of the logarithm of the cost that prices alone make. The prices of different types
  /// and markets move by themselves:
  ///
  ///   σ² = Σ (cost of part i / cost)² σ_i²
  double price_deviation(const Found& found) const;

  /// The same under another law; only for configurations that have an outcome.
  Seconds iteration(const Config& config, const FabricLaw& fabric, const JobLaw& own) const;

  /// Deviation of the logarithm of its time: the iteration's, and that of the number of them.
  double deviation(const Config& config, const Outcome& outcome) const;

  /// What deviation cannot fall below: with any configuration, and with this one.
  double deviation_min(int choice) const;
  double deviation_min(const Config& config, const Outcome& outcome) const;

  /// The same with what the job's cost of communication adds, for a tenth of the work of deviation.
  double deviation_part(const Config& config, const Outcome& outcome) const;

  /// Of its VMs, without machines that only keep checkpoints.
  DollarsPerSecond rate(const Config& config) const;

  /// Micro-steps that divide the batch of `choice`; at most kAccumulationMax.
  const std::vector<int>& accumulations(int choice) const {
    return accumulations_[static_cast<std::size_t>(choice)];
  }

  /// Whether the model is split over its workers.
  bool shards(const Config& config) const {
    return space_.machine_of(config.parts[0].rental).sharded.has_value();
  }

  /// The question that the layouts of a cluster of the machine answer. Requires a sharded one.
  LayoutQuestion layout_question(int rental, int vms, int choice) const;

  /// Seconds of all workers that no layout of the machine undercuts. Requires a sharded one.
  Seconds layout_work(int rental, int choice) const;

  /// Whether its micro-steps are called for: fewer would not fit into memory, or batches that were
  /// measured say that fewer take longer. Times of batches smaller than any measured are no reason.
  bool accumulates_rightly(const Config& config) const;

  const SpotRisk& risk() const { return risk_; }
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
  /// The run under each of the beliefs about losses, with its weight. No limit changes it, so that
  /// many limits can be asked of one.
  struct Believed {
    double weight = 0;
    std::optional<SpotTime> time;  // Absent where losses leave no work done.
  };
  using Beliefs = std::array<Believed, 3>;
  Beliefs beliefs(const Found& found) const;

  /// The deviation of the undisturbed time that makes the cost as uncertain as this deviation and
  /// the prices do.
  double with_prices(const Found& found, double deviation) const;

  /// The time of the fastest layout of a cluster that shards; nothing where none fits.
  std::optional<Seconds> sharded_iteration(const Config& config) const;
  double sharded_deviation(int choice) const;

  /// Whether every worker's batch fits into memory; `cluster` is that of `config`.
  bool fits(const Config& config, const Workers& cluster) const;

  const PlanQuestion& question_;
  const Space& space_;
  const KnownJob* known_;
  JobLaw own_;
  SpotRisk risk_;
  std::vector<std::vector<int>> accumulations_;
  // Machines whose layouts take as long have one number. What was found is kept: the search asks
  // once for each market.
  std::vector<int> kinds_;
  mutable std::map<std::tuple<int, int, int>, std::optional<Seconds>> layouts_;
  mutable std::map<std::pair<int, int>, Seconds> works_;
};

/// More micro-steps than this are not considered.
inline constexpr int kAccumulationMax = 64;

/// Probability that a time or cost whose logarithm has this deviation stays within `limit`.
double probability_within(double limit_over_mean, double deviation);

}  // namespace stint
