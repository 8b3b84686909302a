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

std::string outcome_text(const std::optional<RunVerdict>& outcome, bool alive) {
  if (outcome) return name_of(*outcome);
  return alive ? "running" : "halted";
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

Json range_json(double mean, double p10, double p90) {
  Json json;
  json.add("mean", Json(mean));
  json.add("p10", Json(p10));
  json.add("p90", Json(p90));
  return json;
}

Json whole(std::int64_t number) { return Json(Json::Value{number}); }

Json vms_json(const RunStory& story) {
  Json::Array list;
  for (const StoryVm& vm : story.vms) {
    Json json;
    json.add("name", Json(vm.name));
    json.add("type", Json(vm.type));
    json.add("market", Json(std::string(name_of(vm.market))));
    json.add("from_s", Json(vm.from.in(kSecond)));
    if (vm.until) json.add("until_s", Json(vm.until->in(kSecond)));
    json.add("billed_s", Json(vm.billed.in(kSecond)));
    json.add("cost_usd", Json(vm.cost.in(kDollar)));
    json.add("taken_back", Json(vm.taken));
    list.push_back(std::move(json));
  }
  return Json(std::move(list));
}

Json attempts_json(const RunStory& story) {
  Json::Array list;
  for (const StoryAttempt& attempt : story.attempts) {
    Json json;
    Json::Array vms;
    for (const int vm : attempt.vms) vms.push_back(Json(fmt::format("vm{}", vm + 1)));
    json.add("number", whole(attempt.number));
    json.add("vms", Json(std::move(vms)));
    json.add("ordered_s", Json(attempt.ordered.in(kSecond)));
    if (attempt.training) json.add("training_s", Json(attempt.training->in(kSecond)));
    json.add("until_s", Json(attempt.until.in(kSecond)));
    json.add("from_step", whole(attempt.from_step));
    json.add("to_step", whole(attempt.to_step));
    json.add("step_predicted_s", Json(attempt.predicted.in(kSecond)));
    if (attempt.measured) json.add("step_measured_s", Json(attempt.measured->in(kSecond)));
    list.push_back(std::move(json));
  }
  return Json(std::move(list));
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

Json turnstiles_json(const std::vector<TurnstileStanding>& turnstiles) {
  Json::Array list;
  for (const TurnstileStanding& it : turnstiles) {
    Json::Array members;
    for (const TurnstileMember& member : it.members) {
      Json one;
      one.add("run", Json(member.run));
      one.add("state", Json(member.state));
      one.add("since_s", Json(member.since.in(kSecond)));
      one.add("turns", whole(member.turns));
      one.add("held_s", Json(member.held.in(kSecond)));
      one.add("waited_s", Json(member.waited.in(kSecond)));
      members.push_back(std::move(one));
    }
    Json json;
    json.add("vm", Json(it.vm));
    json.add("deaths", whole(it.deaths));
    json.add("members", Json(std::move(members)));
    list.push_back(std::move(json));
  }
  return Json(std::move(list));
}

std::string vms_table(const RunStory& story, const Terminal& terminal) {
  Table table({{.title = "VM", .importance = 9},
               {.title = "type", .importance = 7},
               {.title = "market", .importance = 8},
               {.title = "from", .align = Align::kRight, .importance = 5},
               {.title = "until", .align = Align::kRight, .importance = 4},
               {.title = "billed", .align = Align::kRight, .importance = 6},
               {.title = "cost", .align = Align::kRight, .importance = 8},
               {.title = "end", .importance = 3}});
  for (const StoryVm& vm : story.vms) {
    table.add({vm.name, vm.type, std::string(name_of(vm.market)), moment_text(vm.from),
               vm.until ? moment_text(*vm.until) : "",
               fmt::format("{:.1f} s", vm.billed.in(kSecond)), bill_text(vm.cost),
               vm.until ? (vm.taken ? "taken back" : "given back") : "there"});
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

std::string bill_text(Dollars amount) {
  return amount < 1 * kDollar ? fmt::format("${:.4f}", amount.in(kDollar)) : dollars(amount);
}

std::string range_text(const TimeRange& time) {
  return fmt::format("{} ({}–{})", duration(time.mean), duration(time.p10), duration(time.p90));
}

std::string range_text(const CostRange& cost) {
  return fmt::format("{} ({}–{})", bill_text(cost.mean), bill_text(cost.p10), bill_text(cost.p90));
}

std::string moment_text(Seconds at) {
  const double seconds = std::max(0.0, at.in(kSecond));
  const auto minutes = static_cast<std::int64_t>(seconds / 60);
  return fmt::format("{:02}:{:02}:{:04.1f}", minutes / 60, minutes % 60,
                     std::floor((seconds - 60.0 * static_cast<double>(minutes)) * 10) / 10);
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
    table.add({run.name, outcome_text(run.outcome, run.alive), fmt::format("{}", run.reached),
               fmt::format("{}", run.steps), fmt::format("{}", run.saved), duration(run.time),
               bill_text(run.cost)});
  }
  return table.text(terminal, "-o json");
}

Json runs_json(const RunList& list) {
  Json::Array runs;
  for (const RunLine& run : list.runs) {
    Json json;
    json.add("name", Json(run.name));
    json.add("state", Json(outcome_text(run.outcome, run.alive)));
    json.add("reached", whole(run.reached));
    json.add("saved", whole(run.saved));
    json.add("steps", whole(run.steps));
    json.add("began_s", Json(run.began.in(kSecond)));
    json.add("time_s", Json(run.time.in(kSecond)));
    json.add("cost_usd", Json(run.cost.in(kDollar)));
    runs.push_back(std::move(json));
  }
  Json json;
  json.add("schema", "stint.runs/1");
  json.add("runs", Json(std::move(runs)));
  return json;
}

std::string standing_text(const RunReport& report, std::size_t events, const Terminal& terminal) {
  const RunStory& story = report.story;
  const RunRecord& record = report.record;
  const double done = static_cast<double>(story.reached) /
                      static_cast<double>(std::max<std::int64_t>(1, story.steps));
  std::string text = fmt::format("{}  {}\n", painted(record.name, Colour::kBold, terminal),
                                 outcome_text(story.outcome, report.alive));
  if (story.outcome && !story.reason.empty()) text += fmt::format("  because {}\n", story.reason);
  const int width = terminal.width > 0 ? std::min(terminal.width, 70) : 70;
  text += progress_picture(fmt::format("  step {} of {}", story.reached, story.steps), done, width);
  text += fmt::format("\n  saved     step {} ({})\n", story.saved,
                      counted(static_cast<std::size_t>(story.saves), "save"));
  text += fmt::format("  time      {}", duration(story.time));
  if (report.outlook) text += fmt::format(", done at {}", range_text(report.outlook->time));
  if (record.forecast) text += fmt::format("; planned {}", range_text(record.forecast->time));
  text += fmt::format("\n  money     {}", bill_text(story.cost));
  if (report.outlook) text += fmt::format(", in the end {}", range_text(report.outlook->cost));
  if (record.forecast) text += fmt::format("; planned {}", range_text(record.forecast->cost));
  text += "\n";
  if (record.deadline) {
    text += fmt::format("  deadline  {}", duration(*record.deadline));
    if (report.outlook && report.outlook->p_deadline) {
      text += fmt::format(", kept with {}", percent(*report.outlook->p_deadline));
    }
    text += "\n";
  }
  std::vector<std::string> there;
  for (const StoryVm& vm : story.vms) {
    if (!vm.until) there.push_back(fmt::format("{} {}", vm.name, name_of(vm.market)));
  }
  if (!there.empty()) text += fmt::format("  machines  {}\n", join(there, ", "));
  if (record.sharing) {
    text += fmt::format("  shares    with {}, {}\n", record.sharing->partner,
                        name_of(record.sharing->mode));
  }
  if (!report.turnstiles.empty()) text += turnstile_table(report.turnstiles, terminal);
  const std::size_t first = story.lines.size() > events ? story.lines.size() - events : 0;
  for (std::size_t i = first; i < story.lines.size(); ++i) {
    text += fmt::format("  {}  {}\n", moment_text(story.lines[i].at),
                        wrapped(without_controls(story.lines[i].text), terminal.width, 14));
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

Json forecast_json(const RunForecast& forecast) {
  Json json;
  json.add("time_s", range_json(forecast.time.mean.in(kSecond), forecast.time.p10.in(kSecond),
                                forecast.time.p90.in(kSecond)));
  json.add("cost_usd", range_json(forecast.cost.mean.in(kDollar), forecast.cost.p10.in(kDollar),
                                  forecast.cost.p90.in(kDollar)));
  json.add("losses", Json(forecast.losses));
  return json;
}

}  // namespace

std::vector<ForecastRow> forecast_rows(const RunReport& report) {
  const RunStory& story = report.story;
  std::vector<ForecastRow> rows;
  if (report.record.forecast) add_forecast_rows(*report.record.forecast, "", story, rows);
  if (report.hindsight) {
    add_forecast_rows(*report.hindsight, ", had the market been known", story, rows);
  }
  if (const auto steps = step_times(story)) {
    rows.push_back({"step", milliseconds(steps->first), "", milliseconds(steps->second),
                    off_text(steps->second / kSecond, steps->first / kSecond)});
  }
  if (story.save_time) {
    rows.push_back({"save", duration(report.record.save_time), "", duration(*story.save_time),
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
                  {.title = "off by", .align = Align::kRight, .importance = 6}});
  for (const ForecastRow& row : forecast_rows(report)) {
    compared.add({row.what, row.predicted, row.interval, row.measured, row.off});
  }
  text += "\n" + compared.text(terminal, "-o json") + "\n";
  if (report.search) text += search_text(*report.search, terminal) + "\n";
  Table parts({{.title = "where it went", .importance = 9},
               {.title = "time", .align = Align::kRight, .importance = 8},
               {.title = "cost", .align = Align::kRight, .importance = 8}});
  for (const StoryPart& part : report.story.parts) {
    parts.add({part.name, duration(part.time), bill_text(part.cost)});
  }
  text += parts.text(terminal, "-o json") + "\n" + vms_table(report.story, terminal) + "\n";
  for (const StoryLine& line : report.story.lines) {
    text += fmt::format("{}  {}\n", moment_text(line.at),
                        wrapped(without_controls(line.text), terminal.width, 12));
  }
  return text;
}

Json report_json(const RunReport& report) {
  const RunStory& story = report.story;
  Json json;
  json.add("schema", "stint.run-report/1");
  json.add("name", Json(report.record.name));
  json.add("job", Json(report.record.job));
  json.add("state", Json(outcome_text(story.outcome, report.alive)));
  json.add("reason", Json(story.reason));
  json.add("steps", whole(story.steps));
  json.add("reached", whole(story.reached));
  json.add("saved", whole(story.saved));
  json.add("redone", whole(story.redone));
  json.add("losses", whole(story.losses));
  json.add("time_s", Json(story.time.in(kSecond)));
  json.add("cost_usd", Json(story.cost.in(kDollar)));
  if (report.record.deadline) json.add("deadline_s", Json(report.record.deadline->in(kSecond)));
  if (report.record.budget) json.add("budget_usd", Json(report.record.budget->in(kDollar)));
  if (report.record.forecast) json.add("forecast", forecast_json(*report.record.forecast));
  if (report.hindsight) json.add("hindsight", forecast_json(*report.hindsight));
  Json::Array parts;
  for (const StoryPart& part : story.parts) {
    Json one;
    one.add("name", Json(std::string(part.name)));
    one.add("time_s", Json(part.time.in(kSecond)));
    one.add("cost_usd", Json(part.cost.in(kDollar)));
    parts.push_back(std::move(one));
  }
  json.add("parts", Json(std::move(parts)));
  json.add("vms", vms_json(story));
  json.add("attempts", attempts_json(story));
  Json::Array saves;
  for (const SavePoint& save : report.saves) {
    Json one;
    one.add("step", whole(save.step));
    one.add("bytes", Json(save.bytes.in(kByte)));
    one.add("stall_s", Json(save.stall.in(kSecond)));
    one.add("transfer_s", Json(save.transfer.in(kSecond)));
    saves.push_back(std::move(one));
  }
  json.add("saves", Json(std::move(saves)));
  Json::Array lines;
  for (const StoryLine& line : story.lines) {
    Json one;
    one.add("at_s", Json(line.at.in(kSecond)));
    one.add("text", Json(line.text));
    lines.push_back(std::move(one));
  }
  json.add("events", Json(std::move(lines)));
  if (report.record.sharing) {
    Json sharing;
    sharing.add("partner", Json(report.record.sharing->partner));
    sharing.add("mode", Json(std::string(name_of(report.record.sharing->mode))));
    sharing.add("turns", whole(report.record.sharing->turns));
    sharing.add("slowdown", Json(report.record.sharing->slowdown));
    sharing.add("turnstiles", turnstiles_json(report.turnstiles));
    json.add("sharing", std::move(sharing));
  }
  if (report.search) {
    const auto search = parse_json(write_search(*report.search), "search");
    if (search.ok()) json.add("search", *search);
  }
  return json;
}

}  // namespace stint::cli
