#pragma once

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/codec.h"
#include "base/text.h"
#include "plan/layout.h"

namespace stint {

/// A record of measurements has at most this many lines; one takes up to 1.2 kB of memory.
inline constexpr std::size_t kRecordLinesMax = 500'000;

/// Bad input when `text` has more lines than that.
Status check_line_count(std::string_view text, const std::string& source);

/// Reads a document from each line; empty lines are skipped. A last line that was truncated during
/// a write is skipped with a warning.
template <class T>
Result<Loaded<std::vector<T>>> read_json_lines(std::string_view text, std::string_view schema,
                                               const std::string& source) {
  Loaded<std::vector<T>> all;
  all.noun.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    const bool cut_off = end == std::string_view::npos;
    text.remove_prefix(cut_off ? text.size() : end + 1);
    if (trim(one).empty()) continue;
    const auto json = parse_json(one, source, line);
    if (!json.ok() && cut_off) {
      all.warnings.push_back(fmt::format("{}:{}: truncated during a write; skipped", source, line));
      break;
    }
    if (!json.ok()) return json.error();
    auto read = decode<T>(*json, schema, source);
    if (!read.ok()) return read.error();
    all.noun.push_back(std::move(read->noun));
    for (std::string& warning : read->warnings) all.warnings.push_back(std::move(warning));
  }
  return all;
}

inline constexpr const char* kMeasurementSchema = "stint.measurement/1";

/// A run begins or continues on a cluster.
struct RunStart {
  std::string job;
  Layout layout;
  Json::Object unknown = {};
};

/// The times of one iteration. Parts that were not measured are absent.
struct IterationRecord {
  std::int64_t number = 0;
  Seconds time;
  std::optional<Seconds> forward;
  std::optional<Seconds> backward;
  std::optional<Seconds> synchronisation;
  std::optional<Seconds> input;
  std::optional<Seconds> update;
  std::optional<double> loss = {};  // Loss of the global batch.
  Json::Object unknown = {};
};

/// One all-reduce over some VMs, as a probe of the network times it.
struct ReductionRecord {
  std::vector<int> vms;  // Numbers of the VMs in the layout's cluster, from 0 in its order.
  Bytes bytes;
  Seconds time;
  Json::Object unknown = {};
};

/// An event of a VM.
struct VmEvent {
  std::string vm;
  std::optional<std::string> reason;
  std::optional<Seconds> grace;  // Time left until the interruption, in a notice.
  Json::Object unknown = {};
};

struct CheckpointRecord {
  std::int64_t iteration = 0;
  std::optional<Bytes> bytes;
  std::optional<Seconds> stall;
  std::optional<Seconds> transfer;
  Json::Object unknown = {};
};

/// A charge.
struct Charge {
  Dollars amount;
  std::string reason;
  Json::Object unknown = {};
};

/// One line of the append-only record of a run: exactly one event.
struct Measurement {
  std::string run;  // Name of the run.
  Seconds at;       // Since 1970, see Clock.
  std::optional<RunStart> start;
  std::optional<IterationRecord> iteration;
  std::optional<ReductionRecord> reduction;
  std::optional<VmEvent> vm_up;
  std::optional<VmEvent> notice;
  std::optional<VmEvent> vm_lost;
  std::optional<CheckpointRecord> checkpoint;
  std::optional<Charge> charge;
  Json::Object unknown = {};
};

/// Reads a file of JSON lines. A last line that a crash truncated is skipped with a warning; any
/// other invalid line is an error.
Result<Loaded<std::vector<Measurement>>> read_measurements(std::string_view text,
                                                           const std::string& source);

/// Calls `take` with each line of the file, without keeping them. `skip` says which lines need not
/// be read; a file that does not exist has none. Returns warnings, as above.
Result<std::vector<std::string>> each_measurement(const std::string& path,
                                                  const std::function<bool(std::string_view)>& skip,
                                                  const std::function<void(Measurement)>& take);

/// One line, with its newline.
std::string write_measurement(const Measurement& measurement);
Status validate(const Measurement& measurement);
Json measurement_schema();

}  // namespace stint
