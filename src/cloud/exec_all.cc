#include "cloud/exec_all.h"

#include <csignal>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"

namespace stint {
namespace {

constexpr int kInterrupted = 130;
constexpr int kTickMilliseconds = 50;

volatile std::sig_atomic_t interrupted = 0;  // NOLINT: signal handlers have nothing else.

/// While it lives, Ctrl-C only sets a flag.
class Interrupts {
 public:
  Interrupts() {
    interrupted = 0;
    struct sigaction action {};
    action.sa_handler = [](int /*signal*/) { interrupted = 1; };
    ::sigaction(SIGINT, &action, &interrupt_);
    ::sigaction(SIGTERM, &action, &terminate_);
  }
  ~Interrupts() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGTERM, &terminate_, nullptr);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  struct sigaction interrupt_ = {};
  struct sigaction terminate_ = {};
};

struct Worker {
  std::string vm;
  pid_t pid = -1;  // −1 once it ended.
  LineStream out = {};
  LineStream err = {};
};

class Crew {
 public:
  explicit Crew(const PrintLine& print) : print_(print) {}
  ~Crew() { kill_all(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  Status start(const LocalCluster& cluster, const std::string& vm, SpawnRequest request) {
    auto out = make_pipe();
    if (!out.ok()) return out.error();
    auto err = make_pipe();
    if (!err.ok()) return err.error();
    request.out = out->to.get();
    request.err = err->to.get();
    const auto pid = cluster.spawn(vm, std::move(request));
    if (!pid.ok()) return pid.error();
    workers_.push_back({.vm = vm,
                        .pid = *pid,
                        .out = LineStream(std::move(out->from)),
                        .err = LineStream(std::move(err->from))});
    return {};
  }

  int wait() {
    while (running()) {
      if (interrupted != 0) {
        kill_all();
        return kInterrupted;
      }
      read_some();
      reap();
      if (first_failure_ != 0) kill_all();
    }
    return first_failure_;
  }

 private:
  bool running() const {
    bool any = false;
    for (const Worker& worker : workers_) any = any || worker.pid >= 0;
    return any;
  }

  void read_some() {
    std::vector<pollfd> waiting;
    for (const Worker& worker : workers_) {
      for (const LineStream* stream : {&worker.out, &worker.err}) {
        if (stream->open()) waiting.push_back({stream->descriptor(), POLLIN, 0});
      }
    }
    ::poll(waiting.data(), waiting.size(), kTickMilliseconds);
    for (Worker& worker : workers_) read_streams(worker);
  }

  LineStream::TakeLine printer(const Worker& worker, bool error) const {
    return [this, &worker, error](std::string_view line) { print_(worker.vm, error, line); };
  }

  void read_streams(Worker& worker) const {
    worker.out.read(printer(worker, false));
    worker.err.read(printer(worker, true));
  }

  /// What is left when its process is gone; others that it started may still hold the other end.
  void drain(Worker& worker) const {
    read_streams(worker);
    worker.out.close(printer(worker, false));
    worker.err.close(printer(worker, true));
  }

  void reap() {
    for (Worker& worker : workers_) {
      int status = 0;
      if (worker.pid < 0 || ::waitpid(worker.pid, &status, WNOHANG) != worker.pid) continue;
      worker.pid = -1;
      if (first_failure_ == 0) first_failure_ = exit_code_of(status);
      read_streams(worker);
    }
  }

  void kill_all() {
    for (const Worker& worker : workers_) {
      if (worker.pid >= 0) ::kill(-worker.pid, SIGKILL);
    }
    for (Worker& worker : workers_) {
      if (worker.pid >= 0) ::waitpid(worker.pid, nullptr, 0);
      worker.pid = -1;
      drain(worker);
    }
  }

  const PrintLine& print_;
  std::vector<Worker> workers_;
  int first_failure_ = 0;
};

}  // namespace

std::vector<std::string> rank_variables(int rank, int ranks, const std::string& master, int port) {
  return {fmt::format("MASTER_ADDR={}", master),
          fmt::format("MASTER_PORT={}", port),
          fmt::format("RANK={}", rank),
          "LOCAL_RANK=0",
          fmt::format("WORLD_SIZE={}", ranks),
          fmt::format("NODE_RANK={}", rank),
          fmt::format("GLOO_SOCKET_IFNAME={}", kNicName)};
}

Result<int> exec_all(const LocalCluster& cluster, const ExecRequest& request,
                     const PrintLine& print) {
  const auto status = cluster.status();
  if (!status.ok()) return status.error();
  std::vector<const VmStatus*> vms;
  for (const VmStatus& vm : status->vms) {
    if (request.vms.empty() && vm.phase != VmPhase::kTaken) vms.push_back(&vm);
  }
  for (const std::string& name : request.vms) {
    const auto vm = find_vm(*status, name);
    if (!vm.ok()) return vm.error();
    vms.push_back(*vm);
  }
  if (vms.empty()) return failed(fmt::format("no VM of the cluster {} runs", cluster.name()));
  const Interrupts interrupts;
  Crew crew(print);
  for (std::size_t i = 0; i < vms.size(); ++i) {
    std::vector<std::string> variables = rank_variables(
        static_cast<int>(i), static_cast<int>(vms.size()), vms[0]->address, request.port);
    variables.insert(variables.end(), request.variables.begin(), request.variables.end());
    const Status started = crew.start(
        cluster, vms[i]->name, {.command = request.command, .variables = std::move(variables)});
    if (!started.ok()) return started.error();
  }
  return crew.wait();
}

}  // namespace stint
