#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/units.h"
#include "provider/ssh/ssh_host.h"

namespace stint {

/// How ssh is called.
struct SshClient {
  std::string program = "ssh";
  std::string control = {};               // A private folder for the sockets of shared connections.
  std::vector<std::string> options = {};  // More of ssh's options, before ours.
};

/// The command that runs a script for /bin/sh on a host, over one shared connection to it. Nothing
/// is ever asked for, and a host whose key is not known is refused; else ssh's own configuration
/// and agent decide.
Words ssh_words(const SshClient& client, const SshHost& host, std::string_view script);

/// Ends the shared connection to a host.
Words ssh_end_words(const SshClient& client, const SshHost& host);

/// Why a call of ssh failed.
enum class SshFailure {
  kHostKeyUnknown,
  kHostKeyChanged,
  kPermission,
  kUnreachable,
  kNoProgram,
  kArchitecture,
  kDiskFull,
  kOther
};

/// By the exit code, and all that ssh and the script printed to the standard error.
SshFailure ssh_failure(int code, std::string_view errors);

/// Whether a later call may succeed without anybody doing something.
bool may_pass(SshFailure failure);

/// What is wrong with the host and what to do, as a sentence; `errors` as above.
std::string ssh_error(const SshHost& host, SshFailure failure, std::string_view errors);

// Scripts. `hash` is the SHA-256 of the program, by which a copy is named, and which only its own
// bytes have.

/// Prints the architecture, and "there" where the host has the program.
std::string ssh_look_script(const std::string& hash);

/// Stores its standard input as the program. Whatever happens, a copy under the final name is
/// whole.
std::string ssh_copy_script(const std::string& hash);

/// Becomes the program of a command, in its folder and with its variables. "stint" is the copy.
std::string ssh_run_script(const std::string& hash, const Command& command);

}  // namespace stint
