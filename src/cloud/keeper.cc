#include "cloud/keeper.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <random>
#include <sched.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/clock.h"
#include "base/codec.h"
#include "base/descriptor.h"
#include "base/file.h"
#include "base/listener.h"
#include "base/process.h"
#include "base/run_command.h"
#include "base/text.h"
#include "cloud/cluster_files.h"
#include "cloud/cluster_status.h"
#include "cloud/control.h"
#include "cloud/namespaces.h"
#include "cloud/network_plan.h"
#include "cloud/spawn.h"
#include "cloud/vm_init.h"

namespace stint {
namespace {

constexpr Seconds kPatience = 30 * kSecond;  // Long enough for a busy computer.
constexpr Seconds kEndPatience = 2 * kSecond;
constexpr Seconds kLongestSleep = 1 * kSecond;
constexpr timeval kSendPatience{.tv_sec = 1, .tv_usec = 0};
// Less than this is a clock that is corrected slowly; texts of times must not flicker.
constexpr Seconds kClockSet = 1 * kSecond;

/// A number field of a message; 0 without one.
double number_at(const Json& json, const char* key) {
  const Json* member = json.find(key);
  if (member == nullptr) return 0;
  if (const double* number = member->as<double>()) return *number;
  const std::int64_t* whole = member->as<std::int64_t>();
  return whole == nullptr ? 0 : static_cast<double>(*whole);
}

/// A VM and its first process.
struct Machine {
  int number = 0;  // Number of its address, port and notices, unique in the cluster.
  VmRecord record;
  pid_t pid = -1;  // −1 once the process has ended.
  Descriptor process = {};
  std::string cgroup = {};
  std::optional<Seconds> told = {};  // Time of its interruption notice.
};

class Keeper {
 public:
  explicit Keeper(KeeperStart start)
      : start_(std::move(start)),
        listener_(Descriptor(start_.listener)),
        news_(shared_news(kVmsOfLifeMax + 1)) {}

  Status make() {
    hang_at(start_.stop_at, "namespaces");
    const Status status = run_commands(switch_commands());
    if (!status.ok()) return status;
    hang_at(start_.stop_at, "switch");
    for (const VmSpec& vm : start_.spec.vms) {
      const Status made = rent(vm);
      if (!made.ok()) return made;
    }
    hang_at(start_.stop_at, "made");
    return {};
  }

  void serve() {
    while (StopSignals::take() == 0 && !going_down_) {
      reap();
      advance();
      pollfd waiting[] = {{.fd = listener_.descriptor(), .events = POLLIN, .revents = 0},
                          {.fd = start_.maker, .events = POLLIN, .revents = 0}};
      ::poll(waiting, start_.spec.ends_with_maker ? 2 : 1, sleep_milliseconds());
      if (waiting[1].revents != 0) return;
      if ((waiting[0].revents & POLLIN) != 0) converse();
    }
  }

  /// Kills the VMs and waits until they have ended.
  void end_vms() {
    for (Machine& machine : machines_) end_vm(machine);
    const Seconds deadline = now() + kEndPatience;
    for (Machine& machine : machines_) await_end(machine, deadline);
  }

  /// Answers the client that requested the end, last of all.
  void send_last_answer() {
    if (last_client_.get() >= 0) (void)send_message(last_client_.get(), status());
  }

 private:
  /// The time since the cluster's creation. Setting the computer's clock does not change it, and
  /// VMs cost and end while the computer is suspended, as elsewhere.
  Seconds now() const { return boot_time() - begin_; }

  /// Follows a wall clock that was set, so that people and programs in VMs read right times.
  void follow_wall_clock() {
    const Seconds birth = SystemClock().now() - now();
    if (std::abs((birth - birth_).in(kSecond)) > kClockSet.in(kSecond)) birth_ = birth;
  }

