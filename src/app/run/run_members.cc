// The processes of runs that share machines; what is decided before is in run_together.cc.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "app/run/run_conduct.h"
#include "app/run/run_together.h"
#include "base/descriptor.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "checkpoint/secret.h"
#include "cloud/cluster_files.h"
#include "provider/asked_provider.h"
#include "provider/emulated/shared_engine.h"
#include "run/run_clock.h"
#include "run/run_folder.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

constexpr Seconds kLook = 50 * kMillisecond;  // Between two looks for an interrupt.

/// A run and the process that conducts it.
struct Member {
  ReplayedRun run;
  std::string folder;
  bool resumed = false;
  Descriptor errors = {};  // It says why it failed.
};

/// Turnstiles are best in memory, where nothing waits for a disk.
Result<std::string> make_sharing_folder(const std::string& run) {
  std::string memory = "/dev/shm/stint-XXXXXX";
  if (::mkdtemp(memory.data()) != nullptr) return memory;
  std::string beside = run + "/sharing-XXXXXX";
  if (::mkdtemp(beside.data()) != nullptr) return beside;
  return failed(fmt::format("there is no folder for turnstiles in /dev/shm or in {}", run));
}

/// Exit codes of members: how the run ended, or that it could not be conducted.
constexpr std::array kOutcomes = {RunVerdict::kTrained, RunVerdict::kStopped, RunVerdict::kGaveUp};
constexpr int kNotConducted = 255;
constexpr int kSignalled = 128;  // And the number of the signal that ended it.

int code_of(RunVerdict outcome) {
  return static_cast<int>(std::find(kOutcomes.begin(), kOutcomes.end(), outcome) -
                          kOutcomes.begin());
}

/// What the process of a member does.
Result<RunResult> conduct_member(const Environment& environment, Member& member,
                                 const RunAudience& progress) {
  const auto lock = lock_run(member.folder);
  if (!lock.ok()) return lock.error();
  const RunSharing sharing = *member.run.record.sharing;
  const auto cluster = LocalCluster::open(cluster_root(environment), sharing.cluster);
  if (!cluster.ok()) return cluster.error();
  const SharedEngine engine(*cluster, {.folder = sharing.folder,
                                       .member = sharing.member,
                                       .variables = turn_variables(sharing, member.run.record.name),
                                       .log_folder = log_folder(member.folder)});
  AskedProvider provider(engine);
  return conduct(environment, member.folder, std::move(member.run), provider, progress,
                 member.resumed);
}

/// Nobody is left paying for machines, unless one of the two runs by itself.
void clear(const Environment& environment, const RunRecord& record) {
  const auto root = runs_root(environment);
  if (!root.ok()) return;
  for (const std::string& name : {record.name, record.sharing->partner}) {
    if (running_process(*root + "/" + name)) return;
  }
  const auto cluster = LocalCluster::open(cluster_root(environment), record.sharing->cluster);
  if (cluster.ok()) (void)cluster->down();
  std::error_code ignored;
  fs::remove_all(record.sharing->folder, ignored);
}

int be_member(const Environment& environment, Member& member, pid_t parent, int out,
              const RunAudience& progress) {
  const RunRecord record = member.run.record;
  const auto result = conduct_member(environment, member, progress);
  if (::getppid() != parent) clear(environment, record);  // Who would have done it is gone.
  if (!result.ok()) write_all(out, result.error().message);
  std::fflush(nullptr);
  return result.ok() ? code_of(result->end.outcome) : kNotConducted;
}

Status start_member(const Environment& environment, Member& member, Children& processes,
                    const RunAudience& progress) {
  const pid_t parent = ::getpid();
  std::fflush(nullptr);
  // Whoever interrupts the pair tells the parent, which tells the members once.
  auto child = fork_child(
      [&](int report) { return be_member(environment, member, parent, report, progress); },
      {.group = ProcessGroup::kOwn, .death_signal = SIGTERM});
  if (!child.ok()) return child.error();
  member.errors = std::move(child->report);
  processes.add(child->pid);
  return {};
}

MemberEnd end_of(const Member& member, int code) {
  MemberEnd end{.name = member.run.record.name, .folder = member.folder};
  read_to_end(member.errors.get(), kSecond, end.error);
  const auto outcome = static_cast<std::size_t>(code);
  if (outcome < kOutcomes.size()) end.outcome = kOutcomes[outcome];
  if (code > kSignalled && code != kNotConducted) {
    end.error = fmt::format("the process of the run was ended by signal {}", code - kSignalled);
  }
  return end;
}

/// Waits for all members; an interrupt is passed on.
std::vector<MemberEnd> wait_for(const std::vector<Member>& members, Children& processes,
                                const StopSignals& /*noted*/) {
  std::vector<MemberEnd> ends;
  while (processes.running()) {
    if (StopSignals::take() != 0) processes.signal_all(SIGTERM);
    processes.wait(kLook);
    for (const std::size_t ended : processes.reap()) {
      ends.push_back(end_of(members[ended], processes.code(ended)));
    }
  }
  return ends;
}

