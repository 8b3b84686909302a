#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "supervise/deadline_watch.h"
#include "supervise/run_event.h"
#include "supervise/run_terms.h"
#include "supervise/supervisor_state.h"

namespace stint {

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
class Supervisor : private SupervisorState {
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

  /// Repeats what was done when this event was handled before, perhaps by another version that
  /// decided otherwise: machines, attempts and checkpoints have the numbers of `done`. Bad input:
  /// these cannot be the actions of any supervisor.
  Status follow(const RunEvent& event, const std::vector<RunAction>& done);

  /// A copy of the state, and the return to one.
  const SupervisorState& state() const { return *this; }
  void return_to(SupervisorState state) { static_cast<SupervisorState&>(*this) = std::move(state); }

  /// The state for the journal, and the return to it in a supervisor with the same terms and
  /// policy. Bad input: the snapshot is of other terms.
  SupervisorSnapshot snapshot() const;
  Status restore(SupervisorSnapshot snapshot);

  /// The snapshot counts from now on: the policy begins anew here, as in whoever restores it.
  void settle() { deadline_.begin_anew(); }

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

  /// The same over the first steps of the workers that train now.
  std::optional<double> slowness_first() const { return speed_.ratio_first(); }

 private:
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
  void on_step(std::int64_t step, const RunEvent& event);
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
  Market market_of(int slot) const;
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

  // Actions that were decided before.
  Status check_done(const RunAction& action) const;
  void repeat(const RunAction& action);
  void repeat_save(const RunAction& action);

  // State.
  bool current(const RunEvent& event) const;
  bool trains_on(int vm) const;
  bool receivers_there() const;
  bool settled() const;
  bool nothing_wanted() const;
  bool can_train(const std::vector<int>& vms) const;
  std::vector<int> available() const;
  std::vector<int> target() const;
  std::vector<int> stayers() const;
  int spot_present() const;
  std::optional<int> capacity() const;
  RunProgress progress() const;
  Seconds step_time(const std::vector<int>& vms) const;
  Seconds time_left(const std::vector<int>& vms) const;
  Seconds redone_on(const std::vector<int>& vms) const;
  bool worth_a_restart(int slot) const;
  RunSlotState& slot_of(int vm) { return slots_[static_cast<std::size_t>(vms_.at(vm).slot)]; }

  RunAction& act(RunActionKind kind);
  void say(std::string text);
  void tell_of(int vm);

  RunTerms terms_;
  std::vector<int> training_;  // Slots that train.
  DeadlineWatch deadline_;
  std::vector<RunAction> actions_;
};

}  // namespace stint
