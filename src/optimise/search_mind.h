#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/codec_fields.h"
#include "base/normal.h"
#include "base/result.h"
#include "base/units.h"
#include "converge/noise_belief.h"
#include "job/job.h"
#include "optimise/next_move.h"

namespace stint {

/// What is believed of the iteration times of a job on all setups of a search.
class SetupTimes {
 public:
  virtual ~SetupTimes() = default;

  /// An iteration on a setup takes so long; what was learned of it before counts no more.
  virtual Status learn(std::size_t setup, Seconds time) = 0;

  /// ln seconds of an iteration, by setup.
  virtual const LogBelief& belief() const = 0;
};

/// A setup before anything was timed.
struct PredictedSetup {
  Seconds time;                     // Of an iteration.
  double deviation = 0;             // Of its logarithm, by the prediction's own interval.
  std::vector<double> types = {1};  // Share of the workers on each type of VM.
  int workers = 1;
  int batch = 1;  // Global.
};

/// Beliefs about predictions: how far one is off tells how far others are.
///
///   ln T_i = ln T̂_i + e_i,  cov(e_i, e_k) = d_i d_k (kAll + same_ik (kType + kNear near_ik))
///   near_ik = exp(−|ln(workers_i/workers_k)| − |ln(batch_i/batch_k)|)
///
/// `same` is the share of the workers that are on the same types of VMs: one for equal types. The
/// weights add up to one; d is the prediction's deviation, and kDeviationMin at least. A setup
/// that was timed lies off what it was timed at by kTimingDeviation.
class PredictedTimes : public SetupTimes {
 public:
  static constexpr double kAll = 0.4;
  static constexpr double kType = 0.3;
  static constexpr double kNear = 0.3;
  static constexpr double kDeviationMin = 0.05;
  static constexpr double kTimingDeviation = 0.01;

  explicit PredictedTimes(const std::vector<PredictedSetup>& setups);

  Status learn(std::size_t setup, Seconds time) override;
  const LogBelief& belief() const override { return belief_; }

 private:
  LogBelief prior_;
  LogBelief belief_;
  std::vector<std::optional<Seconds>> timed_;
};

/// What a search is to make least. At the knee it is the sum of both, each against what it ranges
/// over among the setups that no other is both faster and cheaper than: the point that Kneedle
/// finds.
enum class SearchObjective { kTime, kCost, kKnee };

std::span<const EnumName<SearchObjective>> names_of(SearchObjective type);

/// A cluster and batch that a search may choose.
struct SearchPlace {
  double batch = 1;       // Global.
  DollarsPerSecond rate;  // Of all its machines.
  Seconds move_time;      // Training stands still so long to go there,
  Dollars move_cost;      // which costs so much.
};

/// What a search is asked to do.
struct SearchTerms {
  SearchObjective objective = SearchObjective::kTime;
  std::vector<SearchPlace> places;
  double reference_batch = 1;  // Of the noise, and of the next.
  double steps = 1;            // To the goal at that batch, as the job's owner thinks.
  LearningRateRule rule = LearningRateRule::kAdaScale;
  NoisePrior noise;
  std::optional<Seconds> time_max = {};
  std::optional<Dollars> cost_max = {};
  bool probes = true;                 // Else it goes only where that pays by itself.
  std::optional<double> budget = {};  // Of what training takes in all; probes may take so much.
  double probe_steps = 20;
};

/// Where a training stands.
struct SearchStanding {
  std::size_t now = 0;  // Its setup.
  double way = 0;       // Share of the way to the goal that is made; below 1.
  Seconds time;         // Since it began,
  Dollars cost;         // and what that cost,
  Seconds probe_time;   // of which for probes,
  Dollars probe_cost;   // and to get there and back.
};

/// What is believed of going on with a setup to the goal, without another move.
struct SearchOutlook {
  double step_p10 = 0;  // Seconds of an iteration.
  double step_mean = 0;
  double step_p90 = 0;
  double steps = 0;  // That are left.
  Seconds time;
  Dollars cost;
};

/// Decides where a training that goes on shall go on: it hears of iteration times and of gradient
/// noise, and says where to go next (see next_move), to find out or to stay. It knows neither
/// whether the training is real.
class SearchMind {
 public:
  SearchMind(SearchTerms terms, std::unique_ptr<SetupTimes> times);

  /// An iteration takes so long on a setup.
  Status timed(std::size_t setup, Seconds step);

  void heard(const WayNoise& noise) { noise_.add(noise); }

  /// It does not fit there.
  void rule_out(std::size_t setup) { ruled_out_[setup] = true; }
  bool ruled_out(std::size_t setup) const { return ruled_out_[setup]; }

  /// What going to a setup takes from where training is now.
  void expect_move(std::size_t setup, Seconds time, Dollars cost);

  /// The goal turned out to be nearer or farther.
  void expect_steps(double steps) { terms_.steps = steps; }

  /// Where to go, with its arithmetic: in seconds, in dollars, or in shares of either (knee).
  SearchMove next(const SearchStanding& at) const;

  /// Where nothing but what is believed now counts, whatever it takes to go there.
  std::size_t best(const SearchStanding& at) const;

  /// By setup.
  std::vector<SearchOutlook> outlooks(const SearchStanding& at) const;

  /// What a probe of a setup costs: to get there, some steps, and to get back.
  Seconds probe_time(std::size_t setup, const SearchStanding& at) const;
  Dollars probe_cost(std::size_t setup, const SearchStanding& at) const;

  /// Φ at a place of the way, for a batch.
  double noise_scale(double way, double batch) const { return noise_.scale(way, batch); }

  bool keeps_limits(const SearchStanding& at, const SearchOutlook& outlook) const;
  const SearchTerms& terms() const { return terms_; }

 private:
  struct Weights {
    double time = 0;  // Of a second,
    double cost = 0;  // and of a dollar.
  };

  SearchQuestion question(const SearchStanding& at) const;
  Weights weights(const std::vector<SearchOutlook>& outlooks) const;
  std::vector<bool> allowed(const SearchStanding& at,
                            const std::vector<SearchOutlook>& outlooks) const;

  SearchTerms terms_;
  std::unique_ptr<SetupTimes> times_;
  NoiseBelief noise_;
  std::vector<double> batches_;        // Without repetition.
  std::vector<std::size_t> batch_of_;  // By setup.
  std::vector<bool> ruled_out_;
};

}  // namespace stint
