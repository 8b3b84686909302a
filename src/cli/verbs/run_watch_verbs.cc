#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "app/run/receive_shards.h"
#include "app/run/run_job.h"
#include "app/run/run_report.h"
#include "base/file.h"
#include "base/text.h"
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
  if (request.folder.empty()) return bad_usage("--folder is missing: where do the shards go?");
  const auto port = parse_int(invocation.get("--port"));
  if (!port || *port < 0 || *port > kPortMax) {
    return bad_usage(fmt::format("--port must be a whole number from 0 to {}, not '{}'", kPortMax,
                                 printable(invocation.get("--port"))));
  }
  request.port = *port;
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
      say(invocation, "There are no runs. Begin one: stint run --plan 1 -- COMMAND");
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

/// Shows the run again and again in the same place, until it ends.
ExitCode watch(const Invocation& invocation) {
  int lines = 0;
  while (true) {
    const auto run = report_run(invocation.environment, name_in(invocation));
    if (!run.ok()) return report(invocation, "watch", run.error());
    const bool over = run->story.outcome.has_value() || !run->alive;
    if (!invocation.out_terminal.interactive && !over) {
      ::usleep(kLook);
      continue;
    }
    const std::string text = standing_text(*run, kEvents, invocation.out_terminal);
    // Up to where it began, and wiped from there on.
    const std::string up = lines > 0 ? fmt::format("\x1b[{}A\x1b[J", lines) : "";
    print_answer(invocation, up + text);
    std::fflush(invocation.out);
    lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    if (over) {
      if (!run->story.outcome) {
        say(invocation,
            fmt::format("No process runs it any more. Go on with it: stint run --resume "
                        "{}",
                        shell_quoted(run->record.name)));
      }
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
    const Status written = write_file(invocation.get("--html"), run_page(*run));
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
  const Status stopped = stop_run(invocation.environment, name_in(invocation));
  if (!stopped.ok()) return report(invocation, "stop", stopped.error());
  say(invocation, "Stopped; its machines are given back.");
  return kExitOk;
}

ArgumentSpec run_argument() {
  return {.name = "RUN", .help = "Its name (default: the last one).", .required = false};
}

}  // namespace

Verb receive_verb() {
  return {
      .path = kVerb,
      .summary = "Keep checkpoints for workers; used by 'stint run' itself.",
      .details =
          "'stint run' starts it on the machines that hold checkpoints; there is no need to call "
          "it by hand. The first line of standard input is the secret of the run; whoever does "
          "not know it is sent away. When workers may come it prints 'listening PORT'. Shards "
          "are on the disk before they count as kept, and are found again by the next one that "
          "is given the same folder. It ends when it is killed.",
      .options = {{.name = "--folder", .value = "FOLDER", .help = "Where the shards go."},
                  {.name = "--port", .value = "N", .help = "To listen on; 0: any that is free."},
                  {.name = "--memory",
                   .value = "SIZE",
                   .help = "For the newest shards, which are given without the disk (default: "
                           "4GiB)."}},
      .examples = {{"stint receive --folder shards --port 0", "On any port."},
                   {"stint receive --folder shards --port 7070 --memory 16GiB",
                    "One that holds large checkpoints."}},
      .run = run};
}

std::vector<Verb> run_watch_verbs() {
  return {
      {.path = "status",
       .summary = "Say which runs there are, or where one of them stands.",
       .arguments = {{.name = "RUN", .help = "Its name (default: all).", .required = false}},
       .outputs = {"table", "json"},
       .examples = {{"stint status", "All runs."}, {"stint status cnn-1", "One of them."}},
       .run = status},
      {.path = "watch",
       .summary = "Look on while a run goes: progress, time and money against the plan, events.",
       .arguments = {run_argument()},
       .examples = {{"stint watch", "The last run that was begun."},
                    {"stint watch cnn-1", "Another one."}},
       .run = watch},
      {.path = "report",
       .summary = "Compare a run with what was predicted, and tell what happened.",
       .arguments = {run_argument()},
       .options = {{.name = "--html",
                    .value = "FILE",
                    .help = "Also write one page with pictures."}},
       .outputs = {"table", "json"},
       .examples = {{"stint report cnn-1 --html report.html", "To read, and to look at."},
                    {"stint report -o json", "The last run, for a program to read."}},
       .run = show_report},
      {.path = "stop",
       .summary = "Stop a run: save, and give its machines back.",
       .arguments = {run_argument()},
       .examples = {{"stint stop", "The last run that was begun."},
                    {"stint stop cnn-1", "It can be resumed later."}},
       .run = stop},
  };
}

}  // namespace stint::cli
