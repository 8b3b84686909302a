#include <fmt/format.h>

#include "app/run/command_origin.h"
#include "app/run/demo_run.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/render/render_plan.h"
#include "cli/render/render_run.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {

ExitCode demo_run(const Invocation& invocation) {
  DemoListeners listeners;
  int part = 0;
  listeners.begins = [&](const std::string& what) {
    say(invocation, fmt::format("{}{}. {}", part > 0 ? "\n" : "", part + 1,
                                painted(what, Colour::kBold, invocation.err_terminal)));
    ++part;
  };
  listeners.profiled = [&](const JobProfile& job) {
    for (const ComputeSample& sample : job.compute) {
      const Seconds time = sample.forward.median + sample.backward.median + sample.update.median;
      say(invocation, fmt::format("   {} samples take {} on {}", sample.batch_per_worker,
                                  milliseconds(time), sample.device));
    }
    say(invocation,
        fmt::format(
            "   {:.1f} MB of gradients; the emulated machines run at the pace of a slower device",
            job.gradient_bytes.in(kMB)));
  };
  listeners.planned = [&](const PlanOutcome& planned) {
    for (std::size_t i = 0; i < planned.answer.plans.size(); ++i) {
      const Plan& plan = planned.answer.plans[i];
      say(invocation, fmt::format("   {}. {}: {}, {}", i + 1, to_text(plan.cluster),
                                  range_text(plan.time), range_text(plan.cost)));
    }
  };
  listeners.prepared = [&](const PreparedRun& run) {
    say(invocation,
        fmt::format("   run {}: expected {}, {}", run.record.name,
                    range_text(run.record.forecast->time), range_text(run.record.forecast->cost)));
    say(invocation, fmt::format("   command: {}", command_words(run.record.command)));
  };
  listeners.running.happened = [&](const ReplayedRun& run, const RunMoment& moment) {
    for (const StoryLine& line : lines_of(*run.supervisor, moment)) {
      say(invocation, fmt::format("   {}  {}", moment_text(line.at), without_controls(line.text)));
    }
  };
  const auto done = demonstrate_run(invocation.environment, "/usr/bin/python3", listeners);
  if (!done.ok()) return report(invocation, "demo", done.error());
  print_answer(invocation, report_text(*done, invocation.out_terminal));
  const std::string name = shell_quoted(done->record.name);
  say(invocation, fmt::format("\nTry next:\n"
                              "  stint report {0} --html report.html\n"
                              "  stint status\n"
                              "  stint run --help",
                              name));
  return done->story.outcome == RunVerdict::kTrained ? kExitOk : kExitFailed;
}

}  // namespace stint::cli
