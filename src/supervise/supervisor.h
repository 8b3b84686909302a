#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supervise/deadline_watch.h"
#include "supervise/run_event.h"
#include "supervise/run_saves.h"
#include "supervise/run_speed.h"
#include "supervise/run_terms.h"
#include "supervise/run_vms.h"

namespace stint {

/// The workers that train together from one change of machines to the next.
struct RunAttempt {
  int number = 0;
  std::vector<int> vms;
  bool training = false;  // Else they are starting.
  bool broken = false;    // One of them is lost; the others wait for an order.
  Seconds ordered;
  Seconds last_step = {};  // When the latest step was done, or training began.
  bool stepped = false;    // At least one step was done.
};

/// Keeps a training running while machines are launched and lost: events in, actions out. It has no
/// clock and starts nothing itself, so that its journal of events replays to the same state.
///
/// Events that repeat known facts, are late or belong to another attempt change nothing, nor do
/// impossible fields; a time before that of an earlier event counts as that event's. Workers that
/// survive a change keep their state; without any, the latest acknowledged checkpoint counts.
/// Machines that are up after their release, or after the end, are released again.
///
/// Time in which nobody listened (kSlept) counts for the deadline and the cost, but not against
/// workers, checkpoints and launches that are waited for.
///
/// Machines that hold checkpoints are always kept. When one of them is lost, the state is saved
/// again as soon as there is a replacement, and until then workers that begin at an earlier step
/// than the acknowledged one are believed.
class Supervisor {
 public:
  /// Without a policy each slot is filled from the market of the plan; the deadline is watched in
  /// any case.
  explicit Supervisor(RunTerms terms, std::unique_ptr<DeadlinePolicy> policy = nullptr);

  /// Replaces the plan; the next event is kTerms. Machines whose type has a slot in it stay, and
  /// the others train until those of the new plan can. Where the new terms have no steps (at most
  /// one), deadline or budget, those of the run stay. Without a new policy the old one continues if
  /// it decides about the same number of machines.
  void change_terms(RunTerms terms, std::unique_ptr<DeadlinePolicy> policy = nullptr);

  /// The actions that the event calls for, in this order.
  std::vector<RunAction> handle(const RunEvent& event);

  bool finished() const { return finished_; }
  Seconds now() const { return now_; }
  std::int64_t reached() const { return reached_; }  // Steps, of which some may be lost.
  std::int64_t saved() const { return saved_; }      // Steps that survive the loss of all workers.
  bool plain() const { return plain_; }              // The script takes no orders.
  bool trained() const;                              // No step is left to train.
  std::int64_t script_saves_every() const;  // Mean number of steps between; 0: it never saved.
  bool late() const;                        // The deadline has passed.
  bool over_budget() const;
  Dollars cost() const { return vms_.cost(now_); }  // Cost of all machines until now.
  const RunTerms& terms() const { return terms_; }
  const std::vector<RunVm>& vms() const { return vms_.all(); }
  const std::optional<RunAttempt>& attempt() const { return attempt_; }

  /// The machines that receive checkpoints now, in the order of their slots; fewer than their slots
  /// while one is missing.
  std::vector<int> receivers() const;

  /// Measured step time over predicted step time, once it was measured.
  std::optional<double> slowness() const { return speed_.ratio(); }

 private:
  /// The market wanted for a slot, and the requests so far, by market.
  struct SlotState {
    std::optional<Market> wanted = {};  // Absent: no machine now.
    std::array<Seconds, 2> not_before = {};
    std::array<int, 2> refusals = {};  // Consecutive refusals.
    DollarsPerSecond planned;          // Spot price that the plan assumed.
  };

  // Handling of events.
  RunEvent without_nonsense(RunEvent event) const;
  void apply(const RunEvent& event);
  void on_vm_up(int vm);
  void on_refused(int vm, const std::string& reason);
  void on_vm_lost(int vm);
  void on_notice(int vm, Seconds left);
  void on_workers_up(std::optional<std::int64_t> step);
  void on_plain_up(std::int64_t step);
  void on_workers_done();
  void on_step(std::int64_t step, std::optional<Seconds> duration);
  void on_saved(std::int64_t step, std::optional<int> save);
  void on_save_failed(std::optional<int> save, const std::string& reason);
  void on_worker_lost(const RunEvent& event);
  void on_resumed(std::optional<std::int64_t> step);
  void on_slept(Seconds time);
  void on_prices(const RunEvent& event);
  void on_capacity(const RunEvent& event);

