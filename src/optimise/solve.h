#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "optimise/search.h"
#include "plan/plan.h"

namespace stint {

/// Which passes run, how long each took, and what it did.
class Passes {
 public:
  /// Both must outlive it.
  Passes(const Clock& clock, const std::vector<std::string>& disabled)
      : clock_(clock), disabled_(disabled) {}

  bool enabled(const char* name) const;

  /// Runs `work`, which fills in the report of the pass.
  template <class Work>
  void run(const char* name, Work work) {
    PassReport report{.name = name};
    const Seconds start = clock_.now();
    work(report);
    report.time = std::max(Seconds{}, clock_.now() - start);
    reports_.push_back(std::move(report));
  }

  const std::vector<PassReport>& reports() const { return reports_; }

 private:
  const Clock& clock_;
  const std::vector<std::string>& disabled_;
  std::vector<PassReport> reports_;
};

inline constexpr const char* kDominancePass = "dominance";
inline constexpr const char* kBoundsPass = "bounds";
inline constexpr const char* kLayoutsPass = "layouts";
inline constexpr const char* kRelaxationPass = "relaxation";
inline constexpr const char* kMixedPass = "mixed";
inline constexpr const char* kFrontPass = "front";
inline constexpr const char* kPosteriorPass = "posterior";

/// One search with all that it needs, which stays where it is. The question must outlive it.
class Solve {
 public:
  Solve(const PlanQuestion& question, Space space);
  Solve(const Solve&) = delete;
  Solve& operator=(const Solve&) = delete;

  /// Runs the passes that are enabled.
  void run(Passes& passes);

  const Evaluator& evaluator() const { return evaluator_; }
  const Space& space() const { return space_; }
  const Front& front() const { return front_; }

  /// The plans of the answer, best first: of other VMs each, or points of the front.
  std::vector<Found> rows() const;

  /// The best plans of other VMs each, those of the answer first.
  std::vector<Found> leaders() const { return leaders_.rows(); }

  /// Others that might be better in truth: on the front, or with a few VMs more or less.
  std::vector<Found> others() const;

  /// What no cluster of any number of kinds costs less than, where that was asked.
  std::optional<Dollars> relaxed_bound() const { return relaxed_bound_; }

  /// Whether all that the question implies was decided on.
  bool complete() const { return complete_; }

 private:
  void relax(const Search& search, PassReport& report, std::vector<std::string>& skipped);
  std::int64_t kept() const;
  bool by_front() const;

  Space space_;
  Evaluator evaluator_;
  Bounds bounds_;
  BoxBounds boxes_;
  Judge judge_;
  Families families_;
  Leaders leaders_;
  Front front_;
  std::optional<Dollars> relaxed_bound_;
  bool complete_ = false;
};

}  // namespace stint
