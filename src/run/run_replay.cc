#include "run/run_replay.h"

#include "base/file.h"
#include "risk/cluster_policy.h"
#include "run/run_journal.h"
#include "run/run_paths.h"
#include "supervise/spot_belief.h"

namespace stint {

namespace {

/// What a step should take where the latest moment orders training. Slots mean other machines after
/// the next plan, so that it cannot be asked later.
std::optional<Seconds> predicted_step(const ReplayedRun& run) {
  for (const RunAction& action : run.moments.back().actions) {
    if (action.kind != RunActionKind::kTrain) continue;
    std::vector<int> slots;
    for (const int vm : action.vms) {
      slots.push_back(run.supervisor->vms()[static_cast<std::size_t>(vm)].slot);
    }
    return step_time_of(run.plan, slots).mean;
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Supervisor> make_supervisor(const RunRecord& record) {
  return std::make_unique<Supervisor>(terms_of(record, record.plan),
                                      make_policy(record, record.plan));
}

std::unique_ptr<DeadlinePolicy> make_policy(const RunRecord& record, const RunPlan& plan) {
  if (!record.deadline) return nullptr;
  const auto machines = static_cast<int>(training_slots(terms_of(record, plan)).size());
  return std::make_unique<ClusterPolicy>(spot_belief(record.expected, record.tick, machines));
}

Result<ReplayedRun> replay_run_folder(const std::string& folder) {
  const auto text = read_file(record_path(folder));
  if (!text.ok()) return text.error();
  auto record = read_run(*text, record_path(folder));
  if (!record.ok()) return record.error();
  const auto lines = read_file(journal_path_of(folder));
  auto events = read_run_journal(lines.ok() ? *lines : "", journal_path_of(folder));
  if (!events.ok()) return events.error();
  ReplayedRun run{.record = std::move(record->noun),
                  .plan = {},
                  .supervisor = nullptr,
                  .moments = {},
                  .warnings = std::move(events->warnings)};
  run.plan = run.record.plan;
  run.supervisor = make_supervisor(run.record);
  for (RunEvent& event : events->noun) {
    if (event.kind == RunEventKind::kTerms && event.count) {
      const std::string path = plan_path(folder, *event.count);
      const auto plan_text = read_file(path);
      if (!plan_text.ok()) return plan_text.error();
      auto plan = read_run_plan(*plan_text, path);
      if (!plan.ok()) return plan.error();
      run.plan = std::move(plan->noun);
      run.plans = *event.count;
      run.supervisor->change_terms(terms_of(run.record, run.plan),
                                   make_policy(run.record, run.plan));
    }
    std::vector<RunAction> actions = run.supervisor->handle(event);
    run.moments.push_back({.event = std::move(event), .actions = std::move(actions)});
    run.moments.back().predicted = predicted_step(run);
    for (StoryLine& line : lines_of(*run.supervisor, run.moments.back())) {
      run.lines.push_back(std::move(line));
    }
  }
  return run;
}

}  // namespace stint
