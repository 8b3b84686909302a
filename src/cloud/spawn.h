#pragma once

#include <string>
#include <sys/types.h>

#include "base/process.h"
#include "base/result.h"

namespace stint {

/// The handles through which programs enter a VM.
struct VmEntrance {
  int process = -1;  // A pidfd of its first process.
  bool user_namespace = false;
  std::string cgroup = {};  // Cgroup that programs join; empty: none.
};

/// The environment variable in which AWS clients find the metadata service of a VM.
std::string metadata_variable();

/// Starts a program in the namespaces of a VM. It is a child process, to be waited for, and leads
/// its own process group and session; it ends with the VM. It inherits only the descriptors that
/// the command keeps. A program that cannot be started is an error.
Result<pid_t> spawn_in(const VmEntrance& vm, Command command);

}  // namespace stint
