#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "optimise/box_bounds.h"
#include "optimise/evaluate.h"
#include "optimise/front.h"

namespace stint {

/// Where time is minimised, times count as equal within this share, and the cheaper plan goes
/// first: predictions err by a hundred times as much, and nobody pays a fifth more for a second.
inline constexpr double kTimesEqual = 1e-3;

/// The shortest time that counts as equal to this one.
Seconds fastest_as_good(Seconds time);

/// What is minimised, dollars or steps of equal times, and where that is equal the other of the
/// two.
using Value = std::pair<double, double>;

inline constexpr Value kWorstValue = {std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::infinity()};

/// What the constraints say of a configuration.
///
/// Where the risk of missing the deadline is weighed (see MissCharge), what is minimised is
///
///   cost · (1 + bills · P(miss))
///
/// among the configurations that keep the deadline with the least probability of the charge. It is
/// bounded from below by a lower bound of the cost, times the factor at what P(deadline) cannot
/// exceed: that of a run without losses, as certain as any of its batch.
class Judge {
 public:
  explicit Judge(const Evaluator& evaluator);

  /// False when a configuration that takes at least this cannot keep deadline and budget.
  bool may_pass(int choice, Seconds time, Dollars cost) const;

  /// False when a configuration of these parts that takes at least so much undisturbed work loses
  /// too many spot machines to keep the deadline.
  bool may_last(std::span<const Part> parts, int choice, Seconds work) const;

  /// Whether it keeps them at the confidence.
  bool passes(const Found& found) const;

  /// Whether it is expected to pay no more per hour than allowed, with replacements on demand,
  /// receivers and storage.
  bool affordable(const Outcome& outcome) const;

  /// What time and cost alone are worth. Nothing with them is worth more: a risk only adds to it.
  Value value(Seconds time, Dollars cost) const;
  Value value(const Outcome& outcome) const { return value(outcome.time, outcome.cost); }

  /// What a configuration that takes at least this is worth at most, the risk included.
  Value value_at_best(int choice, const LeastRun& least) const;

  /// The value of a configuration that passes, the risk included. Nothing where it does not pass,
  /// or its value is not below the limit.
  std::optional<Value> value_below(const Found& found, const Value& limit) const;

  /// Whether a risk may make a configuration worth less than time and cost alone.
  bool weighs_risk() const { return miss_.has_value(); }

 private:
  const Evaluator& evaluator_;
  /// The value with the risk at such a probability of keeping the deadline.
  Value with_risk(Value value, double probability) const;

  bool by_time_ = false;
  std::optional<MissCharge> miss_;  // Only where it counts.
  double deadline_confidence_ = 0;  // That the deadline must be kept with.
  // The longest mean time, and the highest mean cost, that can pass with a choice of batch.
  std::vector<Seconds> time_max_;
  std::vector<Dollars> cost_max_;
};

/// The best configuration of each family: VMs of one type and market, and all mixed clusters.
class Leaders {
 public:
  /// Keeps count of `families`, of which `rows` go into the answer; the last family is that of
  /// mixed clusters, which are worth a row only where they beat all others.
  Leaders(std::size_t families, int rows);

  /// A configuration of the family is of use below this value.
  const Value& limit(std::size_t family) const { return limits_[family]; }

  void add(std::size_t family, const Found& found, const Value& value);

  struct Leader {
    Value value = kWorstValue;
    std::optional<Found> found;
  };

  std::size_t mixed() const { return leaders_.size() - 1; }
  /// The best of all; kWorstValue where there is none.
  Value best() const;
  const std::vector<Leader>& leaders() const { return leaders_; }

  /// Those that go into the answer, best first.
  std::vector<Found> rows() const;

 private:
  std::vector<Leader> leaders_;
  std::vector<Value> limits_;
  std::size_t rows_;
};

/// Everything that the passes share.
struct Search {
  const Evaluator& evaluator;
  const Bounds& bounds;
  const BoxBounds& boxes;
  const Judge& judge;
  Leaders& leaders;
  Front* front = nullptr;         // Null: not wanted.
  bool front_passes = false;      // Only configurations that keep deadline and budget are on it.
  bool prunes = true;             // False: every configuration is evaluated.
  bool both_collectives = false;  // Also the one that is dominated.

  /// Whether something that takes at least this could be of use to `family` or to the front. Its
  /// parts may be left out where they are not known yet.
  bool wants(std::size_t family, int choice, const LeastRun& least,
             std::span<const Part> parts = {}) const;

  /// Whether this time and cost would be of use, deadline and budget aside.
  bool counts(std::size_t family, Seconds time, Dollars cost) const;

  /// Whether something that takes at least this could lead its family, limits aside.
  bool leads_at_best(std::size_t family, int choice, const LeastRun& least) const;

  /// wants, of all clusters of a box.
  bool wants(std::size_t family, const Box& box, const BoxWork& work) const;

  /// Takes what was evaluated to where it is of use, with every way to save. True where it would
  /// have been of use but is too unsure to keep a limit, or too dear by the hour, so that something
  /// slower may be better.
  bool offer(std::size_t family, Config config, Seconds iteration);
  bool offer(std::size_t family, const Found& found);

  /// Evaluates the configuration with each collective that is worth it and gives it and the time of
  /// an iteration to `take`, which returns what offer does. Returns how many were evaluated.
  template <class Take>
  int evaluate_collectives(Config config, Take take) const {
    int evaluated = 0;
    // A ring is no slower, but it may be less sure.
    bool refused = false;
    for (const Collective collective : {Collective::kRing, Collective::kHierarchical}) {
      if (collective != Collective::kRing && !both_collectives && !refused) break;
      config.collective = collective;
      const auto iteration = evaluator.iteration(config);
      ++evaluated;
      if (iteration) refused = take(config, *iteration) || refused;
    }
    return evaluated;
  }
};

/// The families of `space`, and the rentals that stand for them.
struct Families {
  /// For each rental its family. Rentals of one type and market in several regions are one family.
  std::vector<std::size_t> of;
  std::size_t count = 0;  // With that of mixed clusters, the last.
};

Families families_of(const Space& space);

}  // namespace stint