Result<std::vector<MemberEnd>> conduct_all(const Environment& environment,
                                           std::vector<Member> members,
                                           const RunAudience& progress) {
  const RunRecord record = members.front().run.record;
  const StopSignals noted;
  Children processes;
  Status started;
  for (Member& member : members) {
    if (started.ok()) started = start_member(environment, member, processes, progress);
  }
  if (!started.ok()) processes.signal_all(SIGTERM);
  std::vector<MemberEnd> ends = wait_for(members, processes, noted);
  clear(environment, record);
  if (!started.ok()) return started.error();
  std::sort(ends.begin(), ends.end(), [&](const MemberEnd& a, const MemberEnd& b) {
    return (a.name == record.name) > (b.name == record.name);
  });
  return ends;
}

/// Makes the folders of both runs with all that is in them; on an error none is left.
Result<std::vector<Member>> make_members(const Environment& environment, const std::string& root,
                                         PreparedTogether& pair) {
  std::vector<Member> members;
  const auto undo = [&](const Error& error) {
    std::error_code ignored;
    for (const Member& member : members) fs::remove_all(member.folder, ignored);
    return error;
  };
  for (PreparedRun& run : pair.runs) {
    auto folder = make_run_folder(root, run.record.name);
    if (!folder.ok()) return undo(folder.error());
    members.push_back({.run = {}, .folder = *folder});
    run.record.secret = make_secret();
    begin_run(run.record, read_clocks(*environment.clock));
  }
  const auto sharing = make_sharing_folder(members[0].folder);
  if (!sharing.ok()) return undo(sharing.error());
  RunRecord alone = pair.runs[0].record;
  alone.sharing.reset();
  const std::string cluster = cluster_name(alone);
  for (std::size_t i = 0; i < members.size(); ++i) {
    PreparedRun& run = pair.runs[i];
    run.record.sharing->cluster = cluster;
    run.record.sharing->folder = *sharing;
    const Status written = write_run_files(members[i].folder, run);
    if (!written.ok()) return undo(written.error());
    members[i].run = new_run(run);
  }
  return members;
}

/// The run in `folder`, or nothing where it is over already.
std::optional<Member> member_to_resume(const std::string& folder) {
  if (running_process(folder)) return std::nullopt;
  auto run = load_to_resume(folder);
  if (!run.ok() || !run->record.sharing) return std::nullopt;
  return Member{.run = std::move(*run), .folder = folder, .resumed = true};
}

}  // namespace

Result<std::vector<MemberEnd>> start_together(const Environment& environment, PreparedTogether pair,
                                              const RunAudience& progress) {
  const auto root = runs_root(environment);
  if (!root.ok()) return root.error();
  auto members = make_members(environment, *root, pair);
  if (!members.ok()) return members.error();
  const RunRecord& record = members->front().run.record;
  const auto cluster = LocalCluster::start(
      cluster_root(environment),
      {.name = record.sharing->cluster, .vms = {}, .notice = record.notice, .pool = record.pool});
  if (!cluster.ok()) {
    std::error_code ignored;
    fs::remove_all(record.sharing->folder, ignored);
    for (const Member& member : *members) fs::remove_all(member.folder, ignored);
    return cluster.error();
  }
  return conduct_all(environment, std::move(*members), progress);
}

Result<bool> is_shared(const Environment& environment, const std::string& name) {
  const auto folder = find_run(environment, name);
  if (!folder.ok()) return folder.error();
  const auto text = read_file(record_path(*folder));
  if (!text.ok()) return text.error();
  const auto record = read_run(*text, record_path(*folder));
  if (!record.ok()) return record.error();
  return record->noun.sharing.has_value();
}

Result<std::vector<MemberEnd>> resume_together(const Environment& environment,
                                               const std::string& name,
                                               const RunAudience& progress) {
  const auto root = runs_root(environment);
  if (!root.ok()) return root.error();
  const auto folder = find_run(environment, name);
  if (!folder.ok()) return folder.error();
  {
    const auto free = lock_run(*folder);
    if (!free.ok()) return free.error();
  }
  auto asked = load_to_resume(*folder);
  if (!asked.ok()) return asked.error();
  std::vector<Member> members;
  members.push_back({.run = std::move(*asked), .folder = *folder, .resumed = true});
  const RunSharing sharing = *members[0].run.record.sharing;
  const std::string partner = *root + "/" + sharing.partner;
  if (auto other = member_to_resume(partner)) members.push_back(std::move(*other));
  const auto left = LocalCluster::open(cluster_root(environment), sharing.cluster);
  const bool there = left.ok() && left->status().ok() && fs::exists(sharing.folder);
  if (!there) {
    const auto renewed = make_sharing_folder(*folder);
    if (!renewed.ok()) return renewed.error();
    for (Member& member : members) {
      member.run.record.sharing->folder = *renewed;
      const Status written = write_file(record_path(member.folder), write_run(member.run.record));
      if (!written.ok()) return written.error();
    }
  }
  const auto cluster = cluster_to_resume(environment, members[0].run, sharing.cluster);
  if (!cluster.ok()) return cluster.error();
  return conduct_all(environment, std::move(members), progress);
}

}  // namespace stint
