#include "cloud/local_cluster.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/listener.h"
#include "base/process.h"
#include "base/text.h"
#include "cloud/cluster_files.h"
#include "cloud/control.h"
#include "cloud/keeper.h"
#include "cloud/namespaces.h"
#include "cloud/network_plan.h"

namespace stint {
namespace {

constexpr Seconds kPatience = 120 * kSecond;  // For 64 VMs on a busy computer.

/// For tests: the step of creation at which the keeper hangs until it is killed.
constexpr const char* kStopVariable = "STINT_LOCAL_STOP_AT";

/// Blocks interrupts while the cluster is partly made.
class Uninterrupted {
 public:
  Uninterrupted() {
    sigset_t signals = ours();
    ::sigprocmask(SIG_BLOCK, &signals, &before_);
  }
  ~Uninterrupted() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

  static bool was_interrupted() {
    sigset_t pending;
    ::sigpending(&pending);
    return ::sigismember(&pending, SIGINT) == 1 || ::sigismember(&pending, SIGTERM) == 1;
  }

 private:
  static sigset_t ours() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
    return signals;
  }

  sigset_t before_ = {};
};

void leave_the_terminal() {
  ::setsid();
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int descriptor : {0, 1, 2}) ::dup2(nothing, descriptor);
}

/// Runs in the process between maker and keeper, which leaves the terminal and starts the keeper.
int make_keeper(KeeperStart start) {
  leave_the_terminal();
  close_all_but({start.listener, start.report, start.maker});
  const std::string journal = journal_path(start.folder);
  const auto born = clone_apart([&](pid_t pid) {
    const auto process = process_id(pid);
    return process ? append_file(journal, journal_line(*process))
                   : Status(failed("the keeper is gone"));
  });
  if (!born.ok()) {
    write_all(start.report,
              fmt::format("{} {}\n", static_cast<int>(born.error().kind), born.error().message));
    return 1;
  }
  if (born->pid != 0) return 0;
  start.user_namespace = born->user_namespace;
  run_keeper(std::move(start));
}

/// The keeper's report: ready, or an error with its kind.
Status heard(const std::string& line) {
  if (line == kReady) return {};
  const auto kind = parse_int(line.substr(0, line.find(' ')));
  if (!kind) return unavailable("the keeper of the cluster died during creation");
  return Error{static_cast<ErrorKind>(*kind), line.substr(line.find(' ') + 1)};
}

/// Waits until the processes of the journal other than this one have ended, two seconds at most.
void await_end(const std::vector<ProcessId>& processes) {
  constexpr int kTries = 400;
  for (int i = 0; i < kTries; ++i) {
    const bool any = std::any_of(processes.begin(), processes.end(), [](const ProcessId& it) {
      return it.pid != ::getpid() && is_alive(it);
    });
    if (!any) return;
    ::usleep(5000);
  }
}

std::vector<ProcessId> keepers_of(const std::string& folder) {
  const auto text = read_file(journal_path(folder));
  if (!text.ok()) return {};
  const auto journal = read_journal(*text, folder);
  if (!journal.ok() || journal->processes.size() < 2) return {};
  return {journal->processes.begin() + 1, journal->processes.end()};
}

Json question_of(const char* what, const std::string& vm = "") {
  Json question;
  question.add("ask", what);
  if (!vm.empty()) question.add("vm", Json(vm));
  return question;
}

}  // namespace

Result<LocalCluster> LocalCluster::start(const std::string& root, const ClusterSpec& spec) {
  const Uninterrupted uninterrupted;
  const char* stop = std::getenv(kStopVariable);
  const std::string stop_at = stop == nullptr ? "" : stop;
  const Status files = make_cluster_files(root, spec.name);
  if (!files.ok()) return files.error();
  const std::string folder = cluster_folder(root, spec.name);
  hang_at(stop_at, "folder");
  const auto undo = [&](const Error& error) {
    const Status removed = remove_cluster(folder);
    return removed.ok() ? error : Error{error.kind, error.message + "; " + removed.error().message};
  };
  const auto own = process_id(::getpid());
  const Status noted = own ? append_file(journal_path(folder), journal_line(*own))
                           : Status(failed("cannot read /proc; is it mounted?"));
  if (!noted.ok()) return undo(noted.error());
  hang_at(stop_at, "journal");
  auto listener = Listener::in_folder(folder, kSocketName);
  auto maker = make_pipe();
  if (!listener.ok()) return undo(listener.error());
  if (!maker.ok()) return undo(maker.error());
  hang_at(stop_at, "socket");
  const auto routes = read_file("/proc/net/route");
  const auto between = fork_child([&](int report) {
    return make_keeper({.spec = spec,
                        .folder = folder,
                        .cgroups = cgroup_place(),
                        .range = free_range(routes.ok() ? *routes : ""),
                        .listener = listener->descriptor(),
                        .report = report,
                        .maker = maker->from.get(),
                        .stop_at = stop_at});
  });
  if (!between.ok()) return undo(between.error());
  listener->close();
  maker->from.close();
  wait_for_exit(between->pid);
  const Status ready = heard(read_line(between->report.get(), kPatience));
  if (!ready.ok()) {
    await_end(keepers_of(folder));
    return undo(ready.error());
  }
  LocalCluster cluster(folder, spec.name);
  cluster.maker_ = std::move(maker->to);
  if (Uninterrupted::was_interrupted()) {
    const auto ended = cluster.down();
    return ended.ok() ? failed("interrupted; everything is removed") : ended.error();
  }
  return cluster;
}