  // Actions.
  void decide();
  void give_up_waiting();  // On machines and answers that are overdue.
  void look_for_hang();
  Seconds patience_with_plain() const;
  void check_limits();  // Budget, deadline, patience.
  void check_deadline();
  void ask_for_plan(const std::string& reason);
  void close();  // Ends the run in order.
  bool saves_before_the_end();
  void choose_markets();
  void spread_over_slots(Holding choice);
  void fill_slots();
  bool may_ask(int slot, Market market) const;
  void release_unwanted();
  bool is_wanted(int vm) const;

  // Workers.
  void arrange_workers();
  bool must_leave() const;
  bool pays(const std::vector<int>& wanted) const;
  bool save_first(const std::vector<int>& wanted);
  void go_on_unless(bool moves);
  void order(std::vector<int> vms);
  void stand_by();
  void save_if_due();
  void ask_save(bool halt = false);
  void lose_state_of(int vm);
  void fail(std::string what, const std::string& words = {});
  void give_up(std::string reason);
  void release(int vm);

  // State.
  bool current(const RunEvent& event) const;
  bool trains_on(int vm) const;
  bool receivers_there() const;
  bool settled() const;
  bool nothing_wanted() const;
  bool can_train(const std::vector<int>& vms) const;
  std::vector<int> target() const;
  std::vector<int> stayers() const;
  int spot_present() const;
  std::optional<int> capacity() const;
  RunProgress progress() const;
  Seconds step_time(const std::vector<int>& vms) const;
  Seconds time_left(const std::vector<int>& vms) const;
  Seconds redone_on(const std::vector<int>& vms) const;
  bool worth_a_restart(int slot) const;
  SlotState& slot_of(int vm) { return slots_[static_cast<std::size_t>(vms_.at(vm).slot)]; }

  RunAction& act(RunActionKind kind);
  void say(std::string text);
  void tell_of(int vm);

  RunTerms terms_;
  std::vector<int> training_;  // Slots that train.
  DeadlineWatch deadline_;
  std::vector<RunAction> actions_;

  Seconds now_;
  RunVms vms_;
  std::vector<SlotState> slots_;
  std::optional<int> capacity_;  // Number of spot machines available, and the time of that report.
  Seconds capacity_at_;
  Seconds prices_at_;
  ReplanTrigger price_trigger_;

  std::optional<RunAttempt> attempt_;
  int attempts_ = 0;
  std::vector<int> holders_;  // Machines whose workers have the reached state.
  std::int64_t reached_ = 0;
  std::int64_t steps_max_ = 0;  // Largest number of steps of any plan so far.
  RunSpeed speed_;
  ReplanTrigger speed_trigger_;
  ReplanTrigger deadline_trigger_;
  bool new_plan_ = false;     // The workers train by an older plan.
  int failures_ = 0;          // Failures of workers since progress was last saved.
  Seconds restart_after_;     // Workers that failed repeatedly wait until then.
  bool plain_ = false;        // The script takes no orders.
  bool done_ = false;         // The script ended with success.
  int script_saves_ = 0;      // Checkpoints that a plain script made.
  Seconds start_longest_;     // Longest time from the order to the first step of a plain script.
  std::int64_t highest_ = 0;  // The latest step that was ever reached.

  RunSaves saves_;
  std::int64_t saved_ = 0;
  Seconds progressed_;      // When `saved_` last grew.
  bool save_soon_ = false;  // A machine received an interruption notice.
  bool receiver_lost_ = false;
  std::optional<std::int64_t> move_after_;  // A move waits for this step to be saved,
  bool halted_ = false;                     // after which workers are paused.

  std::optional<RunVerdict> closing_;
  std::string closing_reason_;
  Seconds closing_since_;
  int closing_saves_ = 0;
  bool told_late_ = false;
  bool told_overdue_ = false;
  bool told_over_budget_ = false;
  bool finished_ = false;
};

}  // namespace stint
