#include "cli/render/render_run.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/render/render_search.h"

namespace stint::cli {
namespace {

std::string outcome_text(const std::optional<RunVerdict>& outcome, bool alive, bool left) {
  if (outcome) return name_of(*outcome);
  return alive ? "running" : left ? "unattended" : "halted";
}

std::string rate_text(DollarsPerSecond rate) {
  return fmt::format("${:.4f}/h", rate.in(kDollar / kHour));
}

LeftMachinesView left_view(const LeftMachines& left, const std::string& name, bool resumes) {
  LeftMachinesView view{.vms = left.vms,
                        .rate = left.rate,
                        .cost = left.cost,
                        .resume = {},
                        .release = "stint stop " + shell_quoted(name)};
  if (resumes) view.resume = "stint run --resume " + shell_quoted(name);
  return view;
}

/// What is up without a process that conducts it, and what to do about it.
std::string left_text(const LeftMachinesView& left) {
  std::string text =
      fmt::format("  machines  {} still up at {}, {} so far; no process conducts the run\n",
                  join(left.vms, ", "), rate_text(left.rate), bill_text(left.cost));
  if (left.resume) text += fmt::format("  resume    {}\n", *left.resume);
  return text + fmt::format("  release   {}\n", left.release);
}

std::string off_text(double measured, double predicted) {
  if (!(predicted > 0)) return "";
  return fmt::format("{:+.1f} %", 100 * (measured / predicted - 1));
}

/// The time that steps take where the plan's whole cluster trained, over all attempts of that size.
std::optional<std::pair<Seconds, Seconds>> step_times(const RunStory& story) {
  const StoryAttempt* longest = nullptr;
  for (const StoryAttempt& attempt : story.attempts) {
    if (attempt.measured && (longest == nullptr || attempt.steps > longest->steps)) {
      longest = &attempt;
    }
  }
  if (longest == nullptr) return std::nullopt;
  return std::pair(longest->predicted, *longest->measured);
}

std::vector<AttemptView> attempt_views(const RunStory& story) {
  std::vector<AttemptView> list;
  for (const StoryAttempt& it : story.attempts) {
    AttemptView& view = list.emplace_back(AttemptView{.number = it.number,
                                                      .vms = {},
                                                      .ordered = it.ordered,
                                                      .training = it.training,
                                                      .until = it.until,
                                                      .from_step = it.from_step,
                                                      .to_step = it.to_step,
                                                      .step_predicted = it.predicted,
                                                      .step_measured = it.measured});
    for (const int vm : it.vms) view.vms.push_back(fmt::format("vm{}", vm + 1));
  }
  return list;
}

std::optional<ForecastView> forecast_view(const std::optional<RunForecast>& it) {
  if (!it) return std::nullopt;
  return ForecastView{.time = it->time, .cost = it->cost, .losses = it->losses};
}

/// What no loss of a machine can take.
std::string saved_text(const RunStory& story) {
  const std::string saves = counted(static_cast<std::size_t>(story.saves), "checkpoint");
  if (!story.plain) return fmt::format("step {} ({})", story.saved, saves);
  if (story.saves == 0) return "no checkpoint of the script was seen";
  return fmt::format("step {} (by the script, {})", story.saved, saves);
}

/// The files that a script wrote, latest first, as many as one reads.
std::string files_text(const std::vector<ScriptFile>& files) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(files.size(), kShown); ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "" : "\n            ",
                        without_controls(files[i].path), megabytes(files[i].size));
  }
  if (files.size() > kShown) {
    text += fmt::format("\n            and {} more; -o json lists all", files.size() - kShown);
  }
  return text;
}

