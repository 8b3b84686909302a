#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

#include "app/run/receive_shards.h"
#include "app/run/run_job.h"
#include "app/run/run_report.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/render/render_run.h"
#include "cli/render/run_page.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "receive";
constexpr int kPortMax = 65535;

Result<ReceiveRequest> request_of(const Invocation& invocation) {
  ReceiveRequest request{.folder = invocation.get("--folder")};
  if (request.folder.empty()) return bad_usage("--folder is required: the folder for the shards");
  const auto port = parse_int(invocation.get("--port"));
  if (!port || *port < 0 || *port > kPortMax) {
    return bad_usage(fmt::format("--port must be a whole number from 0 to {}, not '{}'", kPortMax,
                                 printable(invocation.get("--port"))));
  }
  request.port = *port;
  if (invocation.has("--address")) request.address = invocation.get("--address");
  const auto memory = quantity_of<Bytes>(invocation, "--memory");
  if (!memory.ok()) return memory.error();
  request.memory = memory->value_or(request.memory);
  return request;
}

ExitCode run(const Invocation& invocation) {
  const auto request = request_of(invocation);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  const Status ended = receive_shards(*request, [&](int port) {
    print_answer(invocation, fmt::format("listening {}\n", port));
    std::fflush(invocation.out);
  });
  return ended.ok() ? kExitOk : report(invocation, kVerb, ended.error());
}

constexpr std::size_t kEvents = 10;  // That are shown of a run.
constexpr unsigned kLook = 500000;   // Microseconds between two looks.

std::string name_in(const Invocation& invocation) {
  return invocation.arguments.empty() ? "" : invocation.arguments[0];
}

ExitCode status(const Invocation& invocation) {
  if (name_in(invocation).empty()) {
    const auto list = list_runs(invocation.environment);
    if (!list.ok()) return report(invocation, "status", list.error());
    print_warnings(invocation, list->warnings);
    if (invocation.output() == "json") {
      print_answer(invocation, to_text(runs_json(*list), JsonStyle::kPretty) + "\n");
    } else if (list->runs.empty()) {
      say(invocation, "No runs yet. Start one: stint demo --run");
    } else {
      print_answer(invocation, runs_text(*list, invocation.out_terminal));
    }
    return kExitOk;
  }
  const auto run = report_run(invocation.environment, name_in(invocation));
  if (!run.ok()) return report(invocation, "status", run.error());
  print_warnings(invocation, run->warnings);
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(report_json(*run), JsonStyle::kPretty) + "\n");
  } else {
    print_answer(invocation, standing_text(*run, kEvents, invocation.out_terminal));
  }
  return kExitOk;
}

bool is_over(const RunReport& run) { return run.story.outcome.has_value() || !run.alive; }

/// How to go on with a run whose process is gone.
void say_resume(const Invocation& invocation, const RunReport& run) {
  if (run.story.outcome) return;
  say(invocation,
      fmt::format("Process gone. Resume: stint run --resume {}", shell_quoted(run.record.name)));
}

/// What happened since the last call, line by line, and each tenth of the steps.
class LineTeller {
 public:
  std::string news(const RunReport& run) {
    const RunStory& story = run.story;
    std::string text;
    if (!told_) {
      told_ =
          lines_so_far(story) - static_cast<std::int64_t>(std::min(story.lines.size(), kEvents));
      text = fmt::format("{}  {}\n", run.record.name, state_text(run));
    }
    for (told_ = std::max(*told_, story.lines_before); *told_ < lines_so_far(story); ++*told_) {
      const StoryLine& line = story.lines[static_cast<std::size_t>(*told_ - story.lines_before)];
      text += fmt::format("{}  {}\n", moment_text(line.at), without_controls(line.text));
    }
    const std::int64_t tenth = 10 * story.reached / std::max<std::int64_t>(1, story.steps);
    if (tenth != tenth_ && story.reached > 0) {
      text += fmt::format("{}  step {} of {}, {}\n", moment_text(story.time), story.reached,
                          story.steps, bill_text(story.cost));
    }
    tenth_ = tenth;
    return text;
  }

 private:
  static std::int64_t lines_so_far(const RunStory& story) {
    return story.lines_before + static_cast<std::int64_t>(story.lines.size());
  }

  std::optional<std::int64_t> told_ = {};  // Events; absent before the first call.
  std::int64_t tenth_ = 0;
};

/// For a pipe or a file: lines as things happen, and where the run stands at its end.
ExitCode watch_lines(const Invocation& invocation) {
  LineTeller teller;
  std::string name = name_in(invocation);
  while (true) {
    const auto run = report_run(invocation.environment, name);
    if (!run.ok()) return report(invocation, "watch", run.error());
    name = run->record.name;  // A run that begins later is not meant.
    print_answer(invocation, teller.news(*run));
    if (is_over(*run)) {
      print_answer(invocation, standing_text(*run, 0, invocation.out_terminal));
      say_resume(invocation, *run);
      return kExitOk;
    }
    std::fflush(invocation.out);
    ::usleep(kLook);
  }
}

/// Shows the run again and again in the same place, until it ends.
ExitCode watch(const Invocation& invocation) {
  if (!invocation.out_terminal.interactive) return watch_lines(invocation);
  int lines = 0;
  std::string name = name_in(invocation);
  while (true) {
    const auto run = report_run(invocation.environment, name);
    if (!run.ok()) return report(invocation, "watch", run.error());
    name = run->record.name;
    const std::string text = standing_text(*run, kEvents, invocation.out_terminal);
    // Up to where it began, and wiped from there on.
    const std::string up = lines > 0 ? fmt::format("\x1b[{}A\x1b[J", lines) : "";
    print_answer(invocation, up + text);
    std::fflush(invocation.out);
    lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    if (is_over(*run)) {
      say_resume(invocation, *run);
      return kExitOk;
    }
    ::usleep(kLook);
  }
}

