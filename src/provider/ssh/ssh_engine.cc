#include "provider/ssh/ssh_engine.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <utility>

#include "base/run_command.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr Seconds kTaskTime = 30 * kSecond;   // To look at a host,
constexpr Seconds kCopyTime = 600 * kSecond;  // and to copy the program there: 20 MB at 0.3 Mbit/s.
constexpr Seconds kRetry = 3 * kSecond;
constexpr Seconds kBrokenTime = 300 * kSecond;  // Until a host that was silent may be asked again.
constexpr Seconds kEndTime = 2 * kSecond;
constexpr Seconds kPause = 5 * kMillisecond;

int await(CommandTask& task) {
  while (true) {
    const auto code = task.turn();
    if (code) return *code;
    ::poll(nullptr, 0, poll_milliseconds(kPause));
  }
}

}  // namespace

SshEngine::~SshEngine() {
  for (const auto& [name, work] : works_) {
    const auto book = read_book(settings_.folder);
    if (!book.ok()) return;
    for (const SshLease& lease : book->leases) {
      const SshHost* host = lease.order.name == name ? host_named(lease.host) : nullptr;
      if (host != nullptr) (void)run_command(ssh_end_words(settings_.client, *host), kEndTime);
    }
  }
}

const SshHost* SshEngine::host_named(const std::string& name) const {
  const auto found = std::find_if(settings_.hosts.begin(), settings_.hosts.end(),
                                  [&](const SshHost& it) { return it.name == name; });
  return found == settings_.hosts.end() ? nullptr : &*found;
}

