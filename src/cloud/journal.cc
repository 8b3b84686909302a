#include "cloud/journal.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"

namespace stint {
namespace {

std::string text_at(const Json& json, const char* key) {
  const Json* member = json.find(key);
  const std::string* text = member == nullptr ? nullptr : member->as<std::string>();
  return text == nullptr ? "" : *text;
}

std::int64_t number_at(const Json& json, const char* key) {
  const Json* member = json.find(key);
  const std::int64_t* number = member == nullptr ? nullptr : member->as<std::int64_t>();
  return number == nullptr ? 0 : *number;
}

std::string line_of(const Json& json) { return to_text(json, JsonStyle::kLine) + "\n"; }

}  // namespace

std::string journal_head(std::string_view name) {
  Json json;
  json.add("schema", kJournalSchema);
  json.add("name", Json(std::string(name)));
  return line_of(json);
}

std::string journal_line(const ProcessId& process) {
  Json json;
  json.add("pid", Json(Json::Value(process.pid)));
  json.add("start", Json(Json::Value(process.start)));
  json.add("boot", Json(process.boot));
  return line_of(json);
}

std::string journal_line_of_cgroup(std::string_view folder) {
  Json json;
  json.add("cgroup", Json(std::string(folder)));
  return line_of(json);
}

Result<Journal> read_journal(std::string_view text, const std::string& source) {
  Journal journal;
  const std::size_t end = text.rfind('\n');
  const std::string_view whole =
      end == std::string_view::npos ? std::string_view() : text.substr(0, end);
  for (const std::string& line : split(whole, '\n')) {
    if (line.empty()) continue;
    const auto json = parse_json(line, source);
    if (!json.ok()) return json.error();
    if (json->find("schema") != nullptr) {
      if (text_at(*json, "schema") != kJournalSchema) {
        return bad_input(fmt::format("{}: not a journal of this version of stint", source));
      }
      journal.name = text_at(*json, "name");
    }
    if (json->find("pid") != nullptr) {
      journal.processes.push_back({.pid = number_at(*json, "pid"),
                                   .start = number_at(*json, "start"),
                                   .boot = text_at(*json, "boot")});
    }
    if (json->find("cgroup") != nullptr) journal.cgroups.push_back(text_at(*json, "cgroup"));
  }
  return journal;
}

}  // namespace stint
