#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "run/run_folder.h"
#include "run/run_journal.h"
#include "run/run_record.h"

namespace stint {

/// 20 steps of 48 samples on two spot machines at 0.36 USD/h (0.0001 USD/s); a step takes 1 s on
/// both and 2 s on one.
inline RunRecord small_record() {
  RunRecord record;
  record.name = "small";
  record.began = 1000 * kSecond;
  record.job = "cnn";
  record.command = {"train"};
  record.folder = "/";
  record.global_batch = 48;
  record.steps = 20;
  record.plan.machines = {{.type = "local.small",
                           .count = 2,
                           .market = Market::kSpot,
                           .spot = 0.36 * kDollar / kHour,
                           .on_demand = 1.08 * kDollar / kHour,
                           .network = 100 * kMbit / kSecond,
                           .batch_per_vm = 24,
                           .micro_batch = 8}};
  record.plan.steps = {
      {.machines = {1}, .mean = 2 * kSecond, .p10 = 1.8 * kSecond, .p90 = 2.2 * kSecond},
      {.machines = {2}, .mean = 1 * kSecond, .p10 = 0.9 * kSecond, .p90 = 1.1 * kSecond}};
  record.checkpoint.interval = 5 * kSecond;
  record.save_time = 1 * kSecond;
  record.start_up = 4 * kSecond;
  record.regroup = 1 * kSecond;
  record.tick = 1 * kSecond;
  record.notice = 2 * kSecond;
  record.secret = "00112233445566778899aabbccddeeff";
  return record;
}

/// A run in which one machine is lost and replaced, then both at once, and step 8 is trained twice;
/// run_story_test.cc derives its figures.
inline std::vector<RunEvent> small_events() {
  using Event = RunEventKind;
  std::vector<RunEvent> events;
  const auto tell = [&](double seconds, RunEvent event) {
    event.at = seconds * kSecond;
    events.push_back(std::move(event));
  };
  const auto step = [&](double seconds, int attempt, int number, double duration) {
    tell(seconds, {.kind = Event::kStepDone,
                   .attempt = attempt,
                   .step = number,
                   .duration = duration * kSecond});
  };
  const auto bill = [&](double seconds, int vm, double duration) {
    tell(seconds, {.kind = Event::kBilled,
                   .vm = vm,
                   .duration = duration * kSecond,
                   .cost = duration * 0.0001 * kDollar});
  };
  tell(0, {});
  tell(1, {.kind = Event::kVmUp, .vm = 0});
  tell(2, {.kind = Event::kVmUp, .vm = 1});
  tell(4, {.kind = Event::kWorkersUp, .attempt = 1, .step = 0});
  for (int i = 1; i <= 3; ++i) step(4 + i, 1, i, 1);
  tell(7.5, {.kind = Event::kSaved, .step = 3, .save = 1, .duration = 0.5 * kSecond});
  step(8, 1, 4, 1);
  step(9, 1, 5, 1);
  tell(9.5, {.kind = Event::kVmLost, .vm = 1});
  bill(9.5, 1, 7.5);
  tell(10.5, {.kind = Event::kWorkersUp, .attempt = 2, .step = 5});
  step(12.5, 2, 6, 2);
  tell(13, {.kind = Event::kVmUp, .vm = 2});
  step(14.5, 2, 7, 2);
  tell(15, {.kind = Event::kSaved, .step = 7, .save = 2, .duration = 0.75 * kSecond});
  tell(16, {.kind = Event::kWorkersUp, .attempt = 3, .step = 7});
  step(17, 3, 8, 1);
  tell(17.5, {.kind = Event::kVmLost, .vm = 2});
  bill(17.5, 2, 4.5);
  tell(17.5, {.kind = Event::kVmLost, .vm = 0});
  bill(17.5, 0, 16.5);
  tell(18.5, {.kind = Event::kVmUp, .vm = 3});
  tell(19, {.kind = Event::kVmUp, .vm = 4});
  tell(21, {.kind = Event::kWorkersUp, .attempt = 5, .step = 7});
  for (int i = 8; i <= 20; ++i) step(14 + i, 5, i, 1);
  tell(34.5, {.kind = Event::kSaved, .step = 20, .save = 3, .duration = 1 * kSecond});
  bill(34.5, 3, 16);
  bill(34.5, 4, 15.5);
  return events;
}

/// A line of the journal as version 1 wrote it, without actions.
inline std::string old_line(const RunEvent& event) {
  std::string line = write_run_event(event);
  const std::string mark = kRunEventSchema;
  return line.replace(line.find(mark), mark.size(), kRunEventSchemaOld);
}

/// Writes the files of a run into its folder, the journal without actions.
inline void write_small_run(const std::string& folder, const RunRecord& record,
                            const std::vector<RunEvent>& events) {
  std::filesystem::create_directories(checkpoint_folder(folder));
  (void)write_file(record_path(folder), write_run(record));
  std::string journal;
  for (const RunEvent& event : events) journal += old_line(event);
  (void)write_file(journal_path_of(folder), journal);
}

}  // namespace stint
