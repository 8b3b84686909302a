#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "base/line_log.h"
#include "supervise/run_event.h"

namespace stint {

inline constexpr const char* kRunEventSchema = "stint.run-event/1";

/// The events of a run in the order they were handled, each on the disk before it is handled. Steps
/// and ticks may be lost in a crash of the computer, because nothing depends on them.
class RunJournal {
 public:
  /// Appends to the file, which is created if it does not exist. A last line that a crash truncated
  /// was never acted on, and is removed first.
  static Result<RunJournal> open(const std::string& path);

  Status append(const RunEvent& event);

 private:
  explicit RunJournal(LineLog log) : log_(std::move(log)) {}

  LineLog log_;
};

/// A line of the journal, with its newline.
std::string write_run_event(const RunEvent& event);
Json run_event_schema();

/// All events of a journal. A last line without its newline was cut off and is skipped with a
/// warning; any other invalid line is bad input.
Result<Loaded<std::vector<RunEvent>>> read_run_journal(std::string_view text,
                                                       const std::string& source);

}  // namespace stint
