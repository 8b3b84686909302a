#pragma once

#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "base/terminal.h"
#include "load/environment.h"
#include "load/yaml.h"

namespace stint::cli {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,
  kExitUsage = 2,
  kExitInfeasible = 3,
  kExitBadInput = 4,
  kExitUnavailable = 5,
  kExitBreached = 6,
  kExitInterrupted = 130,
};

/// The exit code of an error.
ExitCode exit_code(const Error& error);

/// A flag of a verb.
struct OptionSpec {
  std::string name;         // "--gpu".
  std::string letter = {};  // "-o", or empty.
  std::string value = {};   // Placeholder of the value in the help; empty: a switch.
  std::string help;
  std::vector<std::string> choices = {};  // Empty: anything.
  bool list = false;                      // Several values, separated by commas or repeated.
  bool files = false;     // File names: all words up to the next flag; may be repeated.
  bool dashes = false;    // The value may look like a flag.
  bool repeated = false;  // May be given several times, with one value each.
};

/// A word of a verb that is not a flag.
struct ArgumentSpec {
  std::string name;
  std::string help;
  std::vector<std::string> choices = {};
  bool required = true;
  bool several = false;  // The last one may be repeated.
};

struct Example {
  std::string command;
  std::string what;
};

/// What a project file set.
struct FromProject {
  std::string file = {};                         // Empty: nothing.
  std::vector<std::string> keys = {};            // In their order in the file, sections first.
  std::map<std::string, TextPlace> places = {};  // Of the keys, by flag.
  bool command = false;                          // The arguments are the file's command.
};

/// The parsed command line, and the streams for the answer.
struct Invocation {
  std::map<std::string, std::vector<std::string>> options = {};  // By name, "--gpu".
  std::vector<std::string> arguments = {};
  FromProject project = {};
  Environment environment = {};
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  Terminal out_terminal = {};
  Terminal err_terminal = {};

  bool has(const std::string& option) const { return options.contains(option); }
  /// The value of an option, or empty.
  std::string get(const std::string& option) const;
  std::vector<std::string> list(const std::string& option) const;
  /// "table" unless -o says otherwise.
  std::string output() const;
  bool quiet() const { return has("--quiet"); }
  bool verbose() const { return has("--verbose"); }
};

/// The sections of the help, in their order there.
enum class VerbGroup { kNone, kPlan, kMeasure, kRun, kMachines, kEvidence, kSetup };

/// One verb of stint. Their table is the only list of verbs: dispatch, help, the manual page and
/// the completions are generated from it.
struct Verb {
  std::string path;  // "catalog list".
  VerbGroup group = VerbGroup::kNone;
  std::string summary;
  std::string details = {};
  std::vector<ArgumentSpec> arguments = {};
  std::vector<OptionSpec> options = {};
  std::vector<std::string> outputs = {};  // Choices of -o; empty: there is no -o.
  std::vector<Example> examples = {};
  bool project = false;  // Takes flags from a project file.
  ExitCode (*run)(const Invocation&) = nullptr;
};

/// Options that every verb has; -o only where the verb has outputs, --no-project where it reads
/// project files.
std::vector<OptionSpec> options_of(const Verb& verb);

/// The whole number from 1 to `max` that an option holds, if it is given; anything else is a usage
/// error.
Result<std::optional<int>> count_of(const Invocation& invocation, const std::string& option,
                                    int max = kCountMax);

/// For seeds, steps and samples, which are limited by their type only.
inline constexpr int kIntMax = std::numeric_limits<int>::max();

/// "stint catalog list: message", to the error stream; returns the error's exit code. A usage error
/// about a flag that a project file set is bad input of that file, with its place.
ExitCode report(const Invocation& invocation, std::string_view verb, const Error& error);

/// Prints warnings: the first few, or all of them with --verbose, none with --quiet.
void print_warnings(const Invocation& invocation, const std::vector<std::string>& warnings);

/// Prints the answer, or a part of it, to the output stream. A full stream is detected
/// after printing (see run.h); fmt's own printing would throw here.
void print_answer(const Invocation& invocation, std::string_view text);

/// Prints a note for the user to the error stream, unless --quiet.
void say(const Invocation& invocation, std::string_view text);

}  // namespace stint::cli
