#pragma once

#include <string>
#include <sys/types.h>

#include "base/process.h"
#include "base/result.h"

namespace stint {

/// A VM as programs enter it.
struct VmEntrance {
  int process = -1;  // A pidfd of its first process.
  bool user_namespace = false;
  std::string cgroup = {};  // Programs join this one; empty: none.
};

/// Where programs in a VM find its metadata, as AWS's own clients read it.
std::string metadata_variable();

/// Starts a program in the namespaces of a VM. It is a child of ours, to be waited for, and leads a
/// process group and session of its own; when the VM ends, so does it. Of our descriptors it has
/// only those that the command keeps. A program that cannot be started is an error.
Result<pid_t> spawn_in(const VmEntrance& vm, Command command);

}  // namespace stint
