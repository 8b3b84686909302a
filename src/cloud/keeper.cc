#include "cloud/keeper.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <random>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/clock.h"
#include "base/codec.h"
#include "base/file.h"
#include "cloud/cluster_files.h"
#include "cloud/cluster_status.h"
#include "cloud/control.h"
#include "cloud/journal.h"
#include "cloud/network_plan.h"
#include "cloud/vm_init.h"
#include "cloud/vm_record.h"

namespace stint {
namespace {

constexpr Seconds kPatience = 30 * kSecond;  // Computers may be busy.
constexpr Seconds kLongestSleep = 1 * kSecond;

volatile std::sig_atomic_t told_to_end = 0;  // NOLINT: signal handlers have nothing else.

void on_signal(int /*signal*/) { told_to_end = 1; }

int open_process(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, static_cast<long>(pid), 0L));
}

/// The notice that a message asks for; none without one.
Seconds notice_of(const Json& json) {
  const Json* notice = json.find("notice_s");
  if (notice == nullptr) return {};
  if (const double* seconds = notice->as<double>()) return *seconds * kSecond;
  const std::int64_t* whole = notice->as<std::int64_t>();
  return whole == nullptr ? Seconds{} : static_cast<double>(*whole) * kSecond;
}

/// A VM and the first of its processes.
struct Machine {
  VmRecord record;
  pid_t pid = -1;
  Descriptor process = {};
  std::string cgroup = {};
  bool told = false;
};

class Keeper {
 public:
  explicit Keeper(KeeperStart start)
      : start_(std::move(start)), news_(shared_news(start_.spec.vms.size())) {}

  Status make() {
    hang_at(start_.stop_at, "namespaces");
    const Status status = run_commands(switch_commands());
    if (!status.ok()) return status;
    hang_at(start_.stop_at, "switch");
    for (std::size_t i = 0; i < start_.spec.vms.size(); ++i) {
      const Status made = make_vm(i);
      if (!made.ok()) return made;
    }
    hang_at(start_.stop_at, "made");
    return {};
  }

  void serve() {
    while (told_to_end == 0 && !going_down_) {
      reap();
      advance();
      pollfd waiting[] = {{.fd = start_.listener, .events = POLLIN, .revents = 0},
                          {.fd = start_.maker, .events = POLLIN, .revents = 0}};
      ::poll(waiting, start_.spec.ends_with_maker ? 2 : 1, sleep_milliseconds());
      if (waiting[1].revents != 0) return;
      if ((waiting[0].revents & POLLIN) != 0) converse();
    }
  }

  /// Kills the VMs and waits until they are gone.
  void end_vms() {
    for (Machine& machine : machines_) end_vm(machine);
    for (const Machine& machine : machines_) {
      pollfd waiting{.fd = machine.process.get(), .events = POLLIN, .revents = 0};
      ::poll(&waiting, 1, 2000);
    }
  }

  /// The client that asked for the end gets its answer last.
  void say_farewell() {
    if (farewell_.get() >= 0) (void)send_message(farewell_.get(), status());
  }

 private:
  Status make_vm(std::size_t index) {
    const VmSpec& spec = start_.spec.vms[index];
    const int number = static_cast<int>(index) + 1;
    const NicPlan nic{
        .index = number, .address = vm_address(start_.range, number), .rate = spec.network};
    auto go = make_pipe();
    if (!go.ok()) return go.error();
    auto report = make_pipe();
    if (!report.ok()) return report.error();
    Machine machine;
    const Status limited = make_quota(spec, machine);
    if (!limited.ok()) return limited;
    machine.pid = clone_process(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID);
    if (machine.pid == 0) {
      close_all_but({go->from.get(), report->to.get()});
      std::random_device chance;
      Random random((std::uint64_t{chance()} << 32U) + chance());
      const MetadataFacts facts{.instance_id = instance_id(random),
                                .instance_type = spec.type,
                                .address = nic.address,
                                .market = spec.market};
      run_vm({.facts = facts,
              .nic = nic,
              .seed = random.bits(),
              .go = go->from.get(),
              .report = report->to.get(),
              .news = &news_[index]});
    }
    if (machine.pid < 0) {
      return unavailable(fmt::format("cannot make the namespaces of {}: {}", spec.name,
                                     std::strerror(-machine.pid)));
    }
    machine.process = Descriptor(open_process(machine.pid));
    machine.record = born_vm(spec, nic.address, start_.spec.notice, clock_.now());
    const pid_t pid = machine.pid;
    machines_.push_back(std::move(machine));
    hang_at(start_.stop_at, spec.name + "-process");
    const Status plugged = run_commands(plug_commands(nic, pid));
    if (!plugged.ok()) return plugged;
    hang_at(start_.stop_at, spec.name + "-plugged");
    report->to.close();
    write_all(go->to.get(), "g");
    const std::string said = read_line(report->from.get(), kPatience);
    hang_at(start_.stop_at, spec.name + "-ready");
    if (said == kReady) return {};
    return unavailable(said.empty() ? spec.name + " did not come up" : said);
  }

