#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace stint {

inline constexpr const char* kJournalSchema = "stint.local/1";

/// What was about to be made for a cluster, so that it can be removed by somebody who was not
/// there. Namespaces are not in it: the kernel removes them with the keeper.
struct Journal {
  std::string name;
  std::vector<ProcessId> processes = {};  // The maker, then the keeper.
  std::vector<std::string> cgroups = {};  // Folders.
};

/// One line of the file; the first gives the name and the schema.
std::string journal_head(std::string_view name);
std::string journal_line(const ProcessId& process);
std::string journal_line_of_cgroup(std::string_view folder);

/// Reads as far as the lines are whole: a crash may have cut the last one.
Result<Journal> read_journal(std::string_view text, const std::string& source);

}  // namespace stint
