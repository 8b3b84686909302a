#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "cloud/network_plan.h"

namespace stint {

/// Owns a file descriptor; −1 is none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  int get() const { return number_; }
  void close();

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor from;
  Descriptor to;
};

/// A pipe whose ends programs that are started do not inherit.
Result<Pipe> make_pipe();

/// A process and when it began, so that a number that was given out anew is not taken for it.
struct ProcessId {
  std::int64_t pid = 0;
  std::int64_t start = 0;  // In ticks of the kernel since it booted.
  std::string boot = {};   // Which boot that was.

  bool operator==(const ProcessId&) const = default;
};

/// Nothing when there is no such process, or only its remains.
std::optional<ProcessId> process_id(std::int64_t pid);

/// The start time in a line of /proc/PID/stat; nothing for a process that is dead or no process.
std::optional<std::int64_t> start_of(const std::string& stat);

bool is_alive(const ProcessId& process);

/// Runs a command to its end. The error says the command and what it printed on its error stream.
Status run_command(const Words& words, Seconds limit = 10 * kSecond);
Status run_commands(const std::vector<Words>& commands);

/// The pid of a new process in fresh namespaces (`flags` of clone), 0 in that process itself.
/// Negative: the error, as −errno. The caller has no threads.
pid_t clone_process(std::uint64_t flags);

/// Closes all descriptors from 3 on but these.
void close_all_but(std::vector<int> kept);

/// A line from a pipe or socket without its end; what came so far when it ends or `limit` passes.
std::string read_line(int descriptor, Seconds limit);

/// False when not all could be written.
bool write_all(int descriptor, std::string_view bytes);

inline Error unavailable(std::string message) {
  return {ErrorKind::kUnavailable, std::move(message)};
}

}  // namespace stint
