#include "load/project_file.h"

#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace stint {
namespace {

/// Puts the settings of a mapping into `project`.
class Reader {
 public:
  explicit Reader(Project& project) : project_(project) {}

  Status read(const Yaml& mapping, const std::string& section) {
    for (const YamlMember& member : mapping.members) {
      const bool inner = member.value.kind == Yaml::Kind::kMapping;
      if (inner && !section.empty()) return problem(member, "must be a value or a list");
      const Status status = inner ? read(member.value, member.key) : add(member, section);
      if (!status.ok()) return status;
    }
    return {};
  }

 private:
  Status add(const YamlMember& member, const std::string& section) {
    ProjectSetting setting{.section = section, .key = member.key, .place = member.place};
    const Yaml& value = member.value;
    if (value.kind == Yaml::Kind::kNull) {
      return problem(member, "has no value; give it one, or remove the line");
    }
    setting.list = value.kind == Yaml::Kind::kList;
    if (!setting.list) setting.values.push_back(value.text);
    for (const Yaml& item : value.items) {
      if (item.kind != Yaml::Kind::kText) {
        return problem(member, fmt::format("must be a list of single values, not of {}",
                                           item.kind == Yaml::Kind::kNull ? "nothing" : "lists"));
      }
      setting.values.push_back(item.text);
    }
    if (setting.values.empty()) return problem(member, "is an empty list");
    project_.settings.push_back(std::move(setting));
    return {};
  }

  Error problem(const YamlMember& member, std::string_view message) const {
    return bad_input(fmt::format("{}: {} {}", to_text(project_.file, member.place),
                                 printable(member.key), message));
  }

  Project& project_;
};

}  // namespace

Result<Project> parse_project(std::string_view text, const std::string& file) {
  const auto yaml = parse_yaml(text, file);
  if (!yaml.ok()) return yaml.error();
  Project project{.file = file, .settings = {}};
  if (yaml->kind == Yaml::Kind::kNull) return project;
  if (yaml->kind != Yaml::Kind::kMapping) {
    return bad_input(fmt::format("{}: a project file is a mapping such as 'deadline: 12h', not {}",
                                 to_text(file, yaml->place), yaml->name()));
  }
  const Status status = Reader(project).read(*yaml, "");
  if (!status.ok()) return status.error();
  return project;
}

Result<std::optional<Project>> read_project(const std::string& path) {
  std::error_code ignored;
  const auto found = std::filesystem::symlink_status(path, ignored);
  if (found.type() == std::filesystem::file_type::not_found) return std::optional<Project>();
  const auto text = read_file(path, static_cast<double>(kYamlBytesMax) * kByte);
  if (!text.ok()) return text.error();
  auto project = parse_project(*text, path);
  if (!project.ok()) return project.error();
  return std::optional(std::move(*project));
}

Result<std::vector<std::string>> command_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;  // A word, which may be empty between quotes.
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && is_space(c)) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < text.size();
    if (escapes) {
      words.back() += text[++i];
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) return bad_input(fmt::format("a quote {} is not closed", quote));
  if (words.empty()) return bad_input("there is no word in it");
  return words;
}

}  // namespace stint
