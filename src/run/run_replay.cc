#include "run/run_replay.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "risk/cluster_policy.h"
#include "run/run_folder.h"
#include "run/run_journal.h"
#include "supervise/run_terms.h"
#include "supervise/spot_belief.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

std::string names_of_vms(const std::vector<int>& vms) {
  std::vector<std::string> names;
  for (const int vm : vms) names.push_back(vm_name(vm));
  return join(names, ", ");
}

std::string seconds_text(Seconds time) { return fmt::format("{:.1f} s", time.in(kSecond)); }

std::string market_text(Market market) { return market == Market::kSpot ? "spot" : "on-demand"; }

// A shorter pause, as of a busy computer, is not told.
constexpr Seconds kSleepTold = 1 * kMinute;

std::optional<std::string> slept_text(Seconds time) {
  if (time < kSleepTold) return std::nullopt;
  return fmt::format(
      "Stint did not run for {} (the computer was suspended, or the process stopped); the time "
      "counts for the deadline and the cost, but not against workers",
      rounded(time));
}

std::optional<std::string> event_text(const Supervisor& supervisor, const RunEvent& event) {
  const std::string vm = event.vm ? vm_name(*event.vm) : "";
  switch (event.kind) {
    case Event::kVmUp: {
      if (!event.vm || *event.vm >= static_cast<int>(supervisor.vms().size())) return std::nullopt;
      const RunVm& it = supervisor.vms()[static_cast<std::size_t>(*event.vm)];
      return fmt::format("{} is up ({}, {})", vm, machine_type(it), market_text(it.market));
    }
    case Event::kLaunchRefused:
      return fmt::format("{} was refused: {}", vm, event.reason.value_or("no reason given"));
    case Event::kNotice:
      return fmt::format("{} will be interrupted in {}", vm,
                         seconds_text(event.duration.value_or(Seconds{})));
    case Event::kVmLost:
      return fmt::format("{} is lost", vm);
    case Event::kWorkersUp:
      return supervisor.attempt()
                 ? std::optional(fmt::format("training on {} after step {}",
                                             names_of_vms(supervisor.attempt()->vms),
                                             event.step.value_or(0)))
                 : std::nullopt;
    case Event::kSaved:
      if (supervisor.plain()) {
        // Scripts rename what they wrote, so only the folder is certain.
        const std::string path = event.reason.value_or("");
        return fmt::format("the script saved a checkpoint at step {} in {}", event.step.value_or(0),
                           path.substr(0, path.rfind('/')));
      }
      return fmt::format("checkpoint of step {} is complete, after {}", event.step.value_or(0),
                         seconds_text(event.duration.value_or(Seconds{})));
    case Event::kWorkerLost:
      return fmt::format("the worker on {} is lost{}", vm,
                         event.reason && !event.reason->empty() ? ": " + *event.reason : "");
    case Event::kPrices:
      return event.spot ? std::optional(fmt::format("the spot price is {:.4f} USD/h per machine",
                                                    event.spot->in(kDollar / kHour)))
                        : std::nullopt;
    case Event::kCapacity:
      return event.count ? std::optional(fmt::format(
                               "the spot capacity is {}",
                               counted(static_cast<std::size_t>(*event.count), "machine")))
                         : std::nullopt;
    case Event::kTerms:
    case Event::kRemark:
      return event.reason;
    case Event::kResumed:
      return "resumed by a new process";
    case Event::kStop:
      return event.reason.value_or("stop requested");
    case Event::kSlept:
      return slept_text(event.duration.value_or(Seconds{}));
    case Event::kSaveFailed:
    case Event::kTick:
    case Event::kStepDone:
    case Event::kWorkersDone:
    case Event::kPlain:
    case Event::kTakesOrders:
    case Event::kBilled:
      return std::nullopt;
  }
  return std::nullopt;
}

/// The predicted step time, where the latest moment orders training. It must be computed now,
/// because slots mean other machines after the next plan.
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

std::vector<StoryLine> lines_of(const Supervisor& supervisor, const RunMoment& moment) {
  std::vector<StoryLine> lines;
  // The supervisor's message about a loss contains more than the event.
  const bool said = std::any_of(moment.actions.begin(), moment.actions.end(),
                                [](const RunAction& it) { return it.kind == Act::kSay; });
  const Event kind = moment.event.kind;
  const bool covered = said && (kind == Event::kNotice || kind == Event::kVmLost ||
                                kind == Event::kWorkerLost || kind == Event::kLaunchRefused);
  if (auto text = covered ? std::nullopt : event_text(supervisor, moment.event)) {
    lines.push_back(
        {.at = moment.event.at, .text = std::move(*text), .saved = kind == Event::kSaved});
  }
  for (const RunAction& action : moment.actions) {
    if (action.kind == Act::kSay) lines.push_back({.at = moment.event.at, .text = action.reason});
    if (action.kind == Act::kReplan) {
      lines.push_back({.at = moment.event.at, .text = "replanning: " + action.reason});
    }
    if (action.kind == Act::kFinish) {
      lines.push_back({.at = moment.event.at,
                       .text = fmt::format("{}: {}", name_of(action.outcome), action.reason)});
    }
  }
  return lines;
}

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
