#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "risk/deadline_game.h"
#include "run/run_event.h"

namespace stint {

/// A place for a machine in the cluster of a plan.
struct RunSlot {
  std::string type = {};              // Of the machine; a new plan keeps those whose type it has.
  bool trains = true;                 // Else it holds checkpoints, and none are saved without it.
  Market market = Market::kOnDemand;  // That the plan wants.
  DollarsPerSecond spot;
  DollarsPerSecond on_demand;
};

/// Seconds of a training step on the machines of these slots, all of them in step.
using StepTime = std::function<Seconds(std::span<const int> slots)>;

/// What a run has to do, and what was predicted of it.
struct RunTerms {
  std::vector<RunSlot> slots;
  int machines_min = 1;  // With fewer it waits.
  std::int64_t steps = 1;
  StepTime step_time;
  double slower = 1.25;  // A step may take this much more than predicted, by its interval.
  double faster = 0.8;   // Or less.
  Seconds save_every = 10 * kMinute;
  Seconds save_time = 10 * kSecond;  // From the request until it is safe.
  Seconds start_up = 60 * kSecond;   // From asking for a machine until it trains.
  Seconds regroup = 10 * kSecond;    // Training stands still for a change of machines.
  Seconds tick = 1 * kMinute;        // Between two decisions about markets.
  std::optional<Seconds> deadline = {};
  std::optional<Dollars> budget = {};
  int failures_max = 5;           // Workers may fail so often in a row without a step.
  Seconds patience = 24 * kHour;  // Without a new checkpoint.
};

enum class RunVmPhase { kAsked, kUp, kNoticed, kGone };

/// A machine, from the moment it is asked for. Its number is its place in the list.
struct RunVm {
  int slot = 0;
  Market market = Market::kOnDemand;
  RunVmPhase phase = RunVmPhase::kAsked;
  DollarsPerSecond price;
  Seconds asked;
  Seconds since;                     // It costs `price` from here on.
  Dollars charged;                   // Until then.
  std::optional<Seconds> goes = {};  // When it is taken back, once that is known.
};

/// The workers that train together from one change of machines to the next.
struct RunAttempt {
  int number = 0;
  std::vector<int> vms;
  bool training = false;  // Else they are on their way.
  Seconds ordered;
  bool drifted = false;              // A new plan was asked for because of its speed.
  std::vector<Seconds> recent = {};  // Times of its latest steps.
};

/// Keeps a training running on machines that come and go: events in, actions out. It has no clock
/// and starts nothing itself, so that its journal of events replays to the same state.
///
/// Events that repeat what is known, come late or are of another attempt change nothing; a time
/// before that of an earlier event counts as that event's. Workers that survive a change keep what
/// they reached; without any the latest checkpoint that was acknowledged counts. Machines that come
/// after they were given back, or after the end, are given back again.
class Supervisor {
 public:
  /// Without a policy, and without a deadline, each slot is filled from the market of the plan.
  explicit Supervisor(RunTerms terms, std::unique_ptr<DeadlinePolicy> policy = nullptr);

  /// The plan was made anew; the next event is kTerms. Machines whose type has a place in it stay.
  void change_terms(RunTerms terms);

  /// What the event calls for, in this order.
  std::vector<RunAction> handle(const RunEvent& event);

  bool finished() const { return finished_; }
  Seconds now() const { return now_; }
  std::int64_t reached() const { return reached_; }  // Steps, of which some may be lost.
  std::int64_t saved() const { return saved_; }      // Steps that no loss can take.
  bool late() const;                                 // The deadline has passed.
  bool over_budget() const;
  Dollars cost() const;  // Of all machines until now.
  const RunTerms& terms() const { return terms_; }
  const std::vector<RunVm>& vms() const { return vms_; }
  const std::optional<RunAttempt>& attempt() const { return attempt_; }

 private:
  void apply(const RunEvent& event);
  void on_vm_up(int vm);
  void on_gone(const RunEvent& event);
  void on_workers_up(const RunEvent& event);
  void on_step(const RunEvent& event);
  void on_saved(std::int64_t step);
  void on_worker_lost(const RunEvent& event);
  void on_prices(DollarsPerSecond spot);
  void look_at_speed();

  void decide();        // What a new situation calls for.
  void check_limits();  // Budget, deadline, patience.
  void close();         // On the way to the end.
  void choose_markets();
  void ask_policy(int tick);
  void spread_over_slots(Holding choice);
  void fill_slots();
  void arrange_workers();
  void order(std::vector<int> vms);
  void save_if_due();
  bool must_leave() const;
  void ask_save();
  void end_vm(int vm);
  void release(int vm);
  void give_up(std::string reason);

  const RunVm& at(int vm) const { return vms_[static_cast<std::size_t>(vm)]; }
  RunVm* known(const RunEvent& event);
  bool current(const RunEvent& event) const;
  bool trains_on(int vm) const;
  bool has(int slot, Market market) const;
  int spot_held() const;
  std::vector<int> target() const;
  Seconds time_left(const std::vector<int>& vms) const;
  RunAction& act(RunActionKind kind);
  void say(std::string text);

  RunTerms terms_;
  std::unique_ptr<DeadlinePolicy> policy_;
  std::vector<RunAction> actions_;

  Seconds now_;
  std::vector<RunVm> vms_;
  std::optional<RunAttempt> attempt_;
  int attempts_ = 0;
  std::int64_t reached_ = 0;
  std::int64_t saved_ = 0;
  Seconds progressed_;             // When `saved_` last grew.
  std::optional<Seconds> saving_;  // When a save was asked for that is not answered.
  Seconds save_asked_;             // When one was last asked for.
  std::int64_t save_from_ = -1;    // A save of this step or a later one answers it.
  bool save_soon_ = false;         // A machine will go.
  int failures_ = 0;               // Of workers, in a row.

  // Markets.
  std::vector<std::optional<Market>> wanted_;  // By slot; absent: no machine is wanted now.
  std::vector<Seconds> not_before_;            // By slot: when a machine may be asked for again.
  std::vector<int> refusals_;                  // By slot, in a row.
  std::optional<int> capacity_;                // Of spot machines.
  DeadlineGame game_;
  Fleet spot_fleet_;
  Fleet on_demand_fleet_;
  int tick_ = -1;  // The last that was decided.

  std::optional<RunOutcome> closing_;
  std::string closing_reason_;
  bool told_late_ = false;
  bool told_over_budget_ = false;
  bool finished_ = false;
};

}  // namespace stint
