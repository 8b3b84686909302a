#include "app/run/run_report.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "app/run/run_conduct.h"
#include "app/run/run_forecast.h"
#include "app/run/run_job.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "measure/measurement.h"
#include "run/run_folder.h"
#include "run/run_replay.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

// Of the steps of a long run so many are drawn, and of its checkpoints the latest are listed.
constexpr std::uintmax_t kStepsShown = 20'000;
constexpr std::size_t kSavesShown = 10'000;
constexpr std::uintmax_t kStepLine = 150;  // About the bytes of a step's line.

void add_measurements(const std::string& folder, RunReport& report) {
  const std::string path = measurements_path(folder);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  const std::uintmax_t every = error ? 1 : 1 + size / kStepLine / kStepsShown;
  std::uintmax_t steps = 0;
  // Most lines are steps: only those that are drawn are parsed.
  const auto skip = [&](std::string_view line) {
    return line.find("\"iteration\":{") != std::string_view::npos && steps++ % every != 0;
  };
  const auto read = each_measurement(path, skip, [&](const Measurement& one) {
    if (one.iteration) {
      report.steps.push_back({.step = one.iteration->number,
                              .at = one.at - report.record.began,
                              .time = one.iteration->time,
                              .loss = one.iteration->loss.value_or(0)});
    }
    if (!one.checkpoint) return;
    report.saves.push_back({.step = one.checkpoint->iteration,
                            .bytes = one.checkpoint->bytes.value_or(Bytes{}),
                            .stall = one.checkpoint->stall.value_or(Seconds{}),
                            .transfer = one.checkpoint->transfer.value_or(Seconds{})});
    if (report.saves.size() < 2 * kSavesShown) return;
    report.saves.erase(report.saves.begin(), report.saves.begin() + kSavesShown);
  });
  if (read.ok()) return;
  report.warnings.push_back(read.error().message);
  report.steps.clear();
  report.saves.clear();
}

void add_search(const std::string& folder, RunReport& report) {
  const auto text = read_file(search_path(folder));
  if (!text.ok()) return;
  auto read = read_search(*text, search_path(folder));
  if (read.ok()) {
    report.search = std::move(read->noun);
  } else {
    report.warnings.push_back(read.error().message);
  }
}

/// What the hook noted, with all files of the folder that the script was given for checkpoints.
void add_files(const std::string& folder, RunReport& report) {
  std::set<std::string> paths;
  const auto notes = read_file(script_notes_path(folder));
  for (const std::string& line : split(notes.ok() ? *notes : "", '\n')) {
    const auto note = parse_json(line, script_notes_path(folder));
    const Json* wrote = note.ok() ? note->find("wrote") : nullptr;
    const std::string* path = wrote == nullptr ? nullptr : wrote->as<std::string>();
    // What Stint itself keeps in the folder of the run is no file of the script.
    if (path != nullptr && !path->starts_with(folder + "/")) paths.insert(*path);
  }
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(script_folder(folder), error)) {
    paths.insert(entry.path().string());
  }
  std::vector<std::pair<fs::file_time_type, ScriptFile>> found;
  for (const std::string& path : paths) {
    if (!fs::is_regular_file(path, error)) continue;
    const auto size = fs::file_size(path, error);
    const auto when = error ? fs::file_time_type() : fs::last_write_time(path, error);
    if (error) continue;
    found.push_back({when, {.path = path, .size = static_cast<double>(size) * kByte}});
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& one : found) report.files.push_back(std::move(one.second));
}

}  // namespace

Result<RunReport> report_run(const Environment& environment, const std::string& name) {
  const auto folder = find_run(environment, name);
  if (!folder.ok()) return folder.error();
  auto run = replay_run_folder(*folder);
  if (!run.ok()) return run.error();
  const bool alive = running_process(*folder).has_value();
  // A run that goes on is told up to now, with the machines that are there.
  if (alive && !run->supervisor->finished()) {
    RunEvent tick{.kind = RunEventKind::kTick, .at = run_time_now(environment, *run)};
    (void)run->supervisor->handle(tick);
    run->teller.see(*run->supervisor, {.event = tick, .actions = {}});
  }
  RunReport report{.record = run->record,
                   .folder = *folder,
                   .alive = alive,
                   .story = story_of(*run),
                   .warnings = run->warnings};
  report.left = machines_left(environment, *folder, run->record);
  if (report.left) {
    tell_of_left(*report.left, run_time_now(environment, *run), report.story);
  }
  add_measurements(*folder, report);
  add_search(*folder, report);
  add_files(*folder, report);
  if (run->record.sharing) report.turnstiles = turnstiles_in(run->record.sharing->folder);
  if (!report.story.outcome) report.outlook = outlook_of(*run);
  if (report.story.outcome == RunVerdict::kTrained) report.hindsight = hindsight_of(run->record);
  return report;
}

Result<RunList> list_runs(const Environment& environment) {
  if (!environment.state_folder) {
    return failed("there is no folder for runs: set HOME or XDG_STATE_HOME");
  }
  const std::string root = *environment.state_folder + "/runs";
  RunList list;
  for (const std::string& name : run_names(root)) {
    const std::string folder = root + "/" + name;
    const auto run = replay_run_folder(folder);
    if (!run.ok()) {
      list.warnings.push_back(run.error().message);
      continue;
    }
    RunStory story = story_of(*run);
    auto left = machines_left(environment, folder, run->record);
    if (left) tell_of_left(*left, run_time_now(environment, *run), story);
    list.runs.push_back({.name = name,
                         .alive = running_process(folder).has_value(),
                         .outcome = story.outcome,
                         .saved = story.saved,
                         .reached = story.reached,
                         .steps = story.steps,
                         .began = run->record.began,
                         .time = story.time,
                         .cost = story.cost,
                         .left = std::move(left)});
  }
  std::sort(list.runs.begin(), list.runs.end(),
            [](const RunLine& a, const RunLine& b) { return a.began < b.began; });
  return list;
}

}  // namespace stint
