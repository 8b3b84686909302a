#include "cloud/exec_all.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cloud/process.h"

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

/// One of the two streams of a process, cut into lines.
struct Stream {
  Descriptor from;
  bool error = false;
  std::string rest = {};

  bool open() const { return from.get() >= 0; }

  void read(std::string_view vm, const PrintLine& print) {
    char buffer[65536];
    ssize_t got = 0;
    while ((got = ::read(from.get(), buffer, sizeof(buffer))) > 0) {
      rest.append(buffer, static_cast<std::size_t>(got));
      std::size_t end = 0;
      while ((end = rest.find('\n')) != std::string::npos) {
        print(vm, error, std::string_view(rest).substr(0, end));
        rest.erase(0, end + 1);
      }
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) close(vm, print);
  }

  void close(std::string_view vm, const PrintLine& print) {
    if (!rest.empty()) print(vm, error, rest);
    rest.clear();
    from.close();
  }
};

struct Worker {
  std::string vm;
  pid_t pid = -1;  // −1 once it ended.
  std::vector<Stream> streams = {};
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
    Worker worker{.vm = vm, .pid = *pid};
    for (Descriptor* from : {&out->from, &err->from}) {
      ::fcntl(from->get(), F_SETFL, O_NONBLOCK);
      worker.streams.push_back({.from = std::move(*from), .error = from == &err->from});
    }
    workers_.push_back(std::move(worker));
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
      for (const Stream& stream : worker.streams) {
        if (stream.open()) waiting.push_back({stream.from.get(), POLLIN, 0});
      }
    }
    ::poll(waiting.data(), waiting.size(), kTickMilliseconds);
    for (Worker& worker : workers_) read_streams(worker);
  }

  void read_streams(Worker& worker) {
    for (Stream& stream : worker.streams) {
      if (stream.open()) stream.read(worker.vm, print_);
    }
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
      read_streams(worker);
      for (Stream& stream : worker.streams) stream.close(worker.vm, print_);
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
