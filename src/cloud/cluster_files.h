#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace stint {

inline constexpr const char* kJournalSchema = "stint.local/1";

/// The things that were about to be made for a cluster, so that another process can remove them.
/// Namespaces are not listed: the kernel removes them with the keeper.
struct Journal {
  std::string name;
  std::vector<ProcessId> processes = {};  // The maker, then the keeper.
  std::vector<std::string> cgroups = {};  // Folders.
};

/// One line of the file; the first gives the name and the schema.
std::string journal_head(std::string_view name);
std::string journal_line(const ProcessId& process);
std::string journal_line_of_cgroup(std::string_view folder);

/// Reads the whole lines only: a crash may have truncated the last one.
Result<Journal> read_journal(std::string_view text, const std::string& source);

/// The folder of a cluster under `root`, the folder of all clusters of a user.
std::string cluster_folder(const std::string& root, const std::string& name);
std::string journal_path(const std::string& folder);

/// Makes the folder and the journal's head; a usage error when the name is taken.
Status make_cluster_files(const std::string& root, const std::string& name);

/// Removes our files from the folder, and the folder itself unless something else is in it.
Status remove_cluster_files(const std::string& folder);

/// Removes what the journal in the folder names, then its files. Requires that its processes have
/// ended.
Status remove_cluster(const std::string& folder);

/// The names of the clusters under `root`, sorted, whether they are up or not.
std::vector<std::string> cluster_names(const std::string& root);

/// The result of `clean`.
struct Cleaning {
  std::vector<std::string> removed = {};  // Clusters whose keeper had ended.
  std::vector<std::string> alive = {};    // Clusters that are up, left alone.
  std::vector<std::string> kept = {};     // Things that could not be removed, with the reason.
};

/// Removes the remains of clusters whose makers and keepers have ended, by their journals, and
/// nothing else.
Cleaning clean_clusters(const std::string& root);

}  // namespace stint
