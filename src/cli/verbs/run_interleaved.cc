#include <algorithm>
#include <fmt/format.h>

#include "app/run/run_report.h"
#include "app/run/run_together.h"
#include "app/share/turnstiles.h"
#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/render/render_run.h"
#include "cli/verbs/command_consent.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "run";

std::string way_text(SharingMode mode, const std::array<int, 2>& turns) {
  if (mode == SharingMode::kFreely) return "sharing freely";
  return fmt::format("by turns of {} to {}, gradients {}", turns[0], turns[1],
                     mode == SharingMode::kWhole ? "as a whole" : "in buckets");
}

Result<RunTogetherRequest> request_of(const Invocation& invocation, const RunRequest& common) {
  const std::vector<std::string> plans = invocation.list("--interleave");
  if (plans.size() != 2) {
    return bad_usage(fmt::format("--interleave needs two plans, not {}", plans.size()));
  }
  if (!common.job.empty() || invocation.has("--plan")) {
    return bad_usage("--interleave names both plans; leave out --plan and --job");
  }
  RunTogetherRequest request{.common = common, .plans = {plans[0], plans[1]}, .name = common.name};
  if (invocation.has("--mode")) request.mode = enumerator<SharingMode>(invocation.get("--mode"));
  return request;
}

std::string outline(const PreparedTogether& pair) {
  const PairOption& option = pair.option;
  std::string text = fmt::format(
      "Runs {} and {} share {}, {}. Expected: makespan {}, speedup {:.2f}x over sequential runs.\n",
      pair.runs[0].record.name, pair.runs[1].record.name, cluster_text(pair.runs[0].record.plan),
      way_text(option.mode, option.turns), duration(option.outcome.makespan),
      option.outcome.speedup());
  for (std::size_t i = 0; i < 2; ++i) {
    const RunRecord& record = pair.runs[i].record;
    text += fmt::format("  {}: {} steps, {:.2f}x slower than alone, {}, {}\n", record.name,
                        record.steps, option.outcome.slowdown[i], range_text(record.forecast->time),
                        range_text(record.forecast->cost));
    text += fmt::format("  {}\n", command_text(pair.commands[i]));
  }
  text += withheld_text(pair.runs[0].withheld);
  if (pair.advice) text += "Stint advises against sharing: " + *pair.advice + "\n";
  text.pop_back();
  return text;
}

/// What became of both, beside what was expected.
std::string ends_table(const std::vector<RunReport>& reports, const Terminal& terminal) {
  Table table({{.title = "run", .importance = 9},
               {.title = "state", .importance = 8},
               {.title = "steps", .align = Align::kRight, .importance = 7},
               {.title = "time", .align = Align::kRight, .importance = 8},
               {.title = "expected", .align = Align::kRight, .importance = 6},
               {.title = "cost", .align = Align::kRight, .importance = 8},
               {.title = "expected", .align = Align::kRight, .importance = 5}});
  for (const RunReport& it : reports) {
    const auto& forecast = it.record.forecast;
    table.add({it.record.name, state_text(it),
               fmt::format("{} of {}", it.story.reached, it.story.steps), duration(it.story.time),
               forecast ? duration(forecast->time.mean) : "", bill_text(it.story.cost),
               forecast ? bill_text(forecast->cost.mean) : ""});
  }
  return table.text(terminal, "-o json");
}

Json ends_json(const std::vector<RunReport>& reports) {
  RunsTogetherView view;
  for (const RunReport& it : reports) {
    view.time = std::max(view.time, it.story.time);
    view.cost += it.story.cost;
    view.runs.push_back(report_view(it));
  }
  if (!reports.empty() && reports[0].record.sharing) view.mode = reports[0].record.sharing->mode;
  return encoded(view);
}

Status draw(const Invocation& invocation, const std::vector<RunReport>& reports) {
  if (!invocation.has("--timeline")) return {};
  std::vector<std::string> folders;
  for (const RunReport& it : reports) folders.push_back(it.folder);
  const auto trace = turn_trace(folders);
  if (!trace.ok()) return trace.error();
  const std::string path = invocation.get("--timeline");
  const Status written = write_output(path, *trace);
  if (!written.ok()) return written;
  say(invocation,
      fmt::format(
          "Wrote the timeline of the turns to {}; open it in chrome://tracing or ui.perfetto.dev.",
          path));
  return {};
}

ExitCode tell_ends(const Invocation& invocation, const std::vector<MemberEnd>& ends) {
  std::vector<RunReport> reports;
  ExitCode code = kExitOk;
  for (const MemberEnd& end : ends) {
    if (!end.error.empty()) say(invocation, fmt::format("stint run: {}: {}", end.name, end.error));
    code = std::max(code, end.outcome ? exit_code(*end.outcome) : kExitFailed);
    auto told = report_run(invocation.environment, end.name);
    if (!told.ok()) return report(invocation, kVerb, told.error());
    print_warnings(invocation, told->warnings);
    reports.push_back(std::move(*told));
  }
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(ends_json(reports), JsonStyle::kPretty) + "\n");
  } else {
    print_answer(invocation, ends_table(reports, invocation.out_terminal));
  }
  const Status drawn = draw(invocation, reports);
  if (!drawn.ok()) return report(invocation, kVerb, drawn.error());
  const auto halted = std::find_if(ends.begin(), ends.end(), [](const MemberEnd& end) {
    return end.outcome != RunVerdict::kTrained;
  });
  say(invocation, halted == ends.end()
                      ? fmt::format("Report: stint report {}", shell_quoted(ends[0].name))
                      : fmt::format("Resume: stint run --resume {}", shell_quoted(halted->name)));
  return code;
}

/// Both tell their stories at once, each line with the name of the run.
RunAudience with_names(const Invocation& invocation) {
  RunAudience audience;
  audience.happened = [&invocation](const ReplayedRun& run, const RunMoment& moment) {
    for (const StoryLine& line : lines_of(*run.supervisor, moment)) {
      say(invocation, fmt::format("{}  {}: {}", moment_text(line.at), run.record.name,
                                  without_controls(line.text)));
    }
  };
  return audience;
}

}  // namespace

ExitCode run_interleaved(const Invocation& invocation, const RunRequest& common) {
  const auto request = request_of(invocation, common);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  auto pair = prepare_together(invocation.environment, *request);
  if (!pair.ok()) return report(invocation, kVerb, pair.error());
  print_warnings(invocation, pair->warnings);
  say(invocation, outline(*pair));
  if (invocation.has("--dry-run")) return kExitOk;
  const Status agreed = confirm_commands(invocation, pair->commands);
  if (!agreed.ok()) return report(invocation, kVerb, agreed.error());
  const auto ends =
      start_together(invocation.environment, std::move(*pair), with_names(invocation));
  if (!ends.ok()) return report(invocation, kVerb, ends.error());
  return tell_ends(invocation, *ends);
}

ExitCode resume_interleaved(const Invocation& invocation, const std::string& name) {
  const auto ends = resume_together(invocation.environment, name, with_names(invocation));
  if (!ends.ok()) return report(invocation, kVerb, ends.error());
  return tell_ends(invocation, *ends);
}

}  // namespace stint::cli
