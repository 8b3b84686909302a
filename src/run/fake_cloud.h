#pragma once

#include <csignal>
#include <fmt/format.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/process.h"
#include "run/run_cloud.h"

namespace stint {

/// A cloud in memory: machines are up at once, and what they run are processes of this computer.
/// Its calls fail when they are told to.
class FakeCloud : public RunCloud {
 public:
  /// A cloud whose calls fail in these ways, each so many times.
  struct Troubles {
    int status = 0;
    int add = 0;
    int release = 0;
    int answer_to_add = 0;  // The machine is there, but the answer is lost.
  };

  explicit FakeCloud(const Clock& clock) : clock_(clock), began_(clock.now()) {}

  Result<ClusterStatus> status() const override {
    if (fails(troubles.status)) return failed("no route to the cloud");
    return present();
  }

  Result<ClusterStatus> add(const VmSpec& vm) const override {
    if (fails(troubles.add)) return failed("no route to the cloud");
    if (find_vm(present(), vm.name).ok()) return bad_usage("there was a VM " + vm.name);
    machines_.push_back({.name = vm.name,
                         .type = vm.type,
                         .market = vm.market,
                         .address = "127.0.0.1",
                         .born = clock_.now() - began_,
                         .price = vm.price});
    if (fails(troubles.answer_to_add)) return failed("the connection was reset");
    return present();
  }

  Result<ClusterStatus> release(const std::string& vm) const override {
    if (fails(troubles.release)) return failed("the API is down");
    const ClusterStatus all = present();
    if (const auto found = find_vm(all, vm); !found.ok()) return found.error();
    end(vm);
    return present();
  }

  Result<pid_t> spawn(const std::string& vm, Command command) const override {
    if (!command.kept) command.kept = std::vector<int>();
    const auto pid = start_process(command);
    if (pid.ok()) processes_.emplace(vm, *pid);
    return pid;
  }

  /// The machine is lost with what runs on it.
  void lose(const std::string& vm) const {
    end(vm);
    for (auto [it, last] = processes_.equal_range(vm); it != last; ++it) {
      ::kill(-it->second, SIGKILL);
    }
  }

  /// The cloud no longer lists the machine.
  void forget(const std::string& vm) const {
    lose(vm);
    std::erase_if(machines_, [&](const VmStatus& one) { return one.name == vm; });
  }

  int running() const {
    int count = 0;
    for (const VmStatus& vm : machines_) count += vm.phase == VmPhase::kTaken ? 0 : 1;
    return count;
  }

  Dollars cost() const { return present().cost_spot; }

  mutable Troubles troubles;

 private:
  static bool fails(int& times) { return times > 0 && times-- > 0; }

  void end(const std::string& vm) const {
    for (VmStatus& one : machines_) {
      if (one.name != vm || one.phase == VmPhase::kTaken) continue;
      one.age = clock_.now() - began_ - one.born;
      one.phase = VmPhase::kTaken;
    }
  }

  ClusterStatus present() const {
    ClusterStatus status{.name = "fake", .since = "", .age = clock_.now() - began_};
    for (VmStatus vm : machines_) {
      if (vm.phase != VmPhase::kTaken) vm.age = status.age - vm.born;
      vm.cost = vm.price * vm.age;
      status.cost_spot += vm.cost;
      status.vms.push_back(std::move(vm));
    }
    return status;
  }

  const Clock& clock_;
  Seconds began_;
  mutable std::vector<VmStatus> machines_;
  mutable std::multimap<std::string, pid_t> processes_;
};

}  // namespace stint
