#pragma once

#include <string>
#include <sys/types.h>

#include "base/descriptor.h"
#include "base/result.h"
#include "cloud/cluster_spec.h"
#include "cloud/cluster_status.h"
#include "cloud/spawn.h"

namespace stint {

/// A cluster of the emulated cloud on this computer. A separate process, the keeper, holds it, so
/// that it outlives this object and its process, unless the spec says that it ends with its maker.
///
/// `root` is the folder of all clusters of a user.
class LocalCluster {
 public:
  /// Makes the cluster and returns when all its VMs are up. On an error nothing is left behind; an
  /// interrupt (Ctrl-C) takes effect after everything is removed. Errors: the name is taken
  /// (usage); no root and no user namespaces, or a tool or kernel feature that is missing
  /// (unavailable).
  static Result<LocalCluster> start(const std::string& root, const ClusterSpec& spec);

  /// The running cluster called `name`.
  static Result<LocalCluster> open(const std::string& root, const std::string& name);

  Result<ClusterStatus> status() const;

  /// The VM's address inside the cluster.
  Result<std::string> address(const std::string& vm) const;

  /// Rents one more VM and returns when it is up. Usage errors: a name that a VM of the cluster has
  /// or had, or that is invalid; too many VMs, or more traffic than the computer carries.
  /// Unavailable: it is a spot VM and the pool has no capacity.
  Result<ClusterStatus> add(const VmSpec& vm) const;

  /// Releases the VM: it ends now and costs nothing from then on. A VM that already ended is no
  /// error.
  Result<ClusterStatus> release(const std::string& vm) const;

  /// Changes the rate of the VM's NIC, in both directions, while it runs.
  Result<ClusterStatus> reshape(const std::string& vm, BytesPerSecond network) const;

  /// Preempts the VM: the notice appears in its metadata now, and after it the VM's processes are
  /// killed and its network is removed.
  Result<ClusterStatus> preempt(const std::string& vm, Seconds notice) const;

  /// Starts a program in the VM; see spawn_in. The VM's quota applies to it.
  Result<pid_t> spawn(const std::string& vm, Command command) const;

  /// Ends all VMs and removes everything; returns the last status, with the bill.
  Result<ClusterStatus> down() const;

  const std::string& name() const { return name_; }

 private:
  LocalCluster(std::string folder, std::string name)
      : folder_(std::move(folder)), name_(std::move(name)) {}

  struct Answer {
    ClusterStatus status;
    Descriptor attached;
  };
  Result<Answer> ask(const Json& question) const;
  Result<ClusterStatus> ask_about(const std::string& vm, const Json& question) const;

  std::string folder_;
  std::string name_;
  Descriptor maker_ = {};  // The keeper detects when this closes.
};

}  // namespace stint
