#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "cloud/network_plan.h"

namespace stint {

/// A program to run inside a VM.
struct SpawnRequest {
  Words command;
  std::vector<std::string> variables = {};  // "NAME=value", beside those we have ourselves.
  int in = 0;                               // Where it reads from.
  int out = 1;                              // Where its output goes.
  int err = 2;
  std::string cgroup = {};       // It joins this one; empty: none.
  bool dies_with_parent = true;  // It is killed when the thread that started it ends.
  std::vector<int> kept = {};    // Descriptors from 3 on that stay open under their numbers.
  std::string folder = {};       // To run in; empty: the one we are in.
};

/// Where programs in a VM find its metadata, as AWS's own clients read it.
std::string metadata_variable();

/// Starts a program in the namespaces of the process that `vm` (a pidfd) refers to. It is
/// a child of ours, to be waited for, and leads a process group and session of its own; when the VM
/// ends, so does it. A program that cannot be started is an error.
Result<pid_t> spawn_in(int vm, bool user_namespace, const SpawnRequest& request);

/// The exit code of a status of waitpid, as shells count: 128 and more for signals.
int exit_code_of(int status);

}  // namespace stint
