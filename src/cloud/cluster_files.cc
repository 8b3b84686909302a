#include "cloud/cluster_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cloud/cgroup.h"
#include "cloud/cluster_spec.h"
#include "cloud/control.h"

namespace stint {
namespace {

std::int64_t number_at(const Json& json, const char* key) {
  const Json* member = json.find(key);
  const std::int64_t* number = member == nullptr ? nullptr : member->as<std::int64_t>();
  return number == nullptr ? 0 : *number;
}

std::string line_of(const Json& json) { return to_text(json, JsonStyle::kLine) + "\n"; }

namespace fs = std::filesystem;

constexpr const char* kJournalName = "journal";

/// A crash may happen before the journal is written; then there is a folder and nothing else.
Result<Journal> journal_in(const std::string& folder) {
  const auto text = read_file(journal_path(folder));
  return text.ok() ? read_journal(*text, journal_path(folder)) : Journal{};
}

}  // namespace

std::string journal_head(std::string_view name) {
  Json json;
  json.add("schema", kJournalSchema);
  json.add("name", Json(std::string(name)));
  return line_of(json);
}

std::string journal_line(const ProcessId& process) {
  Json json;
  json.add("pid", Json(Json::Value(process.pid)));
  json.add("start", Json(Json::Value(process.start)));
  json.add("boot", Json(process.boot));
  return line_of(json);
}

std::string journal_line_of_cgroup(std::string_view folder) {
  Json json;
  json.add("cgroup", Json(std::string(folder)));
  return line_of(json);
}

Result<Journal> read_journal(std::string_view text, const std::string& source) {
  Journal journal;
  const std::size_t end = text.rfind('\n');
  const std::string_view whole =
      end == std::string_view::npos ? std::string_view() : text.substr(0, end);
  for (const std::string& line : split(whole, '\n')) {
    if (line.empty()) continue;
    const auto json = parse_json(line, source);
    if (!json.ok()) return json.error();
    if (json->find("schema") != nullptr) {
      if (text_at(*json, "schema") != kJournalSchema) {
        return bad_input(fmt::format("{}: not a journal of this version of stint", source));
      }
      journal.name = text_at(*json, "name");
    }
    if (json->find("pid") != nullptr) {
      journal.processes.push_back({.pid = number_at(*json, "pid"),
                                   .start = number_at(*json, "start"),
                                   .boot = text_at(*json, "boot")});
    }
    if (json->find("cgroup") != nullptr) journal.cgroups.push_back(text_at(*json, "cgroup"));
  }
  return journal;
}

std::string cluster_folder(const std::string& root, const std::string& name) {
  return fmt::format("{}/{}", root, name);
}

std::string journal_path(const std::string& folder) {
  return fmt::format("{}/{}", folder, kJournalName);
}

Status make_cluster_files(const std::string& root, const std::string& name) {
  std::error_code error;
  fs::create_directories(root, error);
  const std::string folder = cluster_folder(root, name);
  if (::mkdir(folder.c_str(), 0700) != 0) {
    if (errno == EEXIST) {
      return bad_usage(
          fmt::format("the name {} is in use: choose another with --name, or free it with 'stint "
                      "local down --name {}' or, after a crash, 'stint local clean'",
                      name, name));
    }
    return failed(fmt::format("cannot create {}: {}", folder, std::strerror(errno)));
  }
  return append_file(journal_path(folder), journal_head(name));
}

Status remove_cluster_files(const std::string& folder) {
  for (const char* file : {kSocketName, kJournalName}) {
    const std::string path = fmt::format("{}/{}", folder, file);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return failed(fmt::format("cannot remove {}: {}", path, std::strerror(errno)));
    }
  }
  if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return {};
  return failed(fmt::format("cannot remove {}: {}", folder, std::strerror(errno)));
}

Status remove_cluster(const std::string& folder) {
  const auto journal = journal_in(folder);
  if (!journal.ok()) return journal.error();
  for (const std::string& cgroup : journal->cgroups) {
    const Status removed = remove_cgroup(cgroup);
    if (!removed.ok()) return removed;
  }
  return remove_cluster_files(folder);
}

std::vector<std::string> cluster_names(const std::string& root) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (entry->is_directory(ignored) && check_cluster_name(name).ok()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Cleaning clean_clusters(const std::string& root) {
  Cleaning cleaning;
  for (const std::string& name : cluster_names(root)) {
    const std::string folder = cluster_folder(root, name);
    const auto journal = journal_in(folder);
    if (!journal.ok()) {
      cleaning.kept.push_back(fmt::format("{}: {}", name, journal.error().message));
      continue;
    }
    // Once there is a keeper, the maker may end. A killed keeper does nothing any more.
    if (!journal->processes.empty() && is_alive(journal->processes.back()) &&
        !is_ending(journal->processes.back())) {
      cleaning.alive.push_back(name);
      continue;
    }
    const Status removed = remove_cluster(folder);
    if (removed.ok()) {
      cleaning.removed.push_back(name);
    } else {
      cleaning.kept.push_back(fmt::format("{}: {}", name, removed.error().message));
    }
  }
  return cleaning;
}

}  // namespace stint