  /// Makes a VM. After an error nothing of it remains.
  Status rent(const VmSpec& vm) {
    const Status allowed = check_rent(vm);
    if (!allowed.ok()) return allowed;
    machines_.push_back({.number = ++numbers_, .record = {.spec = vm, .born = now()}});
    const Status made = make_vm(machines_.back());
    if (made.ok()) return {};
    end_vm(machines_.back());
    await_end(machines_.back(), now() + kEndPatience);
    machines_.pop_back();
    return made;
  }

  Status check_rent(const VmSpec& vm) const {
    const Status named = check_vm_name(vm.name);
    if (!named.ok()) return named;
    std::size_t alive = 0;
    for (const Machine& machine : machines_) {
      if (machine.record.spec.name == vm.name) {
        return bad_usage(fmt::format("there {} a VM {} in the cluster {}; choose another name",
                                     machine.record.ended ? "was" : "is", vm.name,
                                     start_.spec.name));
      }
      if (!machine.record.ended) ++alive;
    }
    if (alive >= kVmsOfClusterMax || numbers_ >= static_cast<int>(kVmsOfLifeMax)) {
      return bad_usage(fmt::format("one computer emulates up to {} VMs at once and {} in total",
                                   kVmsOfClusterMax, kVmsOfLifeMax));
    }
    const Status carried = check_traffic(vm);
    if (!carried.ok() || vm.market != Market::kSpot) return carried;
    const auto capacity = spot_capacity(start_.spec.pool, now());
    const int held = spot_held(now());
    if (!capacity || held < *capacity) return {};
    return unavailable(
        fmt::format("there is no spot capacity for {}: the pool has {}, and {} in use", vm.name,
                    counted(static_cast<std::size_t>(*capacity), "VM"),
                    held == 1 ? "1 is" : fmt::format("{} are", held)));
  }

  /// Whether the computer can carry the VM, or its new rate, beside the others.
  Status check_traffic(const VmSpec& vm) const {
    ClusterSpec all{.vms = {vm}};
    for (const Machine& machine : machines_) {
      const VmSpec& other = machine.record.spec;
      if (!machine.record.ended && other.name != vm.name) all.vms.push_back(other);
    }
    const auto warning = traffic_warning(all);
    return warning.ok() ? Status() : Status(warning.error());
  }

  /// The number of spot VMs that run without an interruption notice.
  int spot_held(Seconds at) const {
    return static_cast<int>(
        std::count_if(machines_.begin(), machines_.end(), [&](const Machine& machine) {
          return machine.record.spec.market == Market::kSpot &&
                 phase_of(machine.record, at) == VmPhase::kRunning;
        }));
  }

