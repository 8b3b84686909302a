#include "app/run/run_left.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "app/run/run_conduct.h"
#include "base/file.h"
#include "checkpoint/checkpoint_files.h"
#include "cloud/cluster_files.h"
#include "provider/emulated/shared_engine.h"
#include "run/run_folder.h"
#include "run/run_journal.h"

namespace stint {
namespace {

using Event = RunEventKind;

std::string partner_folder(const std::string& folder, const RunRecord& record) {
  return (std::filesystem::path(folder).parent_path() / record.sharing->partner).string();
}

/// The cluster as the run sees it; nothing where what it shares cannot be told any more.
std::optional<ClusterStatus> view_for(const RunRecord& record, const ClusterStatus& status) {
  if (!record.sharing) return status;
  const std::string path = record.sharing->folder + "/claims.json";
  const auto text = read_file(path);
  if (!text.ok()) return std::nullopt;
  const auto claims = read_machine_claims(*text, path);
  if (!claims.ok()) return std::nullopt;
  return view_of(*claims, status, record.sharing->member);
}

/// The number of a machine that the run asked for; nothing for another's.
std::optional<int> number_of(const ReplayedRun& run, const std::string& name) {
  for (int vm = 0; vm < static_cast<int>(run.supervisor->vms().size()); ++vm) {
    if (vm_name(vm) == name) return vm;
  }
  return std::nullopt;
}

/// What a new process would see that takes the run over and stops it at once.
std::vector<RunEvent> stopping(const ReplayedRun& run, const std::string& folder,
                               const ClusterStatus& status) {
  const auto found = latest(checkpoint_folder(folder));
  const std::int64_t saved = found.ok() && found->checkpoint ? found->checkpoint->step : 0;
  std::vector<RunEvent> events = {{.kind = Event::kResumed, .step = saved}};
  std::vector<bool> there(run.supervisor->vms().size());
  for (const VmStatus& vm : status.vms) {
    const auto number = number_of(run, vm.name);
    if (!number || vm.phase == VmPhase::kTaken) continue;
    there[static_cast<std::size_t>(*number)] = true;
    events.push_back({.kind = Event::kVmUp, .vm = number});
  }
  for (std::size_t vm = 0; vm < there.size(); ++vm) {
    if (there[vm] || run.supervisor->vms()[vm].phase == RunVmPhase::kGone) continue;
    events.push_back({.kind = Event::kVmLost, .vm = static_cast<int>(vm)});
  }
  events.push_back({.kind = Event::kStop, .reason = "a stop was requested; its process was gone"});
  return events;
}

/// Notes in the journal of a run that its machines, which were as in `before`, are released, with
/// the bill of `after`.
Status note_release(const Environment& environment, const std::string& folder,
                    const ClusterStatus& before, const ClusterStatus& after) {
  auto run = replay_run_folder(folder);
  if (!run.ok()) return run.error();
  const auto seen = view_for(run->record, before);
  const auto bill = view_for(run->record, after);
  if (!seen || !bill) return {};
  std::vector<RunEvent> events;
  if (!run->supervisor->finished()) events = stopping(*run, folder, *seen);
  for (const VmStatus& vm : bill->vms) {
    const auto number = number_of(*run, vm.name);
    if (!number || run->supervisor->vms()[static_cast<std::size_t>(*number)].billed) continue;
    events.push_back({.kind = Event::kBilled, .vm = number, .duration = vm.age, .cost = vm.cost});
  }
  auto journal = RunJournal::open(journal_path_of(folder));
  if (!journal.ok()) return journal.error();
  for (RunEvent& event : events) {
    event.at = run_time_now(environment, *run);
    const Status kept = journal->append(event, run->supervisor->handle(event));
    if (!kept.ok()) return kept;
  }
  return {};
}

StoryVm* vm_in(RunStory& story, const std::string& name) {
  const auto found = std::find_if(story.vms.begin(), story.vms.end(),
                                  [&](const StoryVm& it) { return it.name == name; });
  return found == story.vms.end() ? nullptr : &*found;
}

}  // namespace

std::optional<LeftMachines> machines_left(const Environment& environment, const std::string& folder,
                                          const RunRecord& record) {
  if (running_process(folder)) return std::nullopt;
  if (record.sharing && running_process(partner_folder(folder, record))) return std::nullopt;
  const auto cluster = LocalCluster::open(cluster_root(environment), cluster_name(record));
  if (!cluster.ok()) return std::nullopt;
  const auto all = cluster->status();
  if (!all.ok()) return std::nullopt;  // Nobody keeps the machines, so that they are gone.
  LeftMachines left{.status = view_for(record, *all).value_or(*all), .rate = {}, .cost = {}};
  for (const VmStatus& vm : left.status.vms) {
    if (vm.phase == VmPhase::kTaken) continue;
    left.vms.push_back(vm.name);
    left.rate += vm.price;
    left.cost += vm.cost;
  }
  if (left.vms.empty()) return std::nullopt;
  return left;
}

void tell_of_left(const LeftMachines& left, Seconds now, RunStory& story) {
  const Dollars before = story.cost;
  for (const VmStatus& vm : left.status.vms) {
    const bool up = vm.phase != VmPhase::kTaken;
    const Seconds end = now - (left.status.age - vm.born - vm.age);
    StoryVm* known = vm_in(story, vm.name);
    if (known == nullptr) {
      story.vms.push_back(
          {.name = vm.name, .type = vm.type, .market = vm.market, .from = end - vm.age});
      known = &story.vms.back();
    } else if (known->until) {
      continue;  // Its bill came before the process was gone.
    }
    story.cost += vm.cost - known->cost;
    known->cost = vm.cost;
    known->billed = vm.age;
    if (up) continue;
    known->until = end;
    known->taken = !vm.released.value_or(false);
    story.losses += known->taken ? 1 : 0;
  }
  const Seconds passed = std::max(Seconds{}, now - story.time);
  story.time += passed;
  if (story.parts.empty()) return;
  story.parts.back().time += passed;
  story.parts.back().cost += story.cost - before;
}

Result<StoppedRun> release_left(const Environment& environment, const std::string& folder) {
  const auto lock = lock_run(folder);
  if (!lock.ok()) return lock.error();
  const auto run = replay_run_folder(folder);
  if (!run.ok()) return run.error();
  const RunRecord& record = run->record;
  const std::string name = cluster_name(record);
  const auto cluster = LocalCluster::open(cluster_root(environment), name);
  if (!cluster.ok()) {
    return bad_usage(fmt::format("the run {} is not running and has no machines", record.name));
  }
  std::vector<std::string> folders = {folder};
  if (record.sharing) folders.push_back(partner_folder(folder, record));
  if (record.sharing && running_process(folders[1])) {
    return bad_usage(
        fmt::format("the run {} is not running; its machines train {}, which 'stint "
                    "stop {}' stops",
                    record.name, record.sharing->partner, record.sharing->partner));
  }
  StoppedRun stopped{.name = record.name, .was_conducted = false, .released = {}, .cost = {}};
  if (const auto before = cluster->status(); before.ok()) {
    const auto after = cluster->down();
    if (!after.ok()) return after.error();
    for (const VmStatus& vm : before->vms) {
      if (vm.phase != VmPhase::kTaken) stopped.released.push_back(vm.name);
    }
    for (const std::string& one : folders) {
      if (!std::filesystem::exists(record_path(one))) continue;
      const Status noted = note_release(environment, one, *before, *after);
      if (!noted.ok()) return noted.error();
    }
  } else {
    (void)clean_clusters(cluster_root(environment));  // Its keeper is gone.
  }
  std::error_code ignored;
  if (record.sharing) std::filesystem::remove_all(record.sharing->folder, ignored);
  const auto told = replay_run_folder(folder);
  if (!told.ok()) return told.error();
  stopped.cost = told->supervisor->cost();
  return stopped;
}

}  // namespace stint
