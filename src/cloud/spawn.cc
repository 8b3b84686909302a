#include "cloud/spawn.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "cloud/cgroup.h"
#include "cloud/metadata.h"
#include "cloud/namespaces.h"

namespace stint {
namespace {

/// What the new process is told to use; made before it exists.
struct Prepared {
  std::vector<char*> arguments;
  std::vector<char*> variables;
};

[[noreturn]] void give_up(int report, const std::string& what) {
  write_all(report, fmt::format("error {}: {}\n", what, std::strerror(errno)));
  ::_exit(127);
}

/// In the process that becomes the program.
[[noreturn]] void become(const SpawnRequest& request, const Prepared& prepared, int report) {
  ::setsid();
  if (request.dies_with_parent) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  // Copies first, since one may lie where the other is to go.
  const int in = ::dup(request.in);
  const int out = ::dup(request.out);
  const int err = ::dup(request.err);
  if (::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 ||
      ::dup2(err, STDERR_FILENO) < 0) {
    give_up(report, "its input and output");
  }
  std::vector<int> kept = request.kept;
  for (const int descriptor : kept) ::fcntl(descriptor, F_SETFD, 0);
  kept.push_back(report);
  close_all_but(std::move(kept));
  ::execvpe(prepared.arguments[0], prepared.arguments.data(), prepared.variables.data());
  give_up(report, prepared.arguments[0]);
}

/// In the process between: it enters the VM, makes the one that stays, and goes.
[[noreturn]] void enter(int vm, bool user_namespace, const SpawnRequest& request,
                        const Prepared& prepared, int report) {
  if (!request.cgroup.empty()) {
    const Status joined = join_cgroup(request.cgroup);
    if (!joined.ok()) {
      write_all(report, fmt::format("error {}\n", joined.error().message));
      ::_exit(127);
    }
  }
  char own[4096];
  const bool placed = ::getcwd(own, sizeof(own)) != nullptr;
  const char* folder = request.folder.empty() ? own : request.folder.c_str();
  const int flags =
      CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | (user_namespace ? CLONE_NEWUSER : 0);
  if (::setns(vm, flags) != 0) give_up(report, "cannot enter the VM");
  // To enter another view of the mounts leads to its root.
  if ((placed || folder != own) && ::chdir(folder) != 0) give_up(report, folder);
  // A sibling instead of a child: whoever asked for it can wait for it.
  const pid_t pid = clone_process(CLONE_PARENT);
  if (pid == 0) become(request, prepared, report);
  if (pid < 0) {
    errno = -pid;
    give_up(report, "cannot start a process in the VM");
  }
  write_all(report, fmt::format("pid {}\n", pid));
  ::_exit(0);
}

std::vector<char*> pointers_of(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  return pointers;
}

}  // namespace

std::string metadata_variable() {
  return fmt::format("AWS_EC2_METADATA_SERVICE_ENDPOINT=http://127.0.0.1:{}", kMetadataPort);
}

Result<pid_t> spawn_in(int vm, bool user_namespace, const SpawnRequest& request) {
  CHECK(!request.command.empty());
  auto report = make_pipe();
  if (!report.ok()) return report.error();
  std::vector<std::string> added = request.variables;
  added.push_back(metadata_variable());
  Prepared prepared{pointers_of(request.command), pointers_of(added)};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& one : added) replaced = replaced || one.starts_with(name);
    if (!replaced) prepared.variables.push_back(*variable);
  }
  prepared.arguments.push_back(nullptr);
  prepared.variables.push_back(nullptr);
  const pid_t between = ::fork();
  if (between < 0) return failed(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (between == 0) enter(vm, user_namespace, request, prepared, report->to.get());
  report->to.close();
  std::string said;
  pid_t pid = -1;
  for (std::string part = " "; !part.empty();) {
    part = read_line(report->from.get(), 30 * kSecond);
    said += part + "\n";
  }
  ::waitpid(between, nullptr, 0);
  std::string error;
  for (const std::string& line : split(said, '\n')) {
    if (line.starts_with("pid ")) pid = parse_int(line.substr(4)).value_or(-1);
    if (line.starts_with("error ")) error = line.substr(6);
  }
  if (pid > 0 && error.empty()) return pid;
  if (pid > 0) ::waitpid(pid, nullptr, 0);
  return bad_usage(error.empty() ? "the VM went away while a program was started"
                                 : fmt::format("cannot run the program: {}", error));
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace stint