  Status make_vm(Machine& machine) {
    const VmSpec& spec = machine.record.spec;
    const NicPlan nic{.index = machine.number,
                      .address = vm_address(start_.range, machine.number),
                      .rate = spec.network};
    auto go = make_pipe();
    if (!go.ok()) return go.error();
    auto report = make_pipe();
    if (!report.ok()) return report.error();
    const Status limited = make_quota(machine);
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
              .news = &news_of(machine)});
    }
    if (machine.pid < 0) {
      return unavailable(fmt::format("cannot create the namespaces of {}: {}", spec.name,
                                     std::strerror(-machine.pid)));
    }
    machine.process = open_process(machine.pid);
    machine.record = born_vm(spec, nic.address, start_.spec.notice, machine.record.born);
    hang_at(start_.stop_at, spec.name + "-process");
    const Status plugged = run_commands(plug_commands(nic, machine.pid));
    if (!plugged.ok()) return plugged;
    hang_at(start_.stop_at, spec.name + "-plugged");
    report->to.close();
    write_all(go->to.get(), "g");
    const std::string said = read_line(report->from.get(), kPatience);
    hang_at(start_.stop_at, spec.name + "-ready");
    if (said == kReady) return {};
    return unavailable(said.empty() ? spec.name + " did not start" : said);
  }

  Status make_quota(Machine& machine) {
    if (!start_.spec.processors) return {};
    const auto quota = cpu_quota(*start_.spec.processors);
    if (!quota.ok()) return quota.error();
    const std::string& vm = machine.record.spec.name;
    machine.cgroup = cgroup_folder(start_.cgroups, start_.spec.name, vm);
    const Status noted =
        append_file(journal_path(start_.folder), journal_line_of_cgroup(machine.cgroup));
    if (!noted.ok()) return noted;
    hang_at(start_.stop_at, vm + "-noted");
    const Status made = make_cgroup(start_.cgroups, machine.cgroup, *quota);
    hang_at(start_.stop_at, vm + "-quota");
    return made;
  }

  /// Kills the VM's processes, with which its network ends. A process that was started from outside
  /// and is not yet waited for delays the end of a VM; we do not wait for it.
  void end_vm(Machine& machine) const {
    if (machine.pid > 0) ::kill(machine.pid, SIGKILL);
    if (!machine.record.ended) machine.record.ended = now();
  }

  /// Removes the remains of the VM once its first process has ended.
  void bury(Machine& machine) const {
    end_vm(machine);
    machine.pid = -1;
    machine.process.close();
    if (!machine.cgroup.empty()) (void)remove_cgroup(machine.cgroup);
    machine.cgroup.clear();
  }

  /// Removes the VM at the end of its first process, or at `deadline`.
  void await_end(Machine& machine, Seconds deadline) const {
    if (machine.pid > 0) {
      (void)wait_for_exit(machine.pid, deadline - now());
    }
    bury(machine);
  }

  void reap() {
    while (true) {
      const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
      if (pid <= 0) return;
      for (Machine& machine : machines_) {
        if (machine.pid == pid) bury(machine);
      }
    }
  }

  void advance() {
    follow_wall_clock();
    follow_pool();
    const Seconds moment = now();
    for (Machine& machine : machines_) {
      const VmPhase phase = phase_of(machine.record, moment);
      if (phase == VmPhase::kNoticed) {
        if (!machine.told) machine.told = moment;
        tell(news_of(machine), birth_ + *machine.told, birth_ + *machine.record.takes_at);
      }
      if (phase == VmPhase::kTaken && !machine.record.ended) end_vm(machine);
    }
  }

  /// Preempts the youngest spot VMs when there are more than the pool has. Preemptions take the
  /// time of the change, even if they are handled later.
  void follow_pool() {
    const std::vector<PoolChange>& pool = start_.spec.pool;
    for (; followed_ < pool.size() && pool[followed_].at <= now(); ++followed_) {
      const PoolChange& change = pool[followed_];
      int surplus = spot_held(change.at) - change.spot;
      for (auto it = machines_.rbegin(); it != machines_.rend() && surplus > 0; ++it) {
        const bool held = it->record.spec.market == Market::kSpot &&
                          phase_of(it->record, change.at) == VmPhase::kRunning;
        if (!held) continue;
        preempt(it->record, change.unannounced ? Seconds{} : start_.spec.notice, change.at);
        --surplus;
      }
    }
  }

  int sleep_milliseconds() const {
    Seconds sleep = kLongestSleep;
    const Seconds moment = now();
    const auto wake = [&](Seconds at) {
      sleep = std::min(sleep, std::max(Seconds{}, at - moment));
    };
    for (const Machine& machine : machines_) {
      const auto event = next_event(machine.record, moment);
      if (event) wake(*event);
    }
    if (followed_ < start_.spec.pool.size()) wake(start_.spec.pool[followed_].at);
    return static_cast<int>(sleep.in(kMillisecond)) + 1;
  }

  Json status() const {
    std::vector<VmRecord> records;
    for (const Machine& machine : machines_) records.push_back(machine.record);
    ClusterStatus it = status_of(start_.spec, birth_, records, now());
    it.user_namespace = start_.user_namespace;
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      if (!machines_[i].cgroup.empty()) it.vms[i].cgroup = machines_[i].cgroup;
    }
    return encode(it, kClusterSchema);
  }

  void converse() {
    Descriptor client = listener_.try_accept();
    if (client.get() < 0) return;
    ::setsockopt(client.get(), SOL_SOCKET, SO_SNDTIMEO, &kSendPatience, sizeof(kSendPatience));
    const auto message = receive_message(client.get(), kSecond);
    if (!message.ok()) return;
    const std::string what = text_at(message->json, "ask");
    if (what == "down") {
      going_down_ = true;
      last_client_ = std::move(client);
      return;
    }
    advance();
    const Status done = act(what, message->json);
    advance();
    if (!done.ok()) {
      (void)send_message(client.get(), error_message(done.error()));
      return;
    }
    const Machine* machine = what == "enter" ? machine_of(message->json) : nullptr;
    const bool enters = machine != nullptr && !machine->record.ended;
    (void)send_message(client.get(), status(), enters ? machine->process.get() : -1);
  }

  /// Executes a request. Clients themselves report missing VMs.
  Status act(const std::string& what, const Json& question) {
    if (what == "add") {
      const Json* vm = question.find("spec");
      const auto spec = decode<VmSpec>(vm == nullptr ? Json() : *vm, kVmSpecSchema, "add");
      return spec.ok() ? rent(spec->noun) : Status(spec.error());
    }
    Machine* machine = machine_of(question);
    if (machine == nullptr) return {};
    if (what == "preempt") {
      preempt(machine->record, number_at(question, "notice_s") * kSecond, now());
    }
    if (what == "release" && !machine->record.ended) {
      machine->record.released = true;
      end_vm(*machine);
    }
    if (what == "reshape") {
      return reshape(*machine, number_at(question, "network_bytes_per_s") * (kByte / kSecond));
    }
    return {};
  }

  Status reshape(Machine& machine, BytesPerSecond network) const {
    VmSpec spec = machine.record.spec;
    if (machine.record.ended) {
      return bad_usage(fmt::format("{} is gone; its network cannot be changed", spec.name));
    }
    if (!(network > BytesPerSecond{})) return bad_usage("a network rate must be above zero");
    spec.network = network;
    const Status carried = check_traffic(spec);
    if (!carried.ok()) return carried;
    const auto inside = spawn_in({.process = machine.process.get()},
                                 {.words = reshaping_command(kNicName, network), .folder = "/"});
    if (!inside.ok()) return inside.error();
    if (wait_for_exit(*inside) != 0) return failed("tc cannot change the network of " + spec.name);
    const Status outside = run_command(reshaping_command(port_name(machine.number), network));
    if (outside.ok()) machine.record.spec = spec;
    return outside;
  }

  SharedNews& news_of(const Machine& machine) { return news_[machine.number]; }

  Machine* machine_of(const Json& json) {
    const std::string name = text_at(json, "vm");
    for (Machine& machine : machines_) {
      if (machine.record.spec.name == name) return &machine;
    }
    return nullptr;
  }

  KeeperStart start_;
  Listener listener_;
  SharedNews* news_;
  Seconds begin_ = boot_time();
  Seconds birth_ = SystemClock().now();  // The same by the present wall clock.
  std::vector<Machine> machines_;        // Including VMs that ended, for the bill.
  int numbers_ = 0;                      // Numbers assigned so far.
  std::size_t followed_ = 0;             // Changes of the pool that were applied.
  bool going_down_ = false;
  Descriptor last_client_;
};

}  // namespace

void hang_at(const std::string& stop_at, const std::string& step) {
  while (stop_at == step) ::pause();
}

void run_keeper(KeeperStart start) {
  const StopSignals signals;
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
  // A maker that receives the failure removes the rest itself.
  if (made.ok()) (void)remove_cluster(folder);
  keeper.send_last_answer();
  ::_exit(0);
}

}  // namespace stint