Result<LocalCluster> LocalCluster::open(const std::string& root, const std::string& name) {
  const std::vector<std::string> names = cluster_names(root);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return bad_usage(fmt::format("there is no cluster {}{}; create one with 'stint local up'",
                                 printable(name),
                                 names.empty() ? "" : fmt::format(", only {}", join(names, ", "))));
  }
  return LocalCluster(cluster_folder(root, name), name);
}

Result<LocalCluster::Answer> LocalCluster::ask(const Json& question) const {
  const auto socket = connect_in_folder(folder_, kSocketName);
  if (!socket.ok()) {
    return failed(fmt::format(
        "the keeper of the cluster {} is gone; remove the leftovers with 'stint local clean'",
        name_));
  }
  const Status sent = send_message(socket->get(), question);
  if (!sent.ok()) return sent.error();
  auto message = receive_message(socket->get(), kPatience);
  if (!message.ok()) return message.error();
  if (auto error = error_in(message->json)) return *error;
  auto status = decode<ClusterStatus>(message->json, kClusterSchema, "keeper");
  if (!status.ok()) return status.error();
  return Answer{std::move(status->noun), std::move(message->attached)};
}

Result<ClusterStatus> LocalCluster::status() const {
  auto answer = ask(question_of("list"));
  if (!answer.ok()) return answer.error();
  return std::move(answer->status);
}

Result<std::string> LocalCluster::address(const std::string& vm) const {
  const auto now = status();
  if (!now.ok()) return now.error();
  const auto found = find_vm(*now, vm);
  if (!found.ok()) return found.error();
  return (*found)->address;
}

Result<ClusterStatus> LocalCluster::ask_about(const std::string& vm, const Json& question) const {
  auto answer = ask(question);
  if (!answer.ok()) return answer.error();
  const auto found = find_vm(answer->status, vm);
  if (!found.ok()) return found.error();
  return std::move(answer->status);
}

Result<ClusterStatus> LocalCluster::add(const VmSpec& vm) const {
  Json question = question_of("add");
  question.add("spec", encode(vm, kVmSpecSchema));
  return ask_about(vm.name, question);
}

Result<ClusterStatus> LocalCluster::release(const std::string& vm) const {
  return ask_about(vm, question_of("release", vm));
}

Result<ClusterStatus> LocalCluster::reshape(const std::string& vm, BytesPerSecond network) const {
  Json question = question_of("reshape", vm);
  question.add("network_bytes_per_s", Json(network.in(kByte / kSecond)));
  return ask_about(vm, question);
}

Result<ClusterStatus> LocalCluster::preempt(const std::string& vm, Seconds notice) const {
  Json question = question_of("preempt", vm);
  question.add("notice_s", Json(notice.in(kSecond)));
  return ask_about(vm, question);
}

Result<pid_t> LocalCluster::spawn(const std::string& vm, Command command) const {
  const auto answer = ask(question_of("enter", vm));
  if (!answer.ok()) return answer.error();
  const auto found = find_vm(answer->status, vm);
  if (!found.ok()) return found.error();
  if (answer->attached.get() < 0) {
    return failed(fmt::format("{} was interrupted; nothing runs on it", vm));
  }
  command.variables.push_back("STINT_VM=" + vm);
  return spawn_in({.process = answer->attached.get(),
                   .user_namespace = answer->status.user_namespace,
                   .cgroup = (*found)->cgroup.value_or("")},
                  std::move(command));
}

Result<ClusterStatus> LocalCluster::down() const {
  const std::vector<ProcessId> keepers = keepers_of(folder_);
  auto answer = ask(question_of("down"));
  if (!answer.ok()) return answer.error();
  await_end(keepers);
  return std::move(answer->status);
}

}  // namespace stint
