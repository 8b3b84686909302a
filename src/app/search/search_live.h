#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/search/search_setup.h"
#include "converge/noise.h"
#include "run/runner.h"

namespace stint {

/// A search during a run: receives the events of the runner, and requests other plans. Its record
/// has all that another process needs to resume it.
///
/// Each setup is timed over some steps (the first ones, in which machines warm up, do not count);
/// then, and after each tenth of the progress, the search decides where to move. A training that
/// stays gets a new worth of a step of its batch when that has changed.
class LiveSearch {
 public:
  /// `changed` is called whenever the record has a change that must not be lost.
  LiveSearch(PreparedSearch search, std::function<void(const SearchRecord&)> changed);

  /// For a resumed search: the plan that its run follows.
  void resume(const RunPlan& plan);

  // The runner's callbacks; see RunListeners.
  void trained(const GangNews& news);
  void trained_meanwhile(Seconds at);
  void out_of_memory(const std::string& type, int samples);
  std::optional<Replanning> wish(const Supervisor& supervisor, const RunPlan& plan);

  const SearchRecord& record() const { return search_.record; }

  /// The reason why a run that ended has not reached its target; empty: it has.
  std::string shortfall() const;

  /// The predictions for all setups by the present results.
  void note_surface();

 private:
  struct Moving {
    std::size_t to = 0;
    int attempt = 0;  // The latest attempt at the time of the decision.
    Seconds decided;
    Seconds last_step;
    Dollars cost;           // Cost until then.
    DollarsPerSecond rate;  // Price of the machines that train meanwhile.
    bool counts = true;     // Else only the worth of a step changes.
  };

  std::optional<Replanning> think(const Supervisor& supervisor, const RunPlan& plan);
  std::optional<Replanning> end_soon(const Supervisor& supervisor, const RunPlan& plan);
  std::optional<Replanning> go_on(const Supervisor& supervisor, const RunPlan& plan,
                                  std::string reason);
  Replanning go(const Supervisor& supervisor, const RunPlan& plan, const SearchMove& move);
  void arrive(const Supervisor& supervisor);
  void look(const Supervisor& supervisor);
  void note_noise();
  SearchStanding standing(const Supervisor& supervisor) const;
  bool target_reached() const;
  bool goal_in_sight(const Supervisor& supervisor) const;
  bool ends_off_goal(const Supervisor& supervisor);
  bool comes_too_late(const Supervisor& supervisor) const;
  RunPlan plan_of(std::size_t setup, const Supervisor& supervisor, int generation) const;
  std::string arithmetic(const SearchMove& move, bool probe) const;

  PreparedSearch search_;
  std::function<void(const SearchRecord&)> changed_;
  std::unique_ptr<SearchMind> mind_;
  std::size_t now_ = 0;
  std::optional<Moving> moving_;
  std::vector<Seconds> heard_;  // Times of steps that are not processed yet,
  std::vector<Seconds> steps_;  // and of those on the present setup.
  std::deque<double> losses_;   // Losses of the latest steps.
  NoiseEstimator noise_;
  int noise_steps_ = 0;     // Number of steps in the estimator.
  int unsettled_ = 0;       // Consecutive windows without a noise scale.
  bool timed_ = false;      // The present setup was timed.
  double look_at_ = 0;      // Progress at which to decide again.
  bool too_large_ = false;  // A worker ran out of memory.
  bool ending_ = false;
  int counted_in_ = 0;  // The attempt in which the remaining steps were counted last.
  double first_goal_ = 1;
  Seconds probe_time_;
  Dollars probe_cost_;
};

}  // namespace stint
