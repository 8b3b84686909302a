#include "run/run_journal.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "base/text.h"
#include "measure/line_reader.h"

namespace stint {
namespace {

using Act = RunActionKind;

constexpr std::size_t kWarningsMax = 100;  // The same is wrong with all lines.

/// An action as the journal keeps it. Fields that do not apply to its kind are absent.
struct KeptAction {
  RunActionKind kind = RunActionKind::kSay;
  std::optional<int> vm = {};
  std::optional<int> slot = {};
  std::optional<Market> market = {};
  std::optional<int> attempt = {};
  std::vector<int> vms = {};
  std::optional<std::int64_t> step = {};
  std::optional<int> save = {};
  std::optional<bool> halt = {};
  std::optional<RunVerdict> outcome = {};
  std::optional<std::string> reason = {};
  Json::Object unknown = {};
};

template <class Walk>
void describe(Walk& walk, Like<Walk, KeptAction>& it) {
  constexpr FieldRules kNumber{.range = Range::kNotNegative};
  walk.field("kind", it.kind, "Kind of action.");
  walk.field("vm", it.vm, "VM number.", kNumber);
  walk.field("slot", it.slot, "Slot of the plan that the VM is for.", kNumber);
  walk.field("market", it.market, "Market that the VM comes from.");
  walk.field("attempt", it.attempt, "Number of the attempt: one start of the workers.", kNumber);
  walk.field("vms", it.vms, "VMs that train, in the order of their slots.");
  walk.field("step", it.step, "Step of the checkpoint to start from, or step reached.", kNumber);
  walk.field("save", it.save, "Number of the checkpoint request.", kNumber);
  walk.field("halt", it.halt, "True: no step follows the checkpoint.");
  walk.field("outcome", it.outcome, "How the run ended.");
  walk.field("reason", it.reason, "Reason, or words for the user.");
  walk.rest(it.unknown);
}

/// The fields of a line.
struct KeptLine {
  RunEvent event = {};
  std::vector<KeptAction> actions = {};
};

template <class Walk>
void describe(Walk& walk, Like<Walk, KeptLine>& it) {
  describe_fields(walk, it.event);
  walk.field("actions", it.actions, "Actions that followed, in this order.");
  walk.rest(it.event.unknown);
}

KeptAction kept(const RunAction& action) {
  KeptAction line{.kind = action.kind};
  const Act kind = action.kind;
  if (kind == Act::kLaunch || kind == Act::kRelease) line.vm = action.vm;
  if (kind == Act::kLaunch) {
    line.slot = action.slot;
    line.market = action.market;
  }
  if (kind == Act::kTrain || kind == Act::kSave) {
    line.attempt = action.attempt;
    line.step = action.step;
  }
  if (kind == Act::kTrain) line.vms = action.vms;
  if (kind == Act::kSave) line.save = action.save;
  if (action.halt) line.halt = true;
  if (kind == Act::kFinish) line.outcome = action.outcome;
  if (!action.reason.empty()) line.reason = action.reason;
  return line;
}

RunAction action_of(KeptAction line) {
  return {.kind = line.kind,
          .vm = line.vm.value_or(0),
          .slot = line.slot.value_or(0),
          .market = line.market.value_or(Market::kOnDemand),
          .attempt = line.attempt.value_or(0),
          .vms = std::move(line.vms),
          .step = line.step.value_or(0),
          .save = line.save.value_or(0),
          .halt = line.halt.value_or(false),
          .outcome = line.outcome.value_or(RunVerdict::kTrained),
          .reason = std::move(line.reason).value_or("")};
}

Durability durability_of(const RunEvent& event, const std::vector<RunAction>& actions) {
  const bool cheap = event.kind == RunEventKind::kTick || event.kind == RunEventKind::kStepDone;
  const bool orders = std::any_of(actions.begin(), actions.end(), is_order);
  return cheap && !orders ? Durability::kLater : Durability::kNow;
}

std::string cut_off_warning(const std::string& source) {
  return fmt::format("{}: the last line was truncated during a write; skipped", source);
}

Result<Loaded<JournalLine>> read_line(std::string_view text, const std::string& source,
                                      int number) {
  const auto json = parse_json(text, source, number);
  if (!json.ok()) return json.error();
  if (check_schema_mark(*json, kRunSnapshotSchema, source).ok()) {
    auto read = decode<RunSnapshot>(*json, kRunSnapshotSchema, source);
    if (!read.ok()) return read.error();
    return Loaded<JournalLine>{{.snapshot = std::move(read->noun)}, std::move(read->warnings)};
  }
  const bool old = check_schema_mark(*json, kRunEventSchemaOld, source).ok();
  auto read = decode<KeptLine>(*json, old ? kRunEventSchemaOld : kRunEventSchema, source);
  if (!read.ok()) return read.error();
  JournalLine line{.event = std::move(read->noun.event)};
  if (!old) {
    line.actions.emplace();
    for (KeptAction& one : read->noun.actions) line.actions->push_back(action_of(std::move(one)));
  }
  return Loaded<JournalLine>{std::move(line), std::move(read->warnings)};
}

}  // namespace

Result<RunJournal> RunJournal::open(const std::string& path, std::int64_t longest) {
  auto log = LineLog::open(path);
  if (!log.ok()) return log.error();
  RunJournal journal(std::move(*log), path, longest);
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return failed(fmt::format("cannot read the size of {}: {}", path, error.message()));
  journal.size_ = static_cast<std::int64_t>(size);
  return journal;
}

Status RunJournal::append(const RunEvent& event, const std::vector<RunAction>& actions) {
  const std::string line = write_run_event(event, actions);
  size_ += static_cast<std::int64_t>(line.size());
  return log_.append(line, durability_of(event, actions));
}

Status RunJournal::replace_by(const RunSnapshot& snapshot) {
  const std::string line = write_run_snapshot(snapshot);
  const auto size = static_cast<std::int64_t>(line.size());
  limit_ = size_ + longest_;
  auto log = LineLog::replace(path_, line);
  if (!log.ok()) return log.error();
  log_ = std::move(*log);
  size_ = size;
  limit_ = size + std::max(longest_, size);
  return {};
}

std::string write_run_event(const RunEvent& event, const std::vector<RunAction>& actions) {
  KeptLine line{.event = event};
  for (const RunAction& action : actions) line.actions.push_back(kept(action));
  return to_text(encode(line, kRunEventSchema), JsonStyle::kLine) + "\n";
}

std::string problem(const RunSnapshot& it) {
  for (const ToldVm& vm : it.told.vms) {
    if (vm.number >= it.supervisor.vms.count) return "a machine came that was never requested";
  }
  return "";
}

std::string write_run_snapshot(const RunSnapshot& snapshot) {
  return to_text(encode(snapshot, kRunSnapshotSchema), JsonStyle::kLine) + "\n";
}

Json run_snapshot_schema() {
  return schema_document(kRunSnapshotSchema, "Where a run stands, in place of its earlier events",
                         SchemaWalk::schema_of<RunSnapshot>());
}

Json run_event_schema() {
  return schema_document(kRunEventSchema, "Something that happened in a run, and what followed",
                         SchemaWalk::schema_of<KeptLine>());
}

Result<Loaded<std::vector<JournalLine>>> read_run_journal(std::string_view text,
                                                          const std::string& source) {
  Loaded<std::vector<JournalLine>> all;
  int number = 0;
  // A line without its newline is removed even if it is otherwise whole: the next writer removes it
  // as well.
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    ++number;
    if (trim(line).empty()) continue;
    auto read = read_line(line, source, number);
    if (!read.ok()) return read.error();
    all.noun.push_back(std::move(read->noun));
    for (std::string& warning : read->warnings) all.warnings.push_back(std::move(warning));
  }
  if (!text.empty()) all.warnings.push_back(cut_off_warning(source));
  return all;
}

Result<std::vector<std::string>> each_journal_line(const std::string& path,
                                                   const std::function<Status(JournalLine)>& take) {
  std::vector<std::string> warnings;
  const Status all = each_line(path, [&](const FileLine& line) -> Status {
    if (line.cut_off) {
      warnings.push_back(cut_off_warning(path));
      return {};
    }
    auto read = read_line(line.text, path, line.number);
    if (!read.ok()) return read.error();
    const Status taken = take(std::move(read->noun));
    if (!taken.ok()) return taken;
    for (std::string& warning : read->warnings) {
      if (warnings.size() < kWarningsMax) warnings.push_back(std::move(warning));
    }
    return {};
  });
  if (!all.ok()) return all.error();
  return warnings;
}

}  // namespace stint
