#include "load/step_tables.h"

#include <fmt/format.h>
#include <iterator>

#include "base/check.h"
#include "base/file.h"
#include "load/job_files.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

/// No time of a step or a sample lies out here, and what is computed with such figures may leave
/// the range of numbers altogether.
constexpr Seconds kShortest = 1e-15 * kSecond;
constexpr Seconds kLongest = 1e12 * kSecond;

bool is_a_time(const std::optional<Seconds>& time) {
  return !time || (*time >= kShortest && *time <= kLongest);
}

/// Makes rows unmeasured whose times cannot be.
void take_away_odd_times(Rows& rows) {
  for (StepRow& row : rows) {
    if (!is_a_time(row.time)) {
      mark_unmeasured(row, fmt::format("{:g} s cannot be a measured time", row.time->in(kSecond)));
    }
    if (!is_a_time(row.repeat)) row.repeat.reset();
  }
}

Status check_times(const Rows& rows, const std::string& source) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& time : {rows[i].time, rows[i].repeat}) {
      if (is_a_time(time)) continue;
      return bad_input(fmt::format(
          "{}: row {} (the first is 0): {:g} s cannot be a measured time; correct it or leave it "
          "blank",
          source, i, time->in(kSecond)));
    }
  }
  return {};
}

/// The published table of Pollux has no odd rows, so that one in its format is somebody's slip. The
/// tables of others hold marks such as "out of memory" among their figures.
Status check_rows(StepFormat format, const Rows& rows, const std::string& source) {
  if (format != StepFormat::kPollux) return {};
  for (const StepRow& row : rows) {
    const std::string& wrong = row.unusable.empty() ? row.unmeasured : row.unusable;
    if (!wrong.empty()) return bad_input(fmt::format("{}:{}: {}", source, row.line, wrong));
  }
  return {};
}

}  // namespace

Result<Rows> read_step_tables(StepFormat format, const std::vector<std::string>& files,
                              TableUse use) {
  Rows all;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    auto rows = read_steps(format, *text, file);
    if (!rows.ok()) return rows.error();
    if (use == TableUse::kLearn) {
      const Status good = check_rows(format, *rows, file);
      if (!good.ok()) return good.error();
      const Status times = check_times(*rows, file);
      if (!times.ok()) return times.error();
    }
    take_away_odd_times(*rows);
    all.insert(all.end(), std::make_move_iterator(rows->begin()),
               std::make_move_iterator(rows->end()));
  }
  return all;
}

Result<FitContext> fit_context(const std::string& jobs_file) {
  FitContext context{.facts = shipped_jobs()};
  if (!jobs_file.empty()) {
    const auto text = read_file(jobs_file);
    if (!text.ok()) return text.error();
    auto jobs = read_jobs(*text, jobs_file);
    if (!jobs.ok()) return jobs.error();
    context.facts = std::move(*jobs);
  }
  const auto priors = law_priors(shipped_priors());
  CHECK(priors.ok());
  context.priors = *priors;
  return context;
}

std::string kept_apart(StepFormat format, const StepRow& row) {
  if (format != StepFormat::kGavel) return "";
  if (row.job == "Recommendation") return "Recommendation";
  const bool one_server = row.workers_by_vm.size() == 1 && workers(row) > 1;
  return row.device == "V100" && one_server ? "V100 on one server" : "";
}

void drop_kept_apart(StepFormat format, Rows& rows) {
  std::erase_if(rows, [&](const StepRow& row) {
    return workers(row) > 1 && !kept_apart(format, row).empty();
  });
}

}  // namespace stint
