#include "provider/emulated/shared_engine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <utility>

#include "base/descriptor.h"
#include "base/file.h"
#include "provider/emulated/emulated_engine.h"

namespace stint {
namespace {

struct Span {
  Seconds from;
  Seconds to;
};

const VmStatus* vm_called(const ClusterStatus& status, const std::string& name) {
  const auto found = std::find_if(status.vms.begin(), status.vms.end(),
                                  [&](const VmStatus& it) { return it.name == name; });
  return found == status.vms.end() ? nullptr : &*found;
}

/// The part of its machine's life for which the claim counts.
Span paid_span(const MachineClaims& claims, const MachineClaim& claim, const VmStatus& vm) {
  const Seconds end = vm.born + vm.age;
  bool first = true;
  bool last = true;
  for (const MachineClaim& other : claims.claims) {
    if (other.vm != claim.vm || other.member == claim.member) continue;
    if (other.since < claim.since) first = false;
    if (claim.until && (!other.until || *other.until > *claim.until)) last = false;
  }
  return {.from = first ? vm.born : std::min(claim.since, end),
          .to = last ? end : std::min(claim.until.value_or(end), end)};
}

/// The lock that lets only one of the runs change claims at a time.
Result<Descriptor> lock_claims(const std::string& folder) {
  const std::string path = folder + "/lock";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) {
    return failed(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    return failed(fmt::format("cannot lock {}: {}", path, std::strerror(errno)));
  }
  return file;
}

}  // namespace

Result<MachineClaims> read_machine_claims(std::string_view text, const std::string& source) {
  auto read = read_document<MachineClaims>(text, kMachineClaimsSchema, source);
  if (!read.ok()) return read.error();
  return std::move(read->noun);
}

std::string write_machine_claims(const MachineClaims& claims) {
  return write_document(claims, kMachineClaimsSchema);
}

const MachineClaim* find_claim(const MachineClaims& claims, int member, const std::string& name) {
  const auto found =
      std::find_if(claims.claims.begin(), claims.claims.end(),
                   [&](const MachineClaim& it) { return it.member == member && it.name == name; });
  return found == claims.claims.end() ? nullptr : &*found;
}

bool others_train(const MachineClaims& claims, int member, const std::string& vm) {
  return std::any_of(claims.claims.begin(), claims.claims.end(), [&](const MachineClaim& it) {
    return it.vm == vm && it.member != member && !it.until;
  });
}

const VmStatus* machine_to_join(const MachineClaims& claims, const ClusterStatus& status,
                                int member, const VmSpec& wanted) {
  for (const VmStatus& vm : status.vms) {
    if (vm.phase != VmPhase::kRunning || vm.type != wanted.type || vm.market != wanted.market) {
      continue;
    }
    const bool had = std::any_of(
        claims.claims.begin(), claims.claims.end(),
        [&](const MachineClaim& it) { return it.vm == vm.name && it.member == member; });
    if (!had) return &vm;
  }
  return nullptr;
}

Seconds paid_time(const MachineClaims& claims, const MachineClaim& claim, const VmStatus& vm) {
  const Span own = paid_span(claims, claim, vm);
  Seconds paid = std::max(Seconds{}, own.to - own.from);
  for (const MachineClaim& other : claims.claims) {
    if (other.vm != claim.vm || other.member == claim.member) continue;
    const Span its = paid_span(claims, other, vm);
    const Seconds both = std::min(own.to, its.to) - std::max(own.from, its.from);
    paid = paid - std::max(Seconds{}, both) / 2;
  }
  return paid;
}

ClusterStatus view_of(const MachineClaims& claims, const ClusterStatus& status, int member) {
  ClusterStatus view = status;
  view.vms.clear();
  view.cost_on_demand = Dollars{};
  view.cost_spot = Dollars{};
  for (const MachineClaim& claim : claims.claims) {
    if (claim.member != member) continue;
    const VmStatus* real = vm_called(status, claim.vm);
    if (real == nullptr) continue;
    VmStatus vm = *real;
    vm.name = claim.name;
    vm.age = paid_time(claims, claim, *real);
    vm.cost = real->age > Seconds{} ? real->cost * (vm.age / real->age) : Dollars{};
    if (others_train(claims, member, claim.vm)) vm.price = vm.price / 2;
    if (claim.until && real->phase != VmPhase::kTaken) {
      vm.phase = VmPhase::kTaken;
      vm.released = true;
      vm.takes_at.reset();
      vm.takes_in.reset();
      vm.price = DollarsPerSecond{};
    }
    (vm.market == Market::kSpot ? view.cost_spot : view.cost_on_demand) += vm.cost;
    view.vms.push_back(std::move(vm));
  }
  return view;
}

std::string turnstile_path(const std::string& folder, const std::string& vm) {
  return fmt::format("{}/{}.turnstile", folder, vm);
}

Result<MachineClaims> SharedEngine::claims() const {
  std::error_code error;
  if (!std::filesystem::exists(path(), error)) return MachineClaims{};
  const auto text = read_file(path());
  if (!text.ok()) return text.error();
  return read_machine_claims(*text, path());
}

Result<MachineList> SharedEngine::look() const {
  const auto known = claims();
  if (!known.ok()) return known.error();
  const auto status = cluster_.status();
  if (!status.ok()) return status.error();
  return machines_of(view_of(*known, *status, terms_.member));
}

/// Joins a machine of the kind that is wanted, or rents one.
Result<MachineClaim> SharedEngine::claim(const MachineClaims& known, const VmSpec& vm) const {
  const auto status = cluster_.status();
  if (!status.ok()) return status.error();
  MachineClaim claim{.member = terms_.member, .name = vm.name, .since = status->age};
  if (const VmStatus* there = machine_to_join(known, *status, terms_.member, vm)) {
    claim.vm = there->name;
    return claim;
  }
  VmSpec spec = vm;
  spec.name = fmt::format("vm{}", status->vms.size() + 1);
  spec.price = kRunsThatShare * vm.price;
  const auto rented = cluster_.add(spec);
  if (!rented.ok()) return rented.error();
  claim.vm = rented->vms.back().name;
  claim.since = rented->vms.back().born;
  return claim;
}

Result<std::optional<MachineRefusal>> SharedEngine::request(const MachineOrder& order) const {
  const auto lock = lock_claims(terms_.folder);
  if (!lock.ok()) return lock.error();
  auto known = claims();
  if (!known.ok()) return known.error();
  if (find_claim(*known, terms_.member, order.name) != nullptr) {
    return std::optional<MachineRefusal>();
  }
  auto claimed = claim(*known, vm_spec(order));
  if (!claimed.ok()) return refusal_of(claimed.error(), order);
  known->claims.push_back(std::move(*claimed));
  const Status written = write_file(path(), write_machine_claims(*known));
  if (!written.ok()) return written.error();
  return std::optional<MachineRefusal>();
}

Status SharedEngine::release(const std::string& name) const {
  const auto lock = lock_claims(terms_.folder);
  if (!lock.ok()) return lock.error();
  auto known = claims();
  if (!known.ok()) return known.error();
  const MachineClaim* claim = find_claim(*known, terms_.member, name);
  if (claim == nullptr) return {};
  const auto status = others_train(*known, terms_.member, claim->vm) ? cluster_.status()
                                                                     : cluster_.release(claim->vm);
  if (!status.ok()) return status.error();
  const auto number = static_cast<std::size_t>(claim - known->claims.data());
  if (!known->claims[number].until) known->claims[number].until = status->age;
  return write_file(path(), write_machine_claims(*known));
}

Result<pid_t> SharedEngine::spawn(const std::string& vm, Command command) const {
  const auto known = claims();
  if (!known.ok()) return known.error();
  const MachineClaim* claim = find_claim(*known, terms_.member, vm);
  if (claim == nullptr) return bad_usage(fmt::format("the run has no machine called {}", vm));
  command.variables.push_back(
      fmt::format("STINT_TURNSTILE={}", turnstile_path(terms_.folder, claim->vm)));
  if (!terms_.log_folder.empty()) {
    command.variables.push_back(
        fmt::format("STINT_TURNS_LOG={}/{}-turns.jsonl", terms_.log_folder, claim->vm));
  }
  command.variables.insert(command.variables.end(), terms_.variables.begin(),
                           terms_.variables.end());
  return cluster_.spawn(claim->vm, std::move(command));
}

}  // namespace stint
