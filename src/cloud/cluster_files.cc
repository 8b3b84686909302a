#include "cloud/cluster_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/file.h"
#include "cloud/cgroup.h"
#include "cloud/cluster_spec.h"
#include "cloud/control.h"
#include "cloud/journal.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJournalName = "journal";

/// A crash may come before the journal; then there is a folder and nothing else.
Result<Journal> journal_in(const std::string& folder) {
  const auto text = read_file(journal_path(folder));
  return text.ok() ? read_journal(*text, journal_path(folder)) : Journal{};
}

}  // namespace

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
      return bad_usage(fmt::format(
          "the name {} is taken: choose another with --name, or free it with 'stint local down "
          "--name {}' or, after a crash, 'stint local clean'",
          name, name));
    }
    return failed(fmt::format("cannot make {}: {}", folder, std::strerror(errno)));
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
    // Once there is a keeper, the maker may go.
    if (!journal->processes.empty() && is_alive(journal->processes.back())) {
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