ExitCode show_report(const Invocation& invocation) {
  const auto run = report_run(invocation.environment, name_in(invocation));
  if (!run.ok()) return report(invocation, "report", run.error());
  print_warnings(invocation, run->warnings);
  if (invocation.has("--html")) {
    const Status written =
        write_output(invocation.get("--html"), run_page(*run, invocation.has("--keep-command")));
    if (!written.ok()) return report(invocation, "report", written.error());
  }
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(report_json(*run), JsonStyle::kPretty) + "\n");
  } else {
    print_answer(invocation, report_text(*run, invocation.out_terminal));
  }
  if (invocation.has("--html")) {
    say(invocation, fmt::format("Wrote {}; open it in a browser.", invocation.get("--html")));
  }
  return kExitOk;
}

ExitCode stop(const Invocation& invocation) {
  const auto stopped = stop_run(invocation.environment, name_in(invocation));
  if (!stopped.ok()) return report(invocation, "stop", stopped.error());
  const std::string bill = fmt::format("final cost {}", bill_text(stopped->cost));
  if (stopped->was_conducted) {
    say(invocation, fmt::format("Stopped {}; its machines are released, {}.", stopped->name, bill));
  } else if (stopped->released.empty()) {
    say(invocation, fmt::format("No process conducted {}, and none of its machines was up; {}.",
                                stopped->name, bill));
  } else {
    say(invocation, fmt::format("No process conducted {}. Released {}: {}; {}.", stopped->name,
                                counted(stopped->released.size(), "machine"),
                                join(stopped->released, ", "), bill));
  }
  return kExitOk;
}

ArgumentSpec run_argument() {
  return {.name = "RUN", .help = "Name of the run (default: the last one).", .required = false};
}

}  // namespace

Verb receive_verb() {
  return {
      .path = kVerb,
      .group = VerbGroup::kRun,
      .summary = "Store checkpoints for workers; used by 'stint run'.",
      .details =
          "'stint run' starts this verb on the machines that store checkpoints; there is no need "
          "to call it by hand. The first line of standard input is the secret of the run: both "
          "sides of a connection prove it, and every message is authenticated, but not encrypted. "
          "The line 'listening PORT' on standard output announces that "
          "workers may connect. Shards are on disk before they count as stored, and a later "
          "process with the same folder finds them again. The process runs until it is killed.",
      .options = {{.name = "--folder", .value = "FOLDER", .help = "Folder for the shards."},
                  {.name = "--address",
                   .value = "ADDRESS",
                   .help = "Address of this machine to listen on, and no other (default: "
                           "127.0.0.1)."},
                  {.name = "--port",
                   .value = "N",
                   .help = "Port to listen on; 0 is any free port."},
                  {.name = "--memory",
                   .value = "SIZE",
                   .help = "Memory for the newest shards, which are served without the disk "
                           "(default: 4GiB)."}},
      .examples = {{"stint receive --folder shards --port 0", "Listen on any free port."},
                   {"stint receive --folder shards --address 10.77.0.2 --port 7070 --memory 16GiB",
                    "For the machines of a private network, with room for large checkpoints."}},
      .run = run};
}

std::vector<Verb> run_watch_verbs() {
  return {
      {.path = "status",
       .group = VerbGroup::kRun,
       .summary = "List all runs, or show the state of one.",
       .details = "A run is unattended when its process is gone but machines are still up; they "
                  "cost until the run is resumed or stopped.",
       .arguments = {{.name = "RUN", .help = "Name of the run (default: all).", .required = false}},
       .outputs = {"table", "json"},
       .examples = {{"stint status", "All runs."}, {"stint status cnn-1", "One run."}},
       .run = status},
      {.path = "watch",
       .group = VerbGroup::kRun,
       .summary = "Follow the progress, cost and events of a run.",
       .details = "Ends with the run. Events are printed line by line as they happen if the output "
                  "is not a terminal.",
       .arguments = {run_argument()},
       .examples = {{"stint watch", "The last run that started."},
                    {"stint watch cnn-1", "Another run."}},
       .run = watch},
      {.path = "report",
       .group = VerbGroup::kRun,
       .summary = "Compare a run with its forecast, with all events.",
       .arguments = {run_argument()},
       .options = {{.name = "--html",
                    .value = "FILE",
                    .help = "Output file for an HTML page with charts."},
                   {.name = "--keep-command",
                    .help = "Show the arguments of the training command in the HTML page."}},
       .outputs = {"table", "json"},
       .examples = {{"stint report cnn-1 --html report.html", "Text and an HTML page."},
                    {"stint report -o json", "The last run, as JSON."}},
       .run = show_report},
      {.path = "stop",
       .group = VerbGroup::kRun,
       .summary = "Checkpoint and stop a run, and release its machines.",
       .details = "Releases machines that are still up also if the process of the run is gone; "
                  "there is nothing left to checkpoint then.",
       .arguments = {run_argument()},
       .examples = {{"stint stop", "The last run that started."},
                    {"stint stop cnn-1", "Stop it; it can be resumed later."}},
       .run = stop},
  };
}

}  // namespace stint::cli
