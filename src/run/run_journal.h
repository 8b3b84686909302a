#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "base/line_log.h"
#include "run/run_snapshot.h"
#include "supervise/run_event.h"

namespace stint {

/// Lines of version 1 have no actions.
inline constexpr const char* kRunEventSchema = "stint.run-event/2";
inline constexpr const char* kRunEventSchemaOld = "stint.run-event/1";

/// A line of the journal: an event, and the actions that followed; or a snapshot alone.
struct JournalLine {
  std::optional<RunSnapshot> snapshot = {};
  RunEvent event = {};
  // Absent in an old journal: those that a supervisor of this version decides on count.
  std::optional<std::vector<RunAction>> actions = {};
};

/// The events of a run in the order they were handled, each with its actions, on the disk before
/// these are performed. Steps and ticks without an order may be lost in a crash of the computer,
/// because nothing depends on them.
///
/// A journal that has become long begins anew with a snapshot: 64 MiB are enough for any run.
class RunJournal {
 public:
  static constexpr std::int64_t kLong = std::int64_t{16} << 20U;  // Bytes.

  /// Appends to the file, which is created if it does not exist. A last line that a crash truncated
  /// was never acted on, and is removed first.
  static Result<RunJournal> open(const std::string& path, std::int64_t longest = kLong);

  Status append(const RunEvent& event, const std::vector<RunAction>& actions);

  /// Whether more than `longest` bytes follow the snapshot, and more than it has itself.
  bool is_long() const { return size_ > limit_; }

  /// Replaces all lines at once: after a crash the file has the old ones or the snapshot. On an
  /// error it goes on with the old ones.
  Status replace_by(const RunSnapshot& snapshot);

 private:
  RunJournal(LineLog log, std::string path, std::int64_t longest)
      : log_(std::move(log)), path_(std::move(path)), longest_(longest), limit_(longest) {}

  LineLog log_;
  std::string path_;
  std::int64_t longest_;
  std::int64_t limit_;
  std::int64_t size_ = 0;
};

/// A line of the journal, with its newline.
std::string write_run_event(const RunEvent& event, const std::vector<RunAction>& actions = {});
Json run_event_schema();

/// All lines of a journal. A last line without its newline was cut off and is skipped with a
/// warning; any other invalid line is bad input.
Result<Loaded<std::vector<JournalLine>>> read_run_journal(std::string_view text,
                                                          const std::string& source);

/// Calls `take` with each line of the journal at `path`, without keeping them, until one fails. A
/// file that does not exist has none: a crash right after the start of a run leaves no journal. Any
/// other that cannot be read is bad input. Returns warnings, as above.
Result<std::vector<std::string>> each_journal_line(const std::string& path,
                                                   const std::function<Status(JournalLine)>& take);

}  // namespace stint
