#include "measure/tables/nccl_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/csv.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

Result<CollectiveRow> read_row(const Csv& csv, std::size_t i) {
  CollectiveRow row{.cluster = std::string(csv.cell(i, "instance_type")),
                    .collective = std::string(csv.cell(i, "collective"))};
  const auto vms = count_of(csv.cell(i, "nodes"));
  if (!vms) return csv.error_at(i, "nodes", "must be a whole number of 1 or more");
  row.vms = *vms;
  const auto workers = count_of(csv.cell(i, "ranks"));
  if (!workers || *workers < *vms) {
    return csv.error_at(i, "ranks", fmt::format("must be a whole number of {} or more", *vms));
  }
  row.workers = *workers;
  const auto payload = whole_of(csv.cell(i, "bytes"));
  if (!payload) return csv.error_at(i, "bytes", "must be a whole number of 1 or more");
  row.payload = static_cast<double>(*payload) * kByte;
  const std::string_view time = csv.cell(i, "time_us_out_of_place");
  if (time.empty()) return row;
  row.time = time_of(time, kMicrosecond);
  if (row.time) return row;
  return csv.error_at(i, "time_us_out_of_place",
                      fmt::format("must be above zero, not '{}'; {}", printable(time),
                                  quantity_range_text<Seconds>()));
}

// Each of the two groups, out of place and in place: time, two bandwidths and wrong results.
constexpr std::size_t kGroupCells = 4;
constexpr std::size_t kCellsMin = 3 + 2 * kGroupCells;  // Size, count and type stand before them.
constexpr std::size_t kCellsMax = kCellsMin + 2;        // Some have an operation and a root.

constexpr std::array<std::string_view, 9> kPrograms{"all_reduce", "all_gather", "reduce_scatter",
                                                    "broadcast",  "reduce",     "alltoall",
                                                    "sendrecv",   "gather",     "scatter"};

struct Line {
  std::string_view text;
  int number = 0;
};

/// One run of a program, as far as it was read.
struct Run {
  std::set<std::string> hosts = {};
  int ranks = 0;
  std::string gpu = {};
  std::string collective = {};  // Empty: not named.
  bool counts_wrong = false;    // The last columns are counts, not rounding errors.
  std::string operation = {};
  std::string root = {};
  double bandwidth = 0;  // Bandwidth of the line with the largest one.
  double ratio = 0;      // Ratio of the two bandwidths on that line.
  std::vector<NcclRow> rows = {};
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::size_t i = 0;
  while (i < text.size()) {
    while (i < text.size() && is_space(text[i])) ++i;
    const std::size_t begin = i;
    while (i < text.size() && !is_space(text[i])) ++i;
    if (i > begin) words.emplace_back(text.substr(begin, i - begin));
  }
  return words;
}

/// The line without the prefix of mpirun --tag-output, as in "[1,0]<stdout>:".
std::string_view without_tag(std::string_view line) {
  constexpr std::string_view kTag = "<stdout>:";
  const std::size_t tag = line.find(kTag);
  return line.starts_with('[') && tag != std::string_view::npos ? line.substr(tag + kTag.size())
                                                                : line;
}

/// "#  Rank  0 Group  0 Pid  77 on  host device  0 [0x07] NVIDIA A100": a participating rank.
void read_rank(Run& run, std::string_view line) {
  ++run.ranks;
  const std::vector<std::string> words = words_of(line);
  const auto on = std::find(words.begin(), words.end(), "on");
  if (on != words.end() && on + 1 != words.end()) run.hosts.insert(*(on + 1));
  const std::size_t bracket = line.rfind(']');
  if (bracket != std::string_view::npos) run.gpu = trim(line.substr(bracket + 1));
}

/// The program that the line names, if any.
std::string named_collective(std::string_view line) {
  for (const std::string_view program : kPrograms) {
    const std::string whole = fmt::format("{}_perf", program);
    const std::size_t at = line.find(whole);
    // "reduce_perf" is part of "all_reduce_perf", which is first in the list.
    if (at != std::string_view::npos) return std::string(program);
  }
  return "";
}

/// The collective of n ranks, by the ratio of bus to algorithm bandwidth that nccl-tests defines
/// (its PERFORMANCE.md): 2 (n - 1) / n for all-reduce, (n - 1) / n for the two halves of one.
std::string told_collective(const Run& run) {
  const double half = (run.ranks - 1.0) / run.ranks;
  const bool reduces = !run.operation.empty() && run.operation != "none";
  const bool rooted = !run.root.empty() && run.root != "-1";
  constexpr double kRounding = 0.02;  // Bandwidths are printed with two digits.
  const auto is = [&](double ratio) { return std::abs(run.ratio - ratio) <= kRounding; };
  if (reduces && !rooted && is(2 * half)) return "all_reduce";
  if (!rooted && is(half)) return reduces ? "reduce_scatter" : "all_gather";
  return "";
}

