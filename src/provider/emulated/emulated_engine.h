#pragma once

#include <string>
#include <utility>

#include "cloud/local_cluster.h"
#include "provider/engine.h"

namespace stint {

VmSpec vm_spec(const MachineOrder& order);

MachineList machines_of(const ClusterStatus& status);

/// What an error of a cluster says of an order: it is refused, or the error is passed on, because
/// nobody knows.
Result<std::optional<MachineRefusal>> refusal_of(const Error& error, const MachineOrder& order);

/// A cluster of the emulated cloud that one run has for itself. `cluster` outlives it.
class EmulatedEngine : public Engine {
 public:
  explicit EmulatedEngine(const LocalCluster& cluster) : cluster_(cluster) {}

  Result<std::optional<MachineRefusal>> request(const MachineOrder& order) const override;
  Status release(const std::string& name) const override;
  Result<MachineList> look() const override;
  Result<pid_t> spawn(const std::string& name, Command command) const override {
    return cluster_.spawn(name, std::move(command));
  }

 private:
  const LocalCluster& cluster_;
};

}  // namespace stint
