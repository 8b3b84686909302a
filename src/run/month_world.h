#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/random.h"
#include "run/run_fixture.h"
#include "run/run_folder.h"
#include "run/run_ledger.h"
#include "run/run_steps.h"

namespace stint {

/// The size of a long run.
struct MonthSize {
  int machines = 1000;
  std::int64_t steps = 10'000'000;  // Ten a second.
  int losses = 10'000;
  std::int64_t journal = RunJournal::kLong;  // Bytes after which it is shortened.
};

/// A long run without machines, workers or waiting: the events that the runner would report,
/// second by second, with all that is written. Spot machines are lost at random and replaced.
class MonthWorld {
 public:
  MonthWorld(const MonthSize& size, std::string folder, std::uint64_t seed)
      : size_(size), folder_(std::move(folder)), random_(seed), record_(record_of(size)) {
    CHECK(write_file(record_path(folder_), write_run(record_)).ok());
    supervisor_ = make_supervisor(record_);
    auto journal = RunJournal::open(journal_path_of(folder_), size.journal);
    CHECK(journal.ok());
    ledger_ = std::make_unique<RunLedger>(*supervisor_, RunTeller(), std::move(*journal), 1);
  }

  /// Until the end of the run.
  void play() {
    const double seconds = static_cast<double>(size_.steps) / kStepsPerSecond;
    const double chance = size_.losses / seconds;
    while (!supervisor_->finished()) {
      now_ += kSecond;
      deliver_due();
      if (training_) train(chance);
      happen({.kind = RunEventKind::kTick});
      longest_ =
          std::max(longest_,
                   static_cast<std::int64_t>(std::filesystem::file_size(journal_path_of(folder_))));
    }
    deliver_due();
  }

  const Supervisor& supervisor() const { return *supervisor_; }
  RunSnapshot snapshot() const { return ledger_->snapshot(); }
  int losses() const { return losses_; }
  std::int64_t events() const { return events_; }
  std::int64_t longest() const { return longest_; }  // Bytes of the journal at its longest.

 private:
  static constexpr int kStepsPerSecond = 10;

  static RunRecord record_of(const MonthSize& size) {
    RunRecord record = small_record();
    record.global_batch = 8 * size.machines;
    record.steps = size.steps;
    RunMachines& machines = record.plan.machines[0];
    machines.count = size.machines;
    machines.network = 10 * kGbit / kSecond;
    machines.batch_per_vm = 8;
    record.plan.steps = {{.machines = {size.machines},
                          .mean = 0.1 * kSecond,
                          .p10 = 0.09 * kSecond,
                          .p90 = 0.11 * kSecond}};
    record.checkpoint.interval = 10 * kMinute;
    record.save_time = 10 * kSecond;
    record.start_up = 60 * kSecond;
    record.regroup = 5 * kSecond;
    record.notice = 2 * kMinute;
    return record;
  }

  void at(double seconds, RunEvent event) { due_.emplace(now_ + seconds * kSecond, event); }

  void happen(RunEvent event) {
    if (auto steps = steps_.take()) handle(*steps);
    event.at = now_;
    handle(event);
  }

  void handle(const RunEvent& event) {
    ++events_;
    const auto actions = ledger_->handle(event, record_.plan);
    CHECK(actions.ok());
    for (const RunAction& action : *actions) perform(action);
    CHECK(ledger_->shorten().ok());
  }

  void perform(const RunAction& action) {
    if (action.kind == RunActionKind::kLaunch)
      at(50, {.kind = RunEventKind::kVmUp, .vm = action.vm});
    if (action.kind == RunActionKind::kRelease) end(action.vm);
    if (action.kind == RunActionKind::kSave) {
      at(8, {.kind = RunEventKind::kSaved,
             .attempt = action.attempt,
             .step = step_,
             .save = action.save,
             .duration = 8 * kSecond});
    }
    if (action.kind != RunActionKind::kTrain) return;
    training_ = false;
    gang_ = action.vms;
    attempt_ = action.attempt;
    at(5, {.kind = RunEventKind::kWorkersUp, .attempt = attempt_, .step = step_});
  }

  void deliver_due() {
    while (!due_.empty() && due_.begin()->first <= now_) {
      const RunEvent event = due_.begin()->second;
      due_.erase(due_.begin());
      if (event.kind == RunEventKind::kWorkersUp) {
        if (event.attempt != attempt_) continue;
        training_ = true;
      }
      if (event.kind == RunEventKind::kVmUp) born_[*event.vm] = now_;
      happen(event);
    }
  }

  void train(double chance) {
    for (int i = 1; i <= kStepsPerSecond && step_ < size_.steps; ++i) {
      const Seconds time = random_.uniform(0.09, 0.11) * kSecond;
      if (!steps_.add(attempt_, ++step_, time, now_, supervisor_->terms().steps)) continue;
      handle(*steps_.take());
    }
    if (random_.uniform() >= chance || step_ >= size_.steps) return;
    const int vm = gang_[static_cast<std::size_t>(random_.below(static_cast<int>(gang_.size())))];
    ++losses_;
    training_ = false;
    happen({.kind = RunEventKind::kVmLost, .vm = vm});
    end(vm);
  }

  void end(int vm) {
    const auto found = born_.find(vm);
    if (found == born_.end()) return;
    const Seconds age = now_ - found->second;
    born_.erase(found);
    at(0, {.kind = RunEventKind::kBilled,
           .vm = vm,
           .duration = age,
           .cost = record_.plan.machines[0].spot * age});
  }

  MonthSize size_;
  std::string folder_;
  Random random_;
  RunRecord record_;
  std::unique_ptr<Supervisor> supervisor_;
  std::unique_ptr<RunLedger> ledger_;
  RunSteps steps_;
  Seconds now_;
  std::multimap<Seconds, RunEvent> due_;
  std::map<int, Seconds> born_;
  std::vector<int> gang_;
  int attempt_ = 0;
  bool training_ = false;
  std::int64_t step_ = 0;
  int losses_ = 0;
  std::int64_t events_ = 0;
  std::int64_t longest_ = 0;
};

}  // namespace stint