void close_run(NcclTable& table, Run& run, const std::string& cluster, const std::string& source) {
  if (run.rows.empty()) return;
  std::string collective = run.collective;
  if (collective.empty()) collective = told_collective(run);
  if (collective.empty()) {
    collective = "unknown";
    table.notes.push_back(
        fmt::format("{}: a run does not name its collective, so its rows are 'unknown'", source));
  }
  if (cluster.empty()) {
    table.notes.push_back(
        fmt::format("{}: instance type '{}' is assumed; --vm sets another", source, run.gpu));
  }
  for (NcclRow& row : run.rows) {
    row.row.cluster = cluster.empty() ? run.gpu : cluster;
    row.row.vms = static_cast<int>(run.hosts.size());
    row.row.workers = run.ranks;
    row.row.collective = collective;
    table.rows.push_back(std::move(row));
  }
}

void read_comment(Run& run, std::string_view line) {
  const std::string_view text = trim_left(line.substr(1));
  if (text.starts_with("Rank ")) read_rank(run, line);
  if (text.find("#wrong") != std::string_view::npos) run.counts_wrong = true;
}

/// Results of a run, if the line has any; wrong ones are only counted.
Status read_result(NcclTable& table, Run& run, const Line& line, const std::string& source) {
  const std::vector<std::string> cells = words_of(line.text);
  const auto error = [&](const std::string& what) {
    return bad_input(fmt::format("{}:{}: {}", source, line.number, what));
  };
  if (cells.size() < kCellsMin || cells.size() > kCellsMax) {
    return error(fmt::format("a line of results has {} to {} columns, not {}; it may be truncated",
                             kCellsMin, kCellsMax, cells.size()));
  }
  if (run.ranks == 0) return error("there is no '# Rank' line above with the ranks");
  if (cells[0] == "0") return {};  // Sizes of which no rank gets a part.
  const std::size_t out = cells.size() - 2 * kGroupCells;
  const std::size_t in = out + kGroupCells;
  const auto payload = whole_of(cells[0]);
  const auto time = time_of(cells[out], kMicrosecond);
  if (!payload) return error(unreadable("the size", cells[0]));
  if (!time) return error(unreadable("the time", cells[out]));
  if (run.counts_wrong) {
    const auto wrong = [&](std::size_t i) { return parse_double(cells[i]).value_or(0) > 0; };
    if (wrong(out + 3) || wrong(in + 3)) {
      ++table.wrong;
      return {};
    }
  }
  NcclRow row;
  row.row.payload = static_cast<double>(*payload) * kByte;
  row.row.time = *time;
  if (const auto in_place = time_of(cells[in], kMicrosecond)) row.in_place = *in_place;
  run.rows.push_back(std::move(row));
  if (out > 3) run.operation = cells[3];
  if (out > 4) run.root = cells[4];
  const double bandwidth = positive_of(cells[out + 1]).value_or(0);
  if (bandwidth > run.bandwidth) {
    run.bandwidth = bandwidth;
    run.ratio = positive_of(cells[out + 2]).value_or(0) / bandwidth;
  }
  return {};
}

}  // namespace

Result<std::vector<CollectiveRow>> read_collective_table(std::string_view text,
                                                         const std::string& source) {
  return read_rows<CollectiveRow>(
      text, source, {"instance_type", "nodes", "ranks", "collective", "bytes"}, read_row);
}

Result<NcclTable> read_nccl_text(std::string_view text, const std::string& source,
                                 const std::string& cluster) {
  NcclTable table;
  Run run;
  int number = 0;
  std::string named;  // Name from a line that may precede the run's first.
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(without_tag(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (const std::string name = named_collective(line); !name.empty()) named = name;
    if (line.starts_with('#')) {
      const bool begins = trim_left(line.substr(1)).starts_with("Rank ");
      if (begins && !run.rows.empty()) {
        close_run(table, run, cluster, source);
        run = Run{};
      }
      read_comment(run, line);
    } else if (!line.empty() && is_digit(line[0])) {
      run.collective = named;
      const Status status = read_result(table, run, {line, number}, source);
      if (!status.ok()) return status.error();
    }
  }
  close_run(table, run, cluster, source);
  if (table.rows.empty()) {
    return bad_input(
        fmt::format("{}: no line of results; give the output of all_reduce_perf", source));
  }
  return table;
}

std::string write_collective_table(const std::vector<NcclRow>& rows) {
  std::string text = csv_line({"instance_type", "nodes", "ranks", "collective", "bytes",
                               "time_us_out_of_place", "time_us_in_place"});
  const auto microseconds = [](const std::optional<Seconds>& time) {
    return time ? fmt::format("{:.6g}", time->in(kMicrosecond)) : std::string();
  };
  for (const NcclRow& it : rows) {
    text += csv_line({it.row.cluster, std::to_string(it.row.vms), std::to_string(it.row.workers),
                      it.row.collective, fmt::format("{:.0f}", it.row.payload.in(kByte)),
                      microseconds(it.row.time), microseconds(it.in_place)});
  }
  return text;
}

}  // namespace stint