Result<CommandTask> SshEngine::begin(const SshHost& host, Step step) const {
  const bool copies = step == Step::kCopy;
  const Descriptor in(
      ::open(copies ? settings_.binary.c_str() : "/dev/null", O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) return failed("cannot open " + settings_.binary);
  const std::string script =
      copies ? ssh_copy_script(settings_.hash) : ssh_look_script(settings_.hash);
  return CommandTask::start({.words = ssh_words(settings_.client, host, script), .in = in.get()},
                            copies ? kCopyTime : kTaskTime);
}

std::optional<SshEngine::Trouble> SshEngine::trouble_of(const SshHost& host, Step step,
                                                        const CommandTask& task, int code) const {
  std::string errors = task.errors();
  SshFailure failure = SshFailure::kOther;
  const std::string found = split(task.out(), '\n')[0];
  if (code != 0) {
    failure = code == CommandTask::kTimedOut ? SshFailure::kUnreachable : ssh_failure(code, errors);
  } else if (step == Step::kLook && found != settings_.architecture) {
    failure = SshFailure::kArchitecture;
    errors =
        fmt::format("it is {}, this stint is for {}", printable(found), settings_.architecture);
  } else {
    return std::nullopt;
  }
  return Trouble{failure, ssh_error(host, failure, errors)};
}

Status SshEngine::note_trouble(const std::string& name, const SshHost& host,
                               const Trouble& trouble) const {
  SshBroken broken{.host = host.name, .reason = trouble.reason};
  if (may_pass(trouble.failure)) broken.until = clock_.now() + kBrokenTime;
  return change_book(settings_.folder, [&](SshBook& book) {
    book.mark_broken(broken);
    std::erase_if(book.leases, [&](const SshLease& it) {
      return it.order.name == name && it.host == host.name && !it.up_at;
    });
  });
}

Result<std::optional<MachineRefusal>> SshEngine::request(const MachineOrder& order) const {
  // Each turn gives the machine a host or finds that one cannot be used.
  for (std::size_t i = 0; i <= settings_.hosts.size(); ++i) {
    std::optional<std::size_t> given;
    std::optional<MachineRefusal> refusal;
    const Status changed = change_book(settings_.folder, [&](SshBook& book) {
      if (book.find(order.name) != nullptr) return;
      const Seconds now = clock_.now();
      given = book.free_host(settings_.hosts, order, now);
      if (!given) refusal = book.refusal(settings_.hosts, order, now);
      if (given) {
        const std::string& host = settings_.hosts[*given].name;
        book.leases.push_back({.order = order, .host = host, .reason = "stint looks at " + host});
      }
    });
    if (!changed.ok()) return changed.error();
    if (!given) return refusal;
    const SshHost& host = settings_.hosts[*given];
    auto task = begin(host, Step::kLook);
    if (!task.ok()) return task.error();
    const int code = await(*task);
    const auto trouble = trouble_of(host, Step::kLook, *task, code);
    if (!trouble) return std::optional<MachineRefusal>();
    const Status noted = note_trouble(order.name, host, *trouble);
    if (!noted.ok()) return noted.error();
  }
  return std::optional(MachineRefusal{.name = order.name, .reason = "no host can be used"});
}

Status SshEngine::release(const std::string& name) const {
  return change_book(settings_.folder, [&](SshBook& book) {
    SshLease* lease = book.find(name);
    if (lease == nullptr) return;
    lease->gone_at = clock_.now();
    lease->released = true;
    lease->reason = "released";
  });
}

Result<MachineList> SshEngine::look() const {
  auto book = read_book(settings_.folder);
  if (!book.ok()) return book.error();
  MachineList list;
  for (SshLease& lease : book->leases) {
    const std::string& name = lease.order.name;
    const SshHost* host = host_named(lease.host);
    if (!lease.gone_at && host == nullptr) {
      lease.gone_at = clock_.now();
      lease.reason = fmt::format("{} is no longer in the list of hosts", lease.host);
    } else if (!lease.gone_at) {
      const SshLease before = lease;
      turn(works_[name], lease, *host);
      const bool same = before.up_at == lease.up_at && before.gone_at == lease.gone_at &&
                        before.reason == lease.reason;
      const Status written = same ? Status() : change_book(settings_.folder, [&](SshBook& present) {
        SshLease* its = present.find(name);
        if (its != nullptr && its->host == lease.host) *its = lease;
        if (lease.gone_at) {
          present.mark_broken(
              {.host = lease.host, .reason = lease.reason, .until = clock_.now() + kBrokenTime});
        }
      });
      if (!written.ok()) return written.error();
    }
    if (lease.gone_at) works_.erase(name);
    list.machines.push_back(state_of(lease));
  }
  return list;
}

void SshEngine::turn(Work& work, SshLease& lease, const SshHost& host) const {
  if (!work.task) {
    if (steady_now() < work.next) return;
    auto task = begin(host, work.step);
    work.next = steady_now() + kRetry;
    if (task.ok()) work.task.emplace(std::move(*task));
    return;
  }
  const auto code = work.task->turn();
  if (code) finish(work, lease, host, *code);
}

void SshEngine::finish(Work& work, SshLease& lease, const SshHost& host, int code) const {
  const Seconds now = steady_now();
  const auto trouble = trouble_of(host, work.step, *work.task, code);
  const std::vector<std::string> lines = split(work.task->out(), '\n');
  const bool there = work.step == Step::kCopy || (lines.size() > 1 && lines[1] == "there");
  work.task.reset();
  work.step = Step::kLook;
  if (!trouble) {
    work.silent.reset();
    work.step = there ? Step::kLook : Step::kCopy;
    work.next = there ? now + settings_.look : now;
    if (!there) return;
    if (!lease.up_at) lease.up_at = clock_.now();
    lease.reason.clear();
    return;
  }
  work.next = now + kRetry;
  if (!work.silent) work.silent = now;
  lease.reason = trouble->reason;
  const bool waits = may_pass(trouble->failure) && now - *work.silent < settings_.patience;
  if (!waits) lease.gone_at = clock_.now();
}

MachineState SshEngine::state_of(const SshLease& lease) const {
  const SshHost* host = host_named(lease.host);
  MachineState state{.name = lease.order.name,
                     .type = lease.order.type,
                     .market = lease.order.market,
                     .phase = lease.up_at ? MachinePhase::kUp : MachinePhase::kPending,
                     .reason = lease.reason,
                     .released = lease.released};
  if (lease.gone_at) state.phase = MachinePhase::kGone;
  if (host != nullptr) state.address = host->address.empty() ? host->name : host->address;
  if (lease.up_at) {
    state.paid = std::max(Seconds{}, lease.gone_at.value_or(clock_.now()) - *lease.up_at);
  }
  if (!lease.gone_at) state.price = host->price.value_or(lease.order.price);
  return state;
}

Result<pid_t> SshEngine::spawn(const std::string& name, Command command) const {
  auto book = read_book(settings_.folder);
  if (!book.ok()) return book.error();
  const SshLease* lease = book->find(name);
  const SshHost* host = lease == nullptr ? nullptr : host_named(lease->host);
  if (host == nullptr) return unavailable(fmt::format("there is no machine {}", printable(name)));
  if (command.kept && !command.kept->empty()) {
    return bad_usage(fmt::format("{} cannot get open files of this machine", name));
  }
  const std::string script = ssh_run_script(settings_.hash, command);
  command.words = ssh_words(settings_.client, *host, script);
  command.variables.clear();
  command.folder.clear();
  command.inherits = {};
  command.kept = std::vector<int>{};
  return start_process(command);
}

}  // namespace stint
