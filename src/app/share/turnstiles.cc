#include "app/share/turnstiles.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "predict/timeline.h"
#include "provider/emulated/shared_engine.h"
#include "run/run_folder.h"
#include "turnstile/turnstile.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = "-turns.jsonl";

/// Start and end of a turn, by the clock of the computer.
struct Turn {
  double begin = 0;
  double end = 0;
};

std::optional<double> number_at(const Json& json, const char* key) {
  const Json* found = json.find(key);
  if (found == nullptr) return std::nullopt;
  if (const auto* whole = found->as<std::int64_t>()) return static_cast<double>(*whole);
  const auto* number = found->as<double>();
  return number == nullptr ? std::nullopt : std::optional(*number);
}

Result<std::vector<Turn>> read_turns(const std::string& path) {
  const auto text = read_file(path);
  if (!text.ok()) return text.error();
  std::vector<Turn> turns;
  std::size_t at = 0;
  for (int line = 1; at < text->size(); ++line) {
    const std::size_t end = text->find('\n', at);
    if (end == std::string::npos) break;  // Its writer was killed.
    const std::string where = fmt::format("{}:{}", path, line);
    const auto json = parse_json(text->substr(at, end - at), where);
    if (!json.ok()) return json.error();
    const Json* turn = json->find("turn");
    const auto begin = turn == nullptr ? std::nullopt : number_at(*turn, "begin_s");
    const auto over = turn == nullptr ? std::nullopt : number_at(*turn, "end_s");
    if (!begin || !over || *over < *begin) return bad_input(where + ": not a turn");
    turns.push_back({*begin, *over});
    at = end + 1;
  }
  return turns;
}

/// The files of turns in the log folder of a run, by machine.
std::map<std::string, std::string> turn_files(const std::string& run) {
  std::map<std::string, std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(log_folder(run), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with(kSuffix)) continue;
    files[name.substr(0, name.size() - kSuffix.size())] = entry->path().string();
  }
  return files;
}

namespace fs = std::filesystem;

constexpr std::array kStates = {"absent", "idle", "waiting", "holding"};

Seconds from_nanoseconds(std::int64_t count) { return static_cast<double>(count) * 1e-9 * kSecond; }

TurnstileMember member_of(const StintTurnFigures& figures) {
  return {.run = figures.name,
          .state = figures.state < kStates.size() ? kStates[figures.state] : "unknown",
          .since = from_nanoseconds(figures.since_ns),
          .turns = static_cast<std::int64_t>(figures.turns),
          .held = from_nanoseconds(figures.held_ns),
          .waited = from_nanoseconds(figures.waited_ns)};
}

}  // namespace

Result<std::string> turn_trace(const std::vector<std::string>& run_folders) {
  std::vector<std::string> rows;
  std::vector<std::pair<int, Turn>> turns;  // By row.
  std::map<std::string, std::map<std::string, std::vector<Turn>>> by_machine;
  for (const std::string& folder : run_folders) {
    const std::string run = fs::path(folder).filename().string();
    for (const auto& [machine, path] : turn_files(folder)) {
      auto read = read_turns(path);
      if (!read.ok()) return read.error();
      by_machine[machine][run] = std::move(*read);
    }
  }
  double first = std::numeric_limits<double>::infinity();
  for (const auto& [machine, runs] : by_machine) {
    for (const auto& [run, its] : runs) {
      for (const Turn& turn : its) {
        first = std::min(first, turn.begin);
        turns.emplace_back(static_cast<int>(rows.size()), turn);
      }
      rows.push_back(fmt::format("{}: {}", machine, run));
    }
  }
  std::vector<TimelineEvent> events;
  for (const auto& [row, turn] : turns) {
    events.push_back({.name = "turn",
                      .group = row,
                      .start = (turn.begin - first) * kSecond,
                      .duration = (turn.end - turn.begin) * kSecond});
  }
  return chrome_trace(events, rows);
}

std::vector<TurnstileStanding> turnstiles_in(const std::string& folder) {
  std::vector<TurnstileStanding> all;
  const auto status = std::make_unique<StintTurnStatus>();
  std::array<char, 512> reason{};
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string vm = entry->path().stem().string();
    const std::string path = turnstile_path(folder, vm);
    if (entry->path().string() != path) continue;
    if (stint_turn_status(path.c_str(), status.get(), reason.data(), reason.size()) !=
        kStintTurnOk) {
      continue;
    }
    TurnstileStanding standing{.vm = vm, .deaths = static_cast<std::int64_t>(status->deaths)};
    for (std::uint32_t i = 0; i < status->count; ++i) {
      standing.members.push_back(member_of(status->members[i]));
    }
    all.push_back(std::move(standing));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.vm.size() != b.vm.size() ? a.vm.size() < b.vm.size() : a.vm < b.vm;
  });
  return all;
}

}  // namespace stint
