#include "provider/ssh/ssh_command.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace stint {
namespace {

constexpr int kConnectSeconds = 10;
constexpr int kAliveSeconds = 5;     // A silent connection ends after three times that.
constexpr int kPersistSeconds = 60;  // A connection stays so long after its last use.
constexpr int kSshFailed = 255;      // Exit code of ssh itself.
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

/// A text that ssh, or a program on the host, prints, and what it means.
using Sign = std::pair<std::string_view, SshFailure>;
constexpr Sign kSigns[] = {{"REMOTE HOST IDENTIFICATION HAS CHANGED", SshFailure::kHostKeyChanged},
                           {"Host key verification failed", SshFailure::kHostKeyUnknown},
                           {"Permission denied (", SshFailure::kPermission},
                           {"Too many authentication failures", SshFailure::kPermission},
                           {"No space left on device", SshFailure::kDiskFull},
                           {"Disk quota exceeded", SshFailure::kDiskFull},
                           {"Exec format error", SshFailure::kArchitecture}};

std::string folder_part() { return "\"$HOME/.cache/stint\""; }

std::string program_part(const std::string& hash) {
  return "\"$HOME/.cache/stint/agent-" + hash + "\"";
}

std::string last_line(std::string_view errors) {
  std::string last;
  for (const std::string& line : split(errors, '\n')) {
    if (!line.empty()) last = line;
  }
  return harmless(last);
}

Words base_words(const SshClient& client, const SshHost& host) {
  Words words = {client.program};
  words.insert(words.end(), client.options.begin(), client.options.end());
  for (const std::string& option :
       {std::string("BatchMode=yes"), std::string("StrictHostKeyChecking=yes"),
        std::string("ControlMaster=auto"), "ControlPath=" + client.control + "/%C",
        fmt::format("ControlPersist={}", kPersistSeconds),
        fmt::format("ConnectTimeout={}", kConnectSeconds),
        fmt::format("ServerAliveInterval={}", kAliveSeconds), std::string("ServerAliveCountMax=3"),
        std::string("ForwardAgent=no"), std::string("ForwardX11=no"),
        std::string("ClearAllForwardings=yes")}) {
    words.insert(words.end(), {"-o", option});
  }
  if (host.port) words.insert(words.end(), {"-p", fmt::format("{}", *host.port)});
  if (!host.user.empty()) words.insert(words.end(), {"-l", host.user});
  return words;
}

std::string address_of(const SshHost& host) {
  return host.address.empty() ? host.name : host.address;
}

}  // namespace

Words ssh_words(const SshClient& client, const SshHost& host, std::string_view script) {
  Words words = base_words(client, host);
  // The login shell over there may be another one.
  words.insert(words.end(),
               {"-T", "--", address_of(host), "exec /bin/sh -c " + shell_quoted(script)});
  return words;
}

Words ssh_end_words(const SshClient& client, const SshHost& host) {
  Words words = base_words(client, host);
  words.insert(words.end(), {"-O", "exit", "--", address_of(host)});
  return words;
}

SshFailure ssh_failure(int code, std::string_view errors) {
  const auto* sign = std::find_if(std::begin(kSigns), std::end(kSigns), [&](const Sign& it) {
    return errors.find(it.first) != std::string_view::npos;
  });
  if (sign != std::end(kSigns)) return sign->second;
  if (code == kNotFound) return SshFailure::kNoProgram;
  if (code == kNotExecutable) return SshFailure::kArchitecture;
  return code == kSshFailed ? SshFailure::kUnreachable : SshFailure::kOther;
}

bool may_pass(SshFailure failure) {
  return failure == SshFailure::kUnreachable || failure == SshFailure::kNoProgram ||
         failure == SshFailure::kOther;
}

std::string ssh_error(const SshHost& host, SshFailure failure, std::string_view errors) {
  const std::string last = last_line(errors);
  const std::string said = last.empty() ? "" : fmt::format(" ({})", last);
  const std::string address = address_of(host);
  switch (failure) {
    case SshFailure::kHostKeyUnknown:
      return fmt::format("the host key of {} is not known; check it with 'ssh {}'", host.name,
                         address);
    case SshFailure::kHostKeyChanged:
      return fmt::format(
          "the host key of {} has changed; if that is right, run 'ssh-keygen -R {}' "
          "and 'ssh {}'",
          host.name, address, address);
    case SshFailure::kPermission:
      return fmt::format("{} refuses the login{}; make 'ssh {}' work without a password", host.name,
                         said, address);
    case SshFailure::kUnreachable:
      return fmt::format("{} cannot be reached{}; check 'ssh {}'", host.name, said, address);
    case SshFailure::kNoProgram:
      return fmt::format("{} has no copy of stint{}", host.name, said);
    case SshFailure::kArchitecture:
      return fmt::format("{} cannot run this stint{}; it needs the same architecture", host.name,
                         said);
    case SshFailure::kDiskFull:
      return fmt::format("the disk of {} is full{}; free some space in ~/.cache there", host.name,
                         said);
    case SshFailure::kOther:
      break;
  }
  return fmt::format("stint cannot be started on {}{}", host.name, said);
}

std::string ssh_look_script(const std::string& hash) {
  return fmt::format("uname -m; test -x {} && echo there; true", program_part(hash));
}

std::string ssh_copy_script(const std::string& hash) {
  return fmt::format(
      "set -e; umask 077; mkdir -p {0}; t={1}.$$; trap 'rm -f \"$t\"' EXIT; cat > \"$t\"; "
      "test \"$(sha256sum < \"$t\" | cut -c 1-64)\" = {2}; chmod 700 \"$t\"; mv \"$t\" {1}",
      folder_part(), program_part(hash), hash);
}

std::string ssh_run_script(const std::string& hash, const Command& command) {
  std::string script;
  if (!command.folder.empty()) script += fmt::format("cd {} && ", shell_quoted(command.folder));
  script += "exec";
  if (!command.variables.empty()) script += " env";
  for (const std::string& variable : command.variables) script += " " + shell_quoted(variable);
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    const bool ours = i == 0 && command.words[i] == "stint";
    script += " " + (ours ? program_part(hash) : shell_quoted(command.words[i]));
  }
  return script;
}

}  // namespace stint