/// Whose turn it is on each machine, and what each run has had.
std::string turnstile_table(const std::vector<TurnstileStanding>& turnstiles,
                            const Terminal& terminal) {
  Table table({{.title = "  VM", .importance = 9},
               {.title = "run", .importance = 9},
               {.title = "now", .importance = 8},
               {.title = "turns", .align = Align::kRight, .importance = 7},
               {.title = "computed", .align = Align::kRight, .importance = 6},
               {.title = "waited", .align = Align::kRight, .importance = 5}});
  for (const TurnstileStanding& it : turnstiles) {
    for (const TurnstileMember& member : it.members) {
      const bool busy = member.state == "waiting" || member.state == "holding";
      table.add(
          {"  " + it.vm, member.run,
           busy ? fmt::format("{} for {}", member.state, milliseconds(member.since)) : member.state,
           fmt::format("{}", member.turns), duration(member.held), duration(member.waited)});
    }
  }
  return table.text(terminal, "-o json");
}

std::string vms_table(const RunReport& report, const Terminal& terminal) {
  const bool conducted = report.alive || report.left;
  Table table({{.title = "VM", .importance = 9},
               {.title = "type", .importance = 7},
               {.title = "market", .importance = 8},
               {.title = "from", .align = Align::kRight, .importance = 5},
               {.title = "until", .align = Align::kRight, .importance = 4},
               {.title = "billed", .align = Align::kRight, .importance = 6},
               {.title = "cost", .align = Align::kRight, .importance = 8},
               {.title = "end", .importance = 3}});
  for (const StoryVm& vm : report.story.vms) {
    const char* now = conducted ? "running" : "unknown";
    table.add({vm.name, vm.type, std::string(name_of(vm.market)), moment_text(vm.from),
               vm.until ? moment_text(*vm.until) : "",
               fmt::format("{:.1f} s", vm.billed.in(kSecond)), bill_text(vm.cost),
               vm.until ? (vm.taken ? "interrupted" : "released") : now});
  }
  return table.text(terminal, "-o json");
}

}  // namespace

ExitCode exit_code(RunVerdict outcome) {
  switch (outcome) {
    case RunVerdict::kTrained:
      return kExitOk;
    case RunVerdict::kStopped:
      return kExitInterrupted;
    case RunVerdict::kGaveUp:
      return kExitFailed;
  }
  return kExitFailed;
}

std::string state_text(const RunReport& report) {
  return outcome_text(report.story.outcome, report.alive, report.left.has_value());
}

std::string moment_text(Seconds at) {
  const double seconds = std::max(0.0, at.in(kSecond));
  const auto minutes = static_cast<std::int64_t>(seconds / 60);
  return fmt::format("{:02}:{:02}:{:04.1f}", minutes / 60, minutes % 60,
                     std::floor((seconds - 60.0 * static_cast<double>(minutes)) * 10) / 10);
}

std::string story_text(const std::string& text, int width, int indent) {
  std::string all;
  for (const std::string& line : split(text, '\n')) {
    const std::string clean = without_controls(line);
    all +=
        all.empty() ? wrapped(clean, width, indent) : fmt::format("\n{:{}}{}", "", indent, clean);
  }
  return all;
}

std::string runs_text(const RunList& list, const Terminal& terminal) {
  Table table({{.title = "run", .importance = 9},
               {.title = "state", .importance = 8},
               {.title = "steps", .align = Align::kRight, .importance = 7},
               {.title = "of", .align = Align::kRight, .importance = 6},
               {.title = "saved", .align = Align::kRight, .importance = 4},
               {.title = "time", .align = Align::kRight, .importance = 5},
               {.title = "cost", .align = Align::kRight, .importance = 6}});
  for (const RunLine& run : list.runs) {
    table.add({run.name, outcome_text(run.outcome, run.alive, run.left.has_value()),
               fmt::format("{}", run.reached), fmt::format("{}", run.steps),
               fmt::format("{}", run.saved), duration(run.time), bill_text(run.cost)});
  }
  std::string text = table.text(terminal, "-o json");
  for (const RunLine& run : list.runs) {
    if (!run.left) continue;
    text += fmt::format("\n{}\n{}", run.name,
                        left_text(left_view(*run.left, run.name, run.saved < run.steps)));
  }
  return text;
}

