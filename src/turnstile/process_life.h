#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stint {

/// One process of this PID namespace: a number may come again, a number with its start never does.
struct ProcessIdentity {
  std::int32_t process = 0;
  std::uint64_t start = 0;  // In ticks since the computer started.
  bool operator==(const ProcessIdentity&) const = default;
};

/// This process. Nothing where /proc does not show this PID namespace.
std::optional<ProcessIdentity> own_identity();

/// Whether that process is gone, or so far on its way out that it will never run its program again:
/// all its threads are exiting. A process that was killed may stay like this for long, as a zombie
/// or while its memory is freed. What cannot be found out counts as alive.
bool is_gone(const ProcessIdentity& identity);

/// What Linux tells about a task in /proc/…/stat.
struct TaskStat {
  std::uint64_t start = 0;
  bool exiting = false;
  bool operator==(const TaskStat&) const = default;
};

/// Nothing where the text is not of that form.
std::optional<TaskStat> parse_task_stat(const std::string& text);

/// The namespace in which this process has its number.
struct PidNamespace {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const PidNamespace&) const = default;
};
std::optional<PidNamespace> own_pid_namespace();

}  // namespace stint
