#pragma once

#include <csignal>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/process.h"
#include "provider/engine.h"

namespace stint {

/// An engine in memory: machines are up at once, and what they run are processes of this computer.
/// Its calls fail when they are told to.
class FakeEngine : public Engine {
 public:
  /// Calls that fail, each so many times.
  struct Troubles {
    int look = 0;
    int request = 0;
    int refuse = 0;
    int release = 0;
    int answer = 0;  // To a request: the machine is there, but the answer is lost.
  };

  explicit FakeEngine(const Clock& clock) : clock_(clock) {}

  Result<MachineList> look() const override {
    if (fails(troubles.look)) return failed("no route to the cloud");
    MachineList list;
    for (const Machine& machine : machines_) list.machines.push_back(state_of(machine));
    return list;
  }

  Result<std::optional<MachineRefusal>> request(const MachineOrder& order) const override {
    if (fails(troubles.request)) return failed("no route to the cloud");
    if (find(order.name) == nullptr && fails(troubles.refuse)) {
      return std::optional(MachineRefusal{.name = order.name, .reason = "no capacity"});
    }
    ++requests;
    if (find(order.name) == nullptr) {
      machines_.push_back({.order = order, .up_at = clock_.now()});
    }
    if (fails(troubles.answer)) return failed("the connection was reset");
    return std::optional<MachineRefusal>();
  }

  Status release(const std::string& name) const override {
    if (fails(troubles.release)) return failed("the API is down");
    end(name, true);
    return {};
  }

  Result<pid_t> spawn(const std::string& name, Command command) const override {
    if (!command.kept) command.kept = std::vector<int>();
    const auto pid = start_process(command);
    if (pid.ok()) processes_.emplace(name, *pid);
    return pid;
  }

  /// The machine is lost with what runs on it.
  void lose(const std::string& name) const {
    end(name, false);
    for (auto [it, last] = processes_.equal_range(name); it != last; ++it) {
      ::kill(-it->second, SIGKILL);
    }
  }

  /// The engine no longer lists the machine.
  void forget(const std::string& name) const {
    lose(name);
    std::erase_if(machines_, [&](const Machine& one) { return one.order.name == name; });
  }

  int running() const {
    int count = 0;
    for (const Machine& machine : machines_) count += machine.gone_at ? 0 : 1;
    return count;
  }

  Dollars cost() const {
    Dollars sum;
    for (const Machine& machine : machines_) sum += *state_of(machine).cost;
    return sum;
  }

  mutable Troubles troubles;
  mutable int requests = 0;  // That were heard, also of one name.

 private:
  struct Machine {
    MachineOrder order;
    Seconds up_at;
    std::optional<Seconds> gone_at = {};
    bool released = false;
  };

  static bool fails(int& times) { return times > 0 && times-- > 0; }

  Machine* find(const std::string& name) const {
    for (Machine& machine : machines_) {
      if (machine.order.name == name) return &machine;
    }
    return nullptr;
  }

  void end(const std::string& name, bool released) const {
    Machine* machine = find(name);
    if (machine == nullptr || machine->gone_at) return;
    machine->gone_at = clock_.now();
    machine->released = released;
  }

  MachineState state_of(const Machine& machine) const {
    const Seconds paid = machine.gone_at.value_or(clock_.now()) - machine.up_at;
    return {.name = machine.order.name,
            .type = machine.order.type,
            .market = machine.order.market,
            .phase = machine.gone_at ? MachinePhase::kGone : MachinePhase::kUp,
            .address = "127.0.0.1",
            .released = machine.released,
            .paid = paid,
            .price = machine.gone_at ? DollarsPerSecond{} : machine.order.price,
            .cost = machine.order.price * paid};
  }

  const Clock& clock_;
  mutable std::vector<Machine> machines_;
  mutable std::multimap<std::string, pid_t> processes_;
};

}  // namespace stint
