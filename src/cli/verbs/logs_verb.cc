#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

#include "app/run/run_logs.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "logs";
constexpr unsigned kLook = 200000;  // Microseconds between two looks.

Result<LogsRequest> request_of(const Invocation& invocation) {
  LogsRequest request{.run = invocation.arguments.empty() ? "" : invocation.arguments[0],
                      .follow = invocation.has("--follow")};
  if (invocation.has("--rank")) {
    request.rank = parse_int(invocation.get("--rank"));
    if (!request.rank || *request.rank < 0 || *request.rank > kCountMax) {
      return bad_usage(fmt::format("--rank must be a whole number from 0 to {}, not '{}'",
                                   kCountMax, printable(invocation.get("--rank"))));
    }
  }
  const auto lines = count_of(invocation, "--lines");
  if (!lines.ok()) return lines.error();
  if (*lines) request.lines = **lines;
  return request;
}

ExitCode run(const Invocation& invocation) {
  const auto request = request_of(invocation);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  std::optional<StopSignals> noted;  // From the first pause on; until then a signal ends us.
  LogListener listener;
  listener.line = [&](int rank, const std::string& line) {
    print_answer(invocation, fmt::format("[rank{}]: {}\n", rank, line));
  };
  listener.pause = [&] {
    if (!noted) noted.emplace(std::vector<int>{SIGINT, SIGTERM});
    std::fflush(invocation.out);
    ::usleep(kLook);
    return StopSignals::take() == 0 && std::ferror(invocation.out) == 0;
  };
  const auto end = show_logs(invocation.environment, *request, listener);
  if (!end.ok()) return report(invocation, kVerb, end.error());
  if (end->interrupted) return kExitInterrupted;
  if (end->lines == 0) {
    say(invocation,
        fmt::format(
            "No output of {} yet.",
            request->rank ? fmt::format("rank {} of {}", *request->rank, end->run) : end->run));
  }
  return kExitOk;
}

}  // namespace

Verb logs_verb() {
  return {.path = kVerb,
          .group = VerbGroup::kRun,
          .summary = "Print the output of a run's workers.",
          .details =
              "Each line is prefixed with its rank, as '[rank0]: '. The output of all ranks is "
              "merged; lines carry no times, so that the order between ranks is approximate. "
              "Escape sequences and other control characters are removed or replaced by '?'.",
          .arguments = {{.name = "RUN",
                         .help = "Name of the run (default: the last one).",
                         .required = false}},
          .options = {{.name = "--follow",
                       .letter = "-f",
                       .help = "Continue with new output until the run ends."},
                      {.name = "--rank", .value = "N", .help = "Rank to print (default: all)."},
                      {.name = "--lines",
                       .letter = "-n",
                       .value = "N",
                       .help = "Number of last lines of each worker (default: all)."}},
          .examples = {{"stint logs cnn-1 -n 20", "The last 20 lines of each worker."},
                       {"stint logs -f --rank 0", "Follow rank 0 of the last run."}},
          .run = run};
}

}  // namespace stint::cli
