#include "measure/tables/availability_trace.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/codec_fields.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

/// More ticks than any trace has (95 years of 5 min); a longer one must be a mistake.
constexpr double kMaxTicks = 1e7;

/// Times without a unit are hours if all lie below this: no trace is as short as 1000 s.
constexpr double kHoursBelow = 1000;

/// The number of machines from a time on.
struct Change {
  double time = 0;  // In the table's unit.
  int count = 0;
};

std::optional<int> machines(double value) {
  if (!(value >= 0) || value > kMaxWorkers || std::floor(value) != value) return std::nullopt;
  return static_cast<int>(value);
}

std::optional<double> number(const Json& json) {
  if (const auto* whole = json.as<std::int64_t>()) return static_cast<double>(*whole);
  if (const auto* value = json.as<double>()) return *value;
  return std::nullopt;
}

Error error_at(const std::string& source, const Json& json, std::string_view message) {
  return bad_input(fmt::format("{}:{}: {}", source, json.line(), message));
}

Result<Seconds> json_gap(const Json& root, const std::string& source) {
  const Json* metadata = root.find("metadata");
  const Json* gap = metadata == nullptr ? nullptr : metadata->find("gap_seconds");
  if (gap == nullptr) {
    return error_at(source, root,
                    "the trace has no metadata.gap_seconds; add the seconds between its ticks");
  }
  const auto seconds = number(*gap);
  if (!seconds || !(*seconds > 0)) {
    return error_at(source, *gap, "metadata.gap_seconds must be a number of seconds above zero");
  }
  const std::string wrong =
      range_problem(Range::kPositive, *seconds, fmt::format("{}", *seconds), limits_in(kSecond));
  if (!wrong.empty()) return error_at(source, *gap, "metadata.gap_seconds " + wrong);
  return *seconds * kSecond;
}

Result<int> json_count(const Json& json, std::size_t tick, const std::string& source) {
  if (json.as<std::nullptr_t>() != nullptr) {
    return error_at(
        source, json,
        fmt::format("tick {} of data is null; fill the gap or split the trace into two files there",
                    tick));
  }
  const auto value = number(json);
  const auto count = value ? machines(*value) : std::nullopt;
  if (count) return *count;
  return error_at(source, json,
                  fmt::format("tick {} of data must be a whole number of machines from 0 to {}, "
                              "not {}",
                              tick, kMaxWorkers, printable(to_text(json, JsonStyle::kLine))));
}

Result<AvailabilityTrace> read_json_trace(std::string_view text, const std::string& source) {
  const auto root = parse_json(text, source);
  if (!root.ok()) return root.error();
  const Json* data = root->find("data");
  const auto* ticks = data == nullptr ? nullptr : data->as<Json::Array>();
  if (ticks == nullptr) {
    return error_at(source, *root, "the trace has no array data with the machines of each tick");
  }
  const auto gap = json_gap(*root, source);
  if (!gap.ok()) return gap.error();
  if (ticks->empty()) return error_at(source, *data, "data is empty; a trace needs ticks");
  AvailabilityTrace trace{.name = source, .gap = *gap, .counts = {}};
  trace.counts.reserve(ticks->size());
  for (std::size_t i = 0; i < ticks->size(); ++i) {
    const auto count = json_count((*ticks)[i], i, source);
    if (!count.ok()) return count.error();
    trace.counts.push_back(*count);
  }
  return trace;
}

/// The time of row `i`, which must not lie before `earliest`.
Result<double> time_cell(const Csv& csv, std::size_t i, const char* column, double earliest) {
  const std::string_view text = csv.cell(i, column);
  const auto time = parse_double(text);
  if (!time) {
    return csv.error_at(i, column, fmt::format("must be a time, not '{}'", printable(text)));
  }
  const std::string wrong = range_problem(Range::kAny, *time, printable(text), limits_in(kSecond));
  if (!wrong.empty()) return csv.error_at(i, column, wrong);
  if (*time < earliest) {
    return csv.error_at(
        i, column,
        fmt::format("{} is before {}, the time of the row above; sort the rows by time", *time,
                    earliest));
  }
  return *time;
}

constexpr double kEver = -std::numeric_limits<double>::infinity();

Result<std::vector<Change>> count_changes(const Csv& csv, const char* column) {
  constexpr const char* kCount = "running_instances";
  std::vector<Change> changes;
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const auto time = time_cell(csv, i, column, changes.empty() ? kEver : changes.back().time);
    if (!time.ok()) return time.error();
    const auto value = parse_double(csv.cell(i, kCount));
    const auto count = value ? machines(*value) : std::nullopt;
    if (!count) {
      return csv.error_at(i, kCount,
                          fmt::format("must be a whole number of machines from 0 to {}, not '{}'",
                                      kMaxWorkers, printable(csv.cell(i, kCount))));
    }
    changes.push_back({*time, *count});
  }
  return changes;
}

Result<std::vector<Change>> event_changes(const Csv& csv) {
  std::vector<Change> changes;
  std::set<std::string, std::less<>> running;
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const auto time = time_cell(csv, i, "time_s", changes.empty() ? kEver : changes.back().time);
    if (!time.ok()) return time.error();
    const std::string_view event = csv.cell(i, "event");
    const std::string node(csv.cell(i, "node"));
    if (event == "add") {
      if (!running.insert(node).second) {
        return csv.error_at(i, "node",
                            fmt::format("{} is added but is already running", printable(node)));
      }
    } else if (event == "remove") {
      if (running.erase(node) == 0) {
        return csv.error_at(i, "node",
                            fmt::format("{} is removed but is not running", printable(node)));
      }
    } else {
      return csv.error_at(i, "event",
                          fmt::format("must be add or remove, not '{}'", printable(event)));
    }
    changes.push_back({*time, static_cast<int>(running.size())});
  }
  return changes;
}

