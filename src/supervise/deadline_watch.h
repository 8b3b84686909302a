#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "risk/deadline_game.h"
#include "supervise/run_terms.h"

namespace stint {

/// How far a run is, for decisions about markets. Machines are those that train.
struct RunProgress {
  Seconds now;
  std::int64_t reached = 0;                 // Steps.
  std::int64_t safe = 0;                    // Of these, what the loss of all spot machines leaves.
  std::int64_t saved = 0;                   // Of these, what is left without any machine.
  std::optional<double> slowness = {};      // A step takes so many times what was predicted,
  std::optional<double> slowness_max = {};  // and hardly more than so many.
  int spot_available = 0;                   // Held or to be had, as far as is known.
  std::vector<Seconds> spot = {};           // Those held, by the time until they train.
  std::vector<Seconds> on_demand = {};
  bool moving = false;  // Workers are on their way, so that no other move is thought of.
};

/// Which machines to hold so that a deadline is kept: what a policy chooses, as long as the
/// deadline is kept even when spot machines vanish without a word right after the next decision.
///
/// With s steps left that would have to be done then, on demand the run ends after
///
///   tick + start-up + 2 regroup + save + s · step · slowness + save + tick
///
/// at the latest: a decision is made once a tick; until the machines are there nothing counts; one
/// change of machines and one save may be in their way; the last step is saved; and a step and a
/// report in progress are over within another tick. When that is later than the deadline, all
/// machines are bought, and kept until there is room for them to start twice and to be saved. What
/// the policy chooses is followed at once where it holds more on demand; else not before the last
/// change has had time to pay, because each costs a standstill that the policy's game knows little
/// of. The slowness is
/// the most that was measured, never below one, and until it is measured that of the prediction's
/// interval.
class DeadlineWatch {
 public:
  explicit DeadlineWatch(std::unique_ptr<DeadlinePolicy> policy = nullptr)
      : policy_(std::move(policy)) {}

  /// Forgets the predictions of an earlier plan.
  void change_terms();

  /// What to hold now; absent: the markets of the plan. Requires a deadline that has not passed.
  std::optional<Holding> choose(const RunTerms& terms, const RunProgress& progress);

  bool buys() const { return buys_; }  // Everything is bought, to keep the deadline.

  /// A save would make the purchase unnecessary for now.
  bool save_helps() const { return save_helps_; }

  /// How much too late the end is with all machines on demand; zero or less when it is in time.
  Seconds overdue() const { return overdue_; }

 private:
  void follow(const RunTerms& terms, Seconds now, std::optional<Holding> choice);
  std::optional<Holding> ask_policy(const RunTerms& terms, const RunProgress& progress);
  void look_at_time(const RunTerms& terms, const RunProgress& progress);

  std::unique_ptr<DeadlinePolicy> policy_;
  DeadlineGame game_;
  std::vector<int> past_;  // Spot machines of the ticks that were decided.
  int tick_ = -1;          // The last of them.
  int machines_ = 0;       // Of the present terms.
  Seconds step_;           // With all of them, as predicted.
  bool begun_ = false;
  double game_slowness_ = 1;  // Of the present game.
  std::optional<Holding> choice_;
  Seconds chosen_;  // When that changed last.
  bool buys_ = false;
  bool save_helps_ = false;
  Seconds overdue_;
};

}  // namespace stint
