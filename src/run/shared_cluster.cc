#include "run/shared_cluster.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <utility>

#include "base/descriptor.h"
#include "base/file.h"

namespace stint {
namespace {

/// Only one of the runs changes claims at a time.
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

std::string turnstile_path(const std::string& folder, const std::string& vm) {
  return fmt::format("{}/{}.turnstile", folder, vm);
}

Result<MachineClaims> SharedCluster::claims() const {
  std::error_code error;
  if (!std::filesystem::exists(path(), error)) return MachineClaims{};
  const auto text = read_file(path());
  if (!text.ok()) return text.error();
  return read_machine_claims(*text, path());
}

Result<ClusterStatus> SharedCluster::status() const {
  const auto known = claims();
  if (!known.ok()) return known.error();
  const auto status = cluster_.status();
  if (!status.ok()) return status.error();
  return view_of(*known, *status, terms_.member);
}

Result<ClusterStatus> SharedCluster::rent(const VmSpec& vm, const ClusterStatus& status) const {
  VmSpec spec = vm;
  spec.name = fmt::format("vm{}", status.vms.size() + 1);
  spec.price = kRunsThatShare * vm.price;
  return cluster_.add(spec);
}

Result<ClusterStatus> SharedCluster::add(const VmSpec& vm) const {
  const auto lock = lock_claims(terms_.folder);
  if (!lock.ok()) return lock.error();
  auto known = claims();
  if (!known.ok()) return known.error();
  auto status = cluster_.status();
  if (!status.ok()) return status.error();
  MachineClaim claim{.member = terms_.member, .name = vm.name, .since = status->age};
  if (const VmStatus* there = machine_to_join(*known, *status, terms_.member, vm)) {
    claim.vm = there->name;
  } else {
    auto rented = rent(vm, *status);
    if (!rented.ok()) return rented.error();
    claim.vm = rented->vms.back().name;
    claim.since = rented->vms.back().born;
    status = std::move(rented);
  }
  known->claims.push_back(std::move(claim));
  const Status written = write_file(path(), write_machine_claims(*known));
  if (!written.ok()) return written.error();
  return view_of(*known, *status, terms_.member);
}

Result<ClusterStatus> SharedCluster::release(const std::string& vm) const {
  const auto lock = lock_claims(terms_.folder);
  if (!lock.ok()) return lock.error();
  auto known = claims();
  if (!known.ok()) return known.error();
  const MachineClaim* claim = find_claim(*known, terms_.member, vm);
  if (claim == nullptr) return bad_usage(fmt::format("the run has no machine called {}", vm));
  auto status = others_train(*known, terms_.member, claim->vm) ? cluster_.status()
                                                               : cluster_.release(claim->vm);
  if (!status.ok()) return status.error();
  const auto number = static_cast<std::size_t>(claim - known->claims.data());
  if (!known->claims[number].until) known->claims[number].until = status->age;
  const Status written = write_file(path(), write_machine_claims(*known));
  if (!written.ok()) return written.error();
  return view_of(*known, *status, terms_.member);
}

Result<pid_t> SharedCluster::spawn(const std::string& vm, SpawnRequest request) const {
  const auto known = claims();
  if (!known.ok()) return known.error();
  const MachineClaim* claim = find_claim(*known, terms_.member, vm);
  if (claim == nullptr) return bad_usage(fmt::format("the run has no machine called {}", vm));
  request.variables.push_back(
      fmt::format("STINT_TURNSTILE={}", turnstile_path(terms_.folder, claim->vm)));
  if (!terms_.log_folder.empty()) {
    request.variables.push_back(
        fmt::format("STINT_TURNS_LOG={}/{}-turns.jsonl", terms_.log_folder, claim->vm));
  }
  request.variables.insert(request.variables.end(), terms_.variables.begin(),
                           terms_.variables.end());
  return cluster_.spawn(claim->vm, std::move(request));
}

}  // namespace stint