Json runs_json(const RunList& list) {
  RunsView view;
  for (const RunLine& run : list.runs) {
    view.runs.push_back({.name = run.name,
                         .state = outcome_text(run.outcome, run.alive, run.left.has_value()),
                         .reached = run.reached,
                         .saved = run.saved,
                         .steps = run.steps,
                         .began = run.began,
                         .time = run.time,
                         .cost = run.cost,
                         .left = {}});
    if (run.left) {
      view.runs.back().left = left_view(*run.left, run.name, run.saved < run.steps);
    }
  }
  return encoded(view);
}

std::string standing_text(const RunReport& report, std::size_t events, const Terminal& terminal) {
  const RunStory& story = report.story;
  const RunRecord& record = report.record;
  // A script that takes no orders is done when it ends, however many steps were expected.
  const bool ended = story.plain && story.outcome == RunVerdict::kTrained;
  const std::int64_t steps = ended ? story.reached : story.steps;
  const double done = ended ? 1
                            : static_cast<double>(story.reached) /
                                  static_cast<double>(std::max<std::int64_t>(1, story.steps));
  std::string text =
      fmt::format("{}  {}\n", painted(record.name, Colour::kBold, terminal), state_text(report));
  if (story.outcome && !story.reason.empty()) {
    text += fmt::format("  because {}\n", story_text(story.reason, terminal.width, 10));
  }
  const int width = terminal.width > 0 ? std::min(terminal.width, 70) : 70;
  text += progress_picture(fmt::format("  step {} of {}", story.reached, steps), done, width);
  text += fmt::format("\n  saved     {}\n", saved_text(story));
  text += fmt::format("  time      {}", duration(story.time));
  if (report.outlook) text += fmt::format(", forecast {}", range_text(report.outlook->time));
  if (record.forecast) text += fmt::format("; planned {}", range_text(record.forecast->time));
  text += fmt::format("\n  cost      {}", bill_text(story.cost));
  if (report.outlook) text += fmt::format(", forecast {}", range_text(report.outlook->cost));
  if (record.forecast) text += fmt::format("; planned {}", range_text(record.forecast->cost));
  text += "\n";
  if (record.deadline) {
    text += fmt::format("  deadline  {}", duration(*record.deadline));
    if (report.outlook && report.outlook->p_deadline) {
      text += fmt::format(", P(deadline) {}", percent(*report.outlook->p_deadline));
    }
    text += "\n";
  }
  std::vector<std::string> there;
  for (const StoryVm& vm : story.vms) {
    if (!vm.until && report.alive)
      there.push_back(fmt::format("{} {}", vm.name, name_of(vm.market)));
  }
  if (!there.empty()) text += fmt::format("  machines  {}\n", join(there, ", "));
  if (!report.files.empty()) text += fmt::format("  files     {}\n", files_text(report.files));
  if (report.left) {
    text +=
        left_text(left_view(*report.left, record.name, story.plain || story.saved < story.steps));
  }
  if (record.sharing) {
    text += fmt::format("  shares    with {}, {}\n", record.sharing->partner,
                        name_of(record.sharing->mode));
  }
  if (!report.turnstiles.empty()) text += turnstile_table(report.turnstiles, terminal);
  const std::size_t first = story.lines.size() > events ? story.lines.size() - events : 0;
  for (std::size_t i = first; i < story.lines.size(); ++i) {
    text += fmt::format("  {}  {}\n", moment_text(story.lines[i].at),
                        story_text(story.lines[i].text, terminal.width, 14));
  }
  return text;
}

namespace {

void add_forecast_rows(const RunForecast& forecast, const char* known, const RunStory& story,
                       std::vector<ForecastRow>& rows) {
  rows.push_back({fmt::format("time{}", known), duration(forecast.time.mean),
                  fmt::format("{}–{}", duration(forecast.time.p10), duration(forecast.time.p90)),
                  duration(story.time),
                  off_text(story.time / kSecond, forecast.time.mean / kSecond)});
  rows.push_back({fmt::format("cost{}", known), bill_text(forecast.cost.mean),
                  fmt::format("{}–{}", bill_text(forecast.cost.p10), bill_text(forecast.cost.p90)),
                  bill_text(story.cost),
                  off_text(story.cost / kDollar, forecast.cost.mean / kDollar)});
  rows.push_back({fmt::format("machines lost{}", known), fmt::format("{:.1f}", forecast.losses), "",
                  fmt::format("{}", story.losses), ""});
}

}  // namespace

