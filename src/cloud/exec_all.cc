#include "cloud/exec_all.h"

#include <csignal>
#include <fmt/format.h>
#include <poll.h>

#include "base/descriptor.h"
#include "base/process.h"
#include "cloud/network_plan.h"

namespace stint {
namespace {

constexpr int kInterrupted = 130;
constexpr int kTickMilliseconds = 50;

/// The output of the program on one VM.
struct Output {
  std::string vm;
  LineStream out;
  LineStream err;
};

/// The program on all of its VMs.
class Crew {
 public:
  explicit Crew(const PrintLine& print) : print_(print) {}
  ~Crew() { end_all(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  Status start(const LocalCluster& cluster, const std::string& vm, Command command) {
    auto out = make_pipe();
    if (!out.ok()) return out.error();
    auto err = make_pipe();
    if (!err.ok()) return err.error();
    command.out = out->to.get();
    command.err = err->to.get();
    const auto pid = cluster.spawn(vm, std::move(command));
    if (!pid.ok()) return pid.error();
    children_.add(*pid);
    outputs_.push_back({vm, LineStream(std::move(out->from)), LineStream(std::move(err->from))});
    return {};
  }

  /// The exit code of exec_all.
  int wait() {
    while (children_.running() && children_.first_failure() == 0) {
      if (StopSignals::take() != 0) return kInterrupted;
      read_some();
      for (const std::size_t ended : children_.reap()) read(outputs_[ended]);
    }
    return children_.first_failure();
  }

 private:
  void read_some() {
    std::vector<pollfd> waiting;
    for (const Output& output : outputs_) {
      for (const LineStream* stream : {&output.out, &output.err}) {
        if (stream->open()) waiting.push_back({stream->descriptor(), POLLIN, 0});
      }
    }
    ::poll(waiting.data(), waiting.size(), kTickMilliseconds);
    for (Output& output : outputs_) read(output);
  }

  LineStream::TakeLine printer(const Output& output, bool error) const {
    return [this, &output, error](std::string_view line) { print_(output.vm, error, line); };
  }

  void read(Output& output) const {
    output.out.read(printer(output, false));
    output.err.read(printer(output, true));
  }

  /// Kills the running programs and prints the rest of their output; their children may still hold
  /// the other ends of the pipes.
  void end_all() {
    children_.kill_all();
    for (Output& output : outputs_) {
      read(output);
      output.out.close(printer(output, false));
      output.err.close(printer(output, true));
    }
  }

  const PrintLine& print_;
  Children children_;
  std::vector<Output> outputs_;
};

}  // namespace

std::vector<std::string> rank_variables(const RankPlace& at, const std::string& master, int port) {
  return {fmt::format("MASTER_ADDR={}", master),
          fmt::format("MASTER_PORT={}", port),
          fmt::format("RANK={}", at.rank),
          fmt::format("LOCAL_RANK={}", at.local_rank),
          fmt::format("WORLD_SIZE={}", at.ranks),
          fmt::format("LOCAL_WORLD_SIZE={}", at.local_ranks),
          fmt::format("NODE_RANK={}", at.vm),
          fmt::format("GROUP_RANK={}", at.vm),
          fmt::format("GROUP_WORLD_SIZE={}", at.vms),
          fmt::format("ROLE_RANK={}", at.rank),
          fmt::format("ROLE_WORLD_SIZE={}", at.ranks),
          "ROLE_NAME=default",
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
  if (vms.empty()) return failed(fmt::format("the cluster {} has no running VM", cluster.name()));
  const StopSignals interrupts({SIGINT, SIGTERM});
  Crew crew(print);
  for (std::size_t i = 0; i < vms.size(); ++i) {
    const auto rank = static_cast<int>(i);
    const auto ranks = static_cast<int>(vms.size());
    std::vector<std::string> variables = rank_variables(
        {.rank = rank, .ranks = ranks, .vm = rank, .vms = ranks}, vms[0]->address, request.port);
    variables.insert(variables.end(), request.variables.begin(), request.variables.end());
    const Status started = crew.start(
        cluster, vms[i]->name, {.words = request.command, .variables = std::move(variables)});
    if (!started.ok()) return started.error();
  }
  return crew.wait();
}

}  // namespace stint
