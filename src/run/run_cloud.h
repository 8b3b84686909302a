#pragma once

#include <string>
#include <sys/types.h>

#include "cloud/local_cluster.h"

namespace stint {

/// The machines of a run, by the names that the run gives them. Each function behaves like the
/// function of LocalCluster of the same name.
class RunCloud {
 public:
  virtual ~RunCloud() = default;
  virtual Result<ClusterStatus> status() const = 0;
  virtual Result<ClusterStatus> add(const VmSpec& vm) const = 0;
  virtual Result<ClusterStatus> release(const std::string& vm) const = 0;
  virtual Result<pid_t> spawn(const std::string& vm, Command command) const = 0;
};

/// A cluster that the run does not share. `cluster` outlives it.
class OwnCluster : public RunCloud {
 public:
  explicit OwnCluster(const LocalCluster& cluster) : cluster_(cluster) {}

  Result<ClusterStatus> status() const override { return cluster_.status(); }
  Result<ClusterStatus> add(const VmSpec& vm) const override { return cluster_.add(vm); }
  Result<ClusterStatus> release(const std::string& vm) const override {
    return cluster_.release(vm);
  }
  Result<pid_t> spawn(const std::string& vm, Command command) const override {
    return cluster_.spawn(vm, std::move(command));
  }

 private:
  const LocalCluster& cluster_;
};

}  // namespace stint
