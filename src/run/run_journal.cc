#include "run/run_journal.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/json_lines.h"

namespace stint {
namespace {

Error cannot(const char* what, const std::string& path) {
  return failed(fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

bool is_cheap(RunEventKind kind) {
  return kind == RunEventKind::kTick || kind == RunEventKind::kStepDone;
}

}  // namespace

Result<RunJournal> RunJournal::open(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return cannot("open the journal", path);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return cannot("look at the journal", path);
  char last = '\n';
  if (facts.st_size > 0) (void)::pread(file.get(), &last, 1, facts.st_size - 1);
  // The cut line holds what was never acted on.
  if (last != '\n') {
    off_t end = facts.st_size;
    while (end > 0 && last != '\n') {
      --end;
      if (end > 0) (void)::pread(file.get(), &last, 1, end - 1);
    }
    if (::ftruncate(file.get(), end) != 0) return cannot("mend the journal", path);
  }
  return RunJournal(std::move(file), path);
}

Status RunJournal::append(const RunEvent& event) {
  const std::string line = to_text(encode(event, kRunEventSchema), JsonStyle::kLine) + "\n";
  if (!write_all(file_.get(), line)) return cannot("write to the journal", path_);
  if (is_cheap(event.kind)) return {};
  if (::fdatasync(file_.get()) != 0) return cannot("write to the journal", path_);
  return {};
}

Result<Loaded<std::vector<RunEvent>>> read_run_journal(std::string_view text,
                                                       const std::string& source) {
  return read_json_lines<RunEvent>(text, kRunEventSchema, source);
}

}  // namespace stint
