#include "run/run_journal.h"

#include <fmt/format.h>

#include "measure/measurement.h"

namespace stint {
namespace {

Durability durability_of(RunEventKind kind) {
  const bool cheap = kind == RunEventKind::kTick || kind == RunEventKind::kStepDone;
  return cheap ? Durability::kLater : Durability::kNow;
}

}  // namespace

Result<RunJournal> RunJournal::open(const std::string& path) {
  auto log = LineLog::open(path);
  if (!log.ok()) return log.error();
  return RunJournal(std::move(*log));
}

Status RunJournal::append(const RunEvent& event) {
  return log_.append(write_run_event(event), durability_of(event.kind));
}

std::string write_run_event(const RunEvent& event) {
  return to_text(encode(event, kRunEventSchema), JsonStyle::kLine) + "\n";
}

Json run_event_schema() {
  return schema_document(kRunEventSchema, "Something that happened in a run",
                         SchemaWalk::schema_of<RunEvent>());
}

Result<Loaded<std::vector<RunEvent>>> read_run_journal(std::string_view text,
                                                       const std::string& source) {
  // A line without its newline is removed even if it is otherwise whole: the next writer removes it
  // as well.
  const std::size_t whole = text.empty() ? 0 : text.rfind('\n') + 1;
  auto events = read_json_lines<RunEvent>(text.substr(0, whole), kRunEventSchema, source);
  if (events.ok() && whole < text.size()) {
    events->warnings.push_back(
        fmt::format("{}: the last line was truncated during a write; skipped", source));
  }
  return events;
}

}  // namespace stint