  Status make_quota(const VmSpec& spec, Machine& machine) {
    if (!start_.spec.processors) return {};
    const auto quota = cpu_quota(*start_.spec.processors);
    if (!quota.ok()) return quota.error();
    machine.cgroup = cgroup_folder(start_.cgroups, start_.spec.name, spec.name);
    const Status noted =
        append_file(journal_path(start_.folder), journal_line_of_cgroup(machine.cgroup));
    if (!noted.ok()) return noted;
    hang_at(start_.stop_at, spec.name + "-noted");
    const Status made = make_cgroup(start_.cgroups, machine.cgroup, *quota);
    hang_at(start_.stop_at, spec.name + "-quota");
    return made;
  }

  void end_vm(Machine& machine) {
    if (machine.record.ended) return;
    ::kill(machine.pid, SIGKILL);
    machine.record.ended = clock_.now();
  }

  void reap() {
    while (true) {
      const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
      if (pid <= 0) return;
      for (Machine& machine : machines_) {
        if (machine.pid == pid && !machine.record.ended) machine.record.ended = clock_.now();
      }
    }
  }

  void advance() {
    const Seconds now = clock_.now();
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      Machine& machine = machines_[i];
      const VmPhase phase = phase_of(machine.record, now);
      if (phase == VmPhase::kNoticed && !machine.told) {
        tell(news_[i], now, *machine.record.takes_at);
        machine.told = true;
      }
      if (phase == VmPhase::kTaken) end_vm(machine);
    }
  }

  int sleep_milliseconds() const {
    Seconds sleep = kLongestSleep;
    const Seconds now = clock_.now();
    for (const Machine& machine : machines_) {
      const auto event = next_event(machine.record, now);
      if (event) sleep = std::min(sleep, std::max(Seconds{}, *event - now));
    }
    return static_cast<int>(sleep.in(kMillisecond)) + 1;
  }

  Json status() const {
    std::vector<VmRecord> records;
    for (const Machine& machine : machines_) records.push_back(machine.record);
    ClusterStatus it = status_of(start_.spec.name, records, clock_.now());
    it.user_namespace = start_.user_namespace;
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      if (!machines_[i].cgroup.empty()) it.vms[i].cgroup = machines_[i].cgroup;
    }
    return encode(it, kClusterSchema);
  }

  void converse() {
    Descriptor client(::accept4(start_.listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (client.get() < 0) return;
    const auto message = receive_message(client.get(), kSecond);
    if (!message.ok()) return;
    const Json* ask = message->json.find("ask");
    const std::string* what = ask == nullptr ? nullptr : ask->as<std::string>();
    if (what == nullptr) return;
    if (*what == "down") {
      going_down_ = true;
      farewell_ = std::move(client);
      return;
    }
    Machine* machine = machine_of(message->json);
    if (*what == "preempt" && machine != nullptr) {
      preempt(machine->record, notice_of(message->json), clock_.now());
      advance();
    }
    const bool enters = *what == "enter" && machine != nullptr && !machine->record.ended;
    (void)send_message(client.get(), status(), enters ? machine->process.get() : -1);
  }

  Machine* machine_of(const Json& json) {
    const Json* member = json.find("vm");
    const std::string* name = member == nullptr ? nullptr : member->as<std::string>();
    for (Machine& machine : machines_) {
      if (name != nullptr && machine.record.spec.name == *name) return &machine;
    }
    return nullptr;
  }

  KeeperStart start_;
  SharedNews* news_;
  SystemClock clock_;
  std::vector<Machine> machines_;
  bool going_down_ = false;
  Descriptor farewell_;
};

}  // namespace

void hang_at(const std::string& stop_at, const std::string& step) {
  while (stop_at == step) ::pause();
}

void run_keeper(KeeperStart start) {
  ::signal(SIGPIPE, SIG_IGN);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::signal(signal, on_signal);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  mount_own_proc();
  const std::string folder = start.folder;
  Descriptor report(start.report);
  Keeper keeper(std::move(start));
  const Status made = keeper.make();
  const bool heard = write_all(
      report.get(), made.ok() ? fmt::format("{}\n", kReady)
                              : fmt::format("{} {}\n", static_cast<int>(made.error().kind),
                                            made.error().message));
  report.close();
  if (made.ok() && heard) keeper.serve();
  keeper.end_vms();
  // A maker that hears of the failure removes the rest itself.
  if (made.ok()) (void)remove_cluster(folder);
  keeper.say_farewell();
  ::_exit(0);
}

}  // namespace stint
