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

/// A search in a run in progress: gets the events of the runner, and requests other plans. Its
/// record has all that another process needs to resume it.
///
/// Each setup that it comes to is timed over some steps (the first ones, in which machines warm up,
/// do not count); then, and after each tenth of the way, the search decides where to go. A training
/// that stays gets a new worth of a step of its batch when that has changed.
class LiveSearch {
 public:
  /// `changed` is called whenever the record has something new that must not be lost.
  LiveSearch(PreparedSearch search, std::function<void(const SearchRecord&)> changed);

  /// For a search that goes on: the plan that its run follows.
  void resume(const RunPlan& plan);

  // What the runner tells and asks; see RunListeners.
  void trained(const GangNews& news);
  void out_of_memory(const std::string& type, int samples);
  std::optional<Replanning> wish(const Supervisor& supervisor, const RunPlan& plan);

  const SearchRecord& record() const { return search_.record; }

  /// Why a run that ended has not reached its target; empty: it has.
  std::string shortfall() const;

  /// The surface by what is known now.
  void note_surface();

 private:
  struct Moving {
    std::size_t to = 0;
    int attempt = 0;  // The latest when it was decided.
    Seconds decided;
    Seconds last_step;
    Dollars cost;           // Until then.
    DollarsPerSecond rate;  // Of those that train meanwhile.
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
  std::vector<Seconds> steps_;  // and of those that count for where it is.
  std::deque<double> losses_;   // Of the latest steps.
  NoiseEstimator noise_;
  int noise_steps_ = 0;     // In the estimator.
  int unsettled_ = 0;       // Windows in a row that told no scale.
  bool timed_ = false;      // Here.
  double look_at_ = 0;      // The way at which to think again.
  bool too_large_ = false;  // A worker ran out of memory.
  bool ending_ = false;
  int counted_in_ = 0;  // The attempt in which the steps that are left were counted last.
  double first_goal_ = 1;
  Seconds probe_time_;
  Dollars probe_cost_;
};

}  // namespace stint
