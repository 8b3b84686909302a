#include "run/run_replay.h"

#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/file.h"
#include "risk/cluster_policy.h"
#include "run/run_folder.h"
#include "run/run_journal.h"
#include "supervise/run_terms.h"
#include "supervise/spot_belief.h"

namespace stint {
namespace {

/// Replays a journal line by line.
class Replayer {
 public:
  /// With `copies` the supervisor can return to its state before an event, which takes a copy of it
  /// for each.
  Replayer(ReplayedRun& run, const std::string& folder, bool copies)
      : run_(run), folder_(folder), copies_(copies) {}

  Status take(JournalLine line) {
    if (line.snapshot) return restore(std::move(*line.snapshot));
    RunEvent& event = line.event;
    if (event.kind == RunEventKind::kTerms && event.count) {
      const Status adopted = adopt_plan(*event.count);
      if (!adopted.ok()) return adopted;
    }
    Supervisor& supervisor = *run_.supervisor;
    std::optional<SupervisorState> before;
    if (copies_) before = supervisor.state();
    std::vector<RunAction> actions = supervisor.handle(event);
    if (line.actions && !same_orders(actions, *line.actions)) {
      differs_ = true;
      if (!before) return failed("another version did something else");
      supervisor.return_to(std::move(*before));
      const Status followed = supervisor.follow(event, *line.actions);
      if (!followed.ok()) {
        return bad_input(fmt::format("{}: {}", journal_path_of(folder_), followed.error().message));
      }
    }
    if (line.actions) actions = std::move(*line.actions);
    run_.teller.see(supervisor,
                    moment_of(std::move(event), std::move(actions), supervisor, run_.plan));
    return {};
  }

  bool differs() const { return differs_; }

 private:
  Status restore(RunSnapshot snapshot) {
    run_.plan = run_.record.plan;
    run_.plans = 1;
    if (snapshot.plan > 1) {
      const Status read = read_plan(snapshot.plan);
      if (!read.ok()) return read;
    }
    run_.supervisor = std::make_unique<Supervisor>(terms_of(run_.record, run_.plan),
                                                   make_policy(run_.record, run_.plan));
    const Status restored = run_.supervisor->restore(std::move(snapshot.supervisor));
    if (!restored.ok()) {
      return bad_input(fmt::format("{}: {}", journal_path_of(folder_), restored.error().message));
    }
    run_.teller = RunTeller(std::move(snapshot.told));
    return {};
  }

  Status adopt_plan(int number) {
    const Status read = read_plan(number);
    if (!read.ok()) return read;
    run_.supervisor->change_terms(terms_of(run_.record, run_.plan),
                                  make_policy(run_.record, run_.plan));
    return {};
  }

  Status read_plan(int number) {
    const std::string path = plan_path(folder_, number);
    const auto text = read_file(path);
    if (!text.ok()) return text.error();
    auto plan = read_run_plan(*text, path);
    if (!plan.ok()) return plan.error();
    run_.plan = std::move(plan->noun);
    run_.plans = number;
    return {};
  }

  ReplayedRun& run_;
  const std::string& folder_;
  bool copies_;
  bool differs_ = false;
};

/// `differs` says whether what was done differs from what this version would do, without `copies`
/// an error.
Result<ReplayedRun> replay(const RunRecord& record, const std::string& folder, bool copies,
                           bool& differs) {
  ReplayedRun run{
      .record = record, .plan = record.plan, .supervisor = make_supervisor(record), .warnings = {}};
  Replayer replayer(run, folder, copies);
  auto warnings = each_journal_line(
      journal_path_of(folder), [&](JournalLine line) { return replayer.take(std::move(line)); });
  differs = replayer.differs();
  if (!warnings.ok()) return warnings.error();
  run.warnings = std::move(*warnings);
  return run;
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

RunMoment moment_of(RunEvent event, std::vector<RunAction> actions, const Supervisor& supervisor,
                    const RunPlan& plan) {
  RunMoment moment{.event = std::move(event), .actions = std::move(actions)};
  for (const RunAction& action : moment.actions) {
    if (action.kind != RunActionKind::kTrain) continue;
    std::vector<int> slots;
    for (const int vm : action.vms) {
      slots.push_back(supervisor.vms()[static_cast<std::size_t>(vm)].slot);
    }
    moment.predicted = step_time_of(plan, slots).mean;
    break;
  }
  return moment;
}

Result<ReplayedRun> replay_run_folder(const std::string& folder) {
  const auto text = read_file(record_path(folder));
  if (!text.ok()) return text.error();
  const auto record = read_run(*text, record_path(folder));
  if (!record.ok()) return record.error();
  bool differs = false;
  auto run = replay(record->noun, folder, false, differs);
  // Another version wrote it, and decided otherwise.
  return differs ? replay(record->noun, folder, true, differs) : std::move(run);
}

RunStory story_of(const ReplayedRun& run) { return run.teller.story(*run.supervisor); }

}  // namespace stint
