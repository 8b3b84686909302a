#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stint {

/// One process of this PID namespace: a number may be reused, a number with its start time never
/// is.
struct ProcessIdentity {
  std::int32_t process = 0;
  std::uint64_t start = 0;  // In ticks since the computer started.
  bool operator==(const ProcessIdentity&) const = default;
};

/// This process. Nothing where /proc does not show this PID namespace.
std::optional<ProcessIdentity> own_identity();

/// Whether that process has ended, or will never run its program again because all its threads are
/// exiting. A killed process may stay in that state for long, as a zombie or while its memory is
/// freed. An unknown state counts as alive.
bool is_gone(const ProcessIdentity& identity);

/// The fields of a task in /proc/…/stat.
struct TaskStat {
  std::uint64_t start = 0;
  bool exiting = false;
  bool operator==(const TaskStat&) const = default;
};

/// Nothing where the text does not have that form.
std::optional<TaskStat> parse_task_stat(const std::string& text);

/// The PID namespace of this process.
struct PidNamespace {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const PidNamespace&) const = default;
};
std::optional<PidNamespace> own_pid_namespace();

}  // namespace stint
