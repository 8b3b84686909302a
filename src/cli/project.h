#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "cli/verb.h"
#include "load/project_file.h"

namespace stint::cli {

/// A key of a project file. It sets the flag of the same name, "deadline" that of "--deadline", of
/// each verb that has the flag; "command" is what stands after --.
struct ProjectKey {
  const char* key;
  bool common;          // May stand outside of a section, as it means the same to all verbs.
  const char* example;  // As YAML.
};

/// Every key, in the order of a new file. Not among them: consent (--yes), what is passed on
/// (--env), files that are written (--save, --out) and what is asked but once (--resume).
std::span<const ProjectKey> project_keys();

/// Reads the project file, if there is one.
using ProjectReader = std::function<Result<std::optional<Project>>()>;

/// Fills what the command line left open with what the project file says, and notes what it filled
/// in `invocation.project`. Flags replace keys; a key under the verb's name replaces a common one.
/// Bad input, with its place: an unknown key, or a value that the flag does not take.
Status apply_project(const Project& project, std::span<const Verb> verbs, const Verb& verb,
                     Invocation& invocation);

/// The same with the file that `reader` reads, for a verb that takes values from one.
Status take_project(const ProjectReader& reader, std::span<const Verb> verbs, const Verb& verb,
                    Invocation& invocation);

/// "Project file stint.yaml: model, deadline; --no-project ignores it."
std::string project_note(const Invocation& invocation);

}  // namespace stint::cli
