#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "cloud/process.h"
#include "run/run_event.h"

namespace stint {

inline constexpr const char* kRunEventSchema = "stint.run-event/1";

/// The events of a run in the order they were handled, each on the disk before that. Steps and
/// ticks may be lost in a crash of the computer, for nothing depends on them.
class RunJournal {
 public:
  /// Appends to the file, which is made if it is not there. A last line that a crash cut off is
  /// ended first.
  static Result<RunJournal> open(const std::string& path);

  Status append(const RunEvent& event);

 private:
  RunJournal(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Descriptor file_;
  std::string path_;
};

/// All events of a journal. A last line that was cut off is left out with a warning; any other bad
/// line is bad input.
Result<Loaded<std::vector<RunEvent>>> read_run_journal(std::string_view text,
                                                       const std::string& source);

}  // namespace stint