/// The least count during each whole tick. Of changes at one time only the last holds.
std::vector<int> least_by_tick(const std::vector<Change>& changes, double gap, std::size_t ticks) {
  // Times such as 0.1 + 0.2 may miss the end of a tick by a rounding.
  constexpr double kRounding = 1e-9;
  const double start = changes.front().time;
  std::vector<int> counts;
  counts.reserve(ticks);
  std::size_t next = 0;
  int now = 0;
  for (std::size_t tick = 0; tick < ticks; ++tick) {
    const auto at = static_cast<double>(tick);
    while (next < changes.size() && (changes[next].time - start) / gap <= at + kRounding) {
      now = changes[next++].count;
    }
    int least = now;
    while (next < changes.size() && (changes[next].time - start) / gap < at + 1 - kRounding) {
      now = changes[next++].count;
      const bool holds = next == changes.size() || changes[next].time > changes[next - 1].time;
      if (holds) least = std::min(least, now);
    }
    counts.push_back(least);
  }
  return counts;
}

Result<AvailabilityTrace> ticks_of(const std::vector<Change>& changes, Seconds unit,
                                   const std::string& source, Seconds gap) {
  if (changes.empty()) return bad_input(source + ": the trace has no rows");
  constexpr double kRounding = 1e-9;
  const double length = changes.back().time - changes.front().time;
  const double ticks = std::floor(length * unit.in(gap) + kRounding);
  if (ticks < 1) {
    return bad_input(
        fmt::format("{}: the trace ends {:g} s after its start, before the end of the first tick "
                    "of {:g} s; give a smaller gap",
                    source, (length * unit).in(kSecond), gap.in(kSecond)));
  }
  if (!(ticks <= kMaxTicks)) {
    return bad_input(
        fmt::format("{}: the trace has more than {:g} ticks of {:g} s; give a larger gap", source,
                    kMaxTicks, gap.in(kSecond)));
  }
  return AvailabilityTrace{
      .name = source,
      .gap = gap,
      .counts = least_by_tick(changes, gap.in(unit), static_cast<std::size_t>(ticks))};
}

enum class TraceTable { kSeconds, kUnstated, kEvents };

std::optional<TraceTable> table_of(const Csv& csv) {
  const auto has = [&](const char* column) { return csv.find_column(column).has_value(); };
  if (has("time_s") && has("event") && has("node")) return TraceTable::kEvents;
  if (has("time_s") && has("running_instances")) return TraceTable::kSeconds;
  if (has("time") && has("running_instances")) return TraceTable::kUnstated;
  return std::nullopt;
}

Result<AvailabilityTrace> read_table_trace(std::string_view text, const std::string& source,
                                           Seconds gap) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  const auto table = table_of(*csv);
  if (!table) {
    return bad_input(
        fmt::format("{}: its header is neither time_s,running_instances nor time,running_instances "
                    "nor time_s,event,node, so it is not a trace of machines",
                    source));
  }
  const auto changes = *table == TraceTable::kEvents    ? event_changes(*csv)
                       : *table == TraceTable::kSeconds ? count_changes(*csv, "time_s")
                                                        : count_changes(*csv, "time");
  if (!changes.ok()) return changes.error();
  const bool hours =
      *table == TraceTable::kUnstated && !changes->empty() && changes->back().time < kHoursBelow;
  return ticks_of(*changes, hours ? kHour : kSecond, source, gap);
}

bool is_json(std::string_view text) {
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  const std::string_view start = trim_left(text);
  return !start.empty() && (start.front() == '{' || start.front() == '[');
}

}  // namespace

bool is_availability_trace(std::string_view text) {
  if (is_json(text)) return true;
  const auto csv = Csv::parse(text, "");
  return csv.ok() && table_of(*csv).has_value();
}

Result<AvailabilityTrace> read_availability_trace(std::string_view text, const std::string& source,
                                                  Seconds gap) {
  if (!(gap > Seconds()) || !std::isfinite(gap.in(kSecond))) {
    return bad_usage("the gap between the ticks of a trace must be above zero");
  }
  return is_json(text) ? read_json_trace(text, source) : read_table_trace(text, source, gap);
}

namespace {

/// At most so many of the ticks.
std::vector<int> first_ticks(const AvailabilityTrace& trace, Seconds gap, double most) {
  // The gaps' quotient may miss a whole number by a rounding.
  constexpr double kRounding = 1e-9;
  const double ratio = gap / trace.gap;
  const auto size = static_cast<double>(trace.counts.size());
  std::vector<int> counts;
  for (double tick = 0; (tick + 1) * ratio <= size + kRounding && tick < most; ++tick) {
    const auto first = static_cast<std::ptrdiff_t>(tick * ratio + kRounding);
    const auto last = static_cast<std::ptrdiff_t>(std::ceil((tick + 1) * ratio - kRounding));
    counts.push_back(*std::min_element(trace.counts.begin() + first, trace.counts.begin() + last));
  }
  return counts;
}

}  // namespace

std::vector<int> resampled(const AvailabilityTrace& trace, Seconds gap) {
  return first_ticks(trace, gap, kMaxTicks);
}

std::vector<std::vector<int>> side_by_side(std::span<const AvailabilityTrace> traces) {
  std::vector<std::vector<int>> all;
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  for (const AvailabilityTrace& trace : traces) {
    const auto most = static_cast<double>(std::min(shortest, traces.front().counts.size()));
    all.push_back(first_ticks(trace, traces.front().gap, most));
    shortest = std::min(shortest, all.back().size());
  }
  for (std::vector<int>& counts : all) counts.resize(shortest);
  return all;
}

}  // namespace stint
