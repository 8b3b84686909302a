#pragma once

#include <string>
#include <vector>

#include "run/run_journal.h"
#include "run/run_replay.h"

namespace stint {

/// Lets a supervisor handle the events of a run, and keeps the journal of them, so that a replay
/// leads to the same state.
class RunLedger {
 public:
  /// `plan` is the number of the present plan.
  RunLedger(Supervisor& supervisor, RunTeller teller, RunJournal journal, int plan)
      : supervisor_(supervisor),
        teller_(std::move(teller)),
        journal_(std::move(journal)),
        plan_(plan) {}

  /// The actions that the event calls for under `plan`. Event and actions are on the disk together,
  /// so that none of them is performed before.
  Result<std::vector<RunAction>> handle(const RunEvent& event, const RunPlan& plan);

  /// Replaces a journal that has become long by a snapshot; an error leaves it as it was, and is
  /// not met again before it has grown as much once more.
  Status shorten();

  RunSnapshot snapshot() const;

 private:
  Supervisor& supervisor_;
  RunTeller teller_;
  RunJournal journal_;
  int plan_;
};

}  // namespace stint