std::vector<ForecastRow> forecast_rows(const RunReport& report) {
  const RunStory& story = report.story;
  std::vector<ForecastRow> rows;
  if (report.record.forecast) add_forecast_rows(*report.record.forecast, "", story, rows);
  if (report.hindsight) {
    add_forecast_rows(*report.hindsight, ", with known market", story, rows);
  }
  if (const auto steps = step_times(story)) {
    rows.push_back({"step", milliseconds(steps->first), "", milliseconds(steps->second),
                    off_text(steps->second / kSecond, steps->first / kSecond)});
  }
  if (story.save_time) {
    rows.push_back({"checkpoint", duration(report.record.save_time), "", duration(*story.save_time),
                    off_text(*story.save_time / kSecond, report.record.save_time / kSecond)});
  }
  return rows;
}

std::string report_text(const RunReport& report, const Terminal& terminal) {
  std::string text = standing_text(report, 0, terminal);
  Table compared({{.title = "", .importance = 9},
                  {.title = "predicted", .align = Align::kRight, .importance = 8},
                  {.title = "80 % interval", .align = Align::kRight, .importance = 4},
                  {.title = "measured", .align = Align::kRight, .importance = 8},
                  {.title = "error", .align = Align::kRight, .importance = 6}});
  for (const ForecastRow& row : forecast_rows(report)) {
    compared.add({row.what, row.predicted, row.interval, row.measured, row.off});
  }
  text += "\n" + compared.text(terminal, "-o json") + "\n";
  if (report.search) text += search_text(*report.search, terminal) + "\n";
  Table parts({{.title = "breakdown", .importance = 9},
               {.title = "time", .align = Align::kRight, .importance = 8},
               {.title = "cost", .align = Align::kRight, .importance = 8}});
  for (const StoryPart& part : report.story.parts) {
    parts.add({part.name, duration(part.time), bill_text(part.cost)});
  }
  text += parts.text(terminal, "-o json") + "\n" + vms_table(report, terminal) + "\n";
  if (report.story.lines_before > 0) {
    text += fmt::format("{} earlier events are not kept.\n", report.story.lines_before);
  }
  for (const StoryLine& line : report.story.lines) {
    text += fmt::format("{}  {}\n", moment_text(line.at),
                        wrapped(without_controls(line.text), terminal.width, 12));
  }
  return text;
}

RunReportView report_view(const RunReport& report) {
  const RunStory& story = report.story;
  const RunRecord& record = report.record;
  RunReportView view{.name = record.name,
                     .job = record.job,
                     .state = state_text(report),
                     .reason = story.reason,
                     .steps = story.steps,
                     .reached = story.reached,
                     .saved = story.saved,
                     .plain = story.plain ? std::optional(true) : std::nullopt,
                     .files = report.files,
                     .redone = story.redone,
                     .losses = story.losses,
                     .time = story.time,
                     .cost = story.cost,
                     .deadline = record.deadline,
                     .budget = record.budget,
                     .forecast = forecast_view(record.forecast),
                     .hindsight = forecast_view(report.hindsight),
                     .parts = {},
                     .vms = story.vms,
                     .attempts = attempt_views(story),
                     .saves = report.saves,
                     .events = story.lines,
                     .sharing = {},
                     .search = report.search,
                     .left = {}};
  if (report.left) {
    view.left = left_view(*report.left, record.name, story.plain || story.saved < story.steps);
  }
  for (const StoryPart& part : story.parts) view.parts.push_back({part.name, part.time, part.cost});
  if (record.sharing) {
    view.sharing = RunSharingView{.partner = record.sharing->partner,
                                  .mode = record.sharing->mode,
                                  .turns = record.sharing->turns,
                                  .slowdown = record.sharing->slowdown,
                                  .turnstiles = report.turnstiles};
  }
  return view;
}

Json report_json(const RunReport& report) { return encoded(report_view(report)); }

}  // namespace stint::cli
