#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "load/yaml.h"

namespace stint {

/// The project file of a folder.
inline constexpr const char* kProjectFile = "stint.yaml";

/// A setting of a project file.
struct ProjectSetting {
  std::string section;  // The verb that it is for; empty: every verb that has it.
  std::string key;
  TextPlace place;                  // Of the key.
  std::vector<std::string> values;  // One, or those of a list.
  bool list = false;
};

/// What a project file says. Which keys there are is not known here.
struct Project {
  std::string file;
  std::vector<ProjectSetting> settings;
};

/// A mapping of keys to values or lists of values; a key with a mapping is a section. Errors are
/// bad input with file, line and column.
Result<Project> parse_project(std::string_view text, const std::string& file);

/// The project file `path`; nothing when there is none.
Result<std::optional<Project>> read_project(const std::string& path);

/// The words of a command in one text: separated by spaces, with quotes as in a shell. Nothing is
/// expanded. Bad input: a quote that is not closed, or no word.
Result<std::vector<std::string>> command_of(std::string_view text);

}  // namespace stint
