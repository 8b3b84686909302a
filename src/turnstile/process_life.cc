#include "turnstile/process_life.h"

#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace stint {
namespace {

constexpr unsigned kExiting = 0x4;  // PF_EXITING in Linux's include/linux/sched.h.
constexpr int kFlagsField = 9;      // Fields of proc(5)'s /proc/PID/stat, from 1.
constexpr int kStartField = 22;

/// The result of reading a file of /proc.
struct ProcText {
  std::string text;
  // The task does not exist. Without a text and without this, nothing is known.
  bool missing = false;
};

ProcText read_proc(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {.text = "", .missing = errno == ENOENT || errno == ESRCH};
  char buffer[1024];
  const ssize_t size = ::read(file, buffer, sizeof buffer);
  const bool missing = size < 0 && errno == ESRCH;
  ::close(file);
  if (size <= 0) return {.text = "", .missing = missing};
  return {.text = std::string(buffer, static_cast<std::size_t>(size)), .missing = false};
}

std::string proc_folder(std::int32_t process) { return "/proc/" + std::to_string(process); }

/// Whether no thread of the process will run its program again.
bool all_threads_exit(std::int32_t process) {
  const std::string folder = proc_folder(process) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(::opendir(folder.c_str()), ::closedir);
  if (!threads) return errno == ENOENT;
  while (const dirent* entry = ::readdir(threads.get())) {
    if (entry->d_name[0] == '.') continue;
    const ProcText read = read_proc(folder + "/" + entry->d_name + "/stat");
    if (read.missing) continue;
    const std::optional<TaskStat> stat = parse_task_stat(read.text);
    if (!stat || !stat->exiting) return false;
  }
  return true;
}

}  // namespace

std::optional<TaskStat> parse_task_stat(const std::string& text) {
  // The second field is the program's name in parentheses, and may hold anything.
  std::size_t at = text.rfind(')');
  if (at == std::string::npos) return std::nullopt;
  TaskStat stat;
  for (int number = 3; number <= kStartField; ++number) {
    at = text.find(' ', at);
    if (at == std::string::npos) return std::nullopt;
    ++at;
    if (number != kFlagsField && number != kStartField) continue;
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(text.c_str() + at, &end, 10);
    if (*end != ' ' || end == text.c_str() + at) return std::nullopt;
    if (number == kFlagsField) stat.exiting = (value & kExiting) != 0;
    if (number == kStartField) stat.start = value;
  }
  return stat;
}

std::optional<ProcessIdentity> own_identity() {
  const std::string own = std::to_string(::getpid());
  const std::string text = read_proc("/proc/self/stat").text;
  const std::optional<TaskStat> stat = parse_task_stat(text);
  if (!stat || text.compare(0, own.size() + 1, own + " ") != 0) return std::nullopt;
  return ProcessIdentity{.process = ::getpid(), .start = stat->start};
}

bool is_gone(const ProcessIdentity& identity) {
  const ProcText read = read_proc(proc_folder(identity.process) + "/stat");
  if (read.missing) return true;
  const std::optional<TaskStat> stat = parse_task_stat(read.text);
  if (!stat) return false;
  if (stat->start != identity.start) return true;
  return stat->exiting && all_threads_exit(identity.process);
}

std::optional<PidNamespace> own_pid_namespace() {
  struct stat found {};
  if (::stat("/proc/self/ns/pid", &found) != 0) return std::nullopt;
  return PidNamespace{.device = found.st_dev, .inode = found.st_ino};
}

}  // namespace stint
