#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>
#include <vector>

#include "app/plan/joint_plan.h"
#include "app/plan/plan_cases.h"
#include "app/plan/plan_limits.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/render/render_interleave.h"
#include "cli/render/render_run.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "plan/sharing.h"

namespace stint::cli {
namespace {

/// Every job with the best plan for it alone.
std::string job_table(const TogetherAnswer& answer, const Terminal& terminal) {
  Table table({{.title = "job", .importance = 9, .width_min = 12},
               {.title = "alone on", .importance = 9, .width_min = 16},
               {.title = "market", .importance = 5},
               right("time", 8),
               right("cost", 9),
               right("P(deadline)", 7)});
  for (const PlannedJob& job : answer.jobs) {
    table.add({job.name, to_text(job.cluster), name_of(job.market), with_interval(job.time),
               with_interval(job.cost), job.p_deadline ? percent(*job.p_deadline) : ""});
  }
  return table.text(terminal, "-o json") + "\n";
}

std::string member_text(const SharingMember& member) {
  const std::string kept =
      member.p_deadline ? fmt::format(", P(deadline) {}", percent(*member.p_deadline)) : "";
  return fmt::format("{}: {}{}", member.job, with_interval(member.time), kept);
}

std::string pair_lines(const PlannedPair& pair, const Terminal& terminal) {
  const auto& members = pair.sharing.choice.members;
  std::string text =
      sheet_line("together",
                 fmt::format("{} + {} on {}, {}: {} instead of {}", members[0].job, members[1].job,
                             to_text(pair.cluster), sharing_text(pair.sharing.choice),
                             bill_text(pair.cost), bill_text(pair.separate)),
                 terminal);
  for (const SharingMember& member : members) text += sheet_line("", member_text(member), terminal);
  return text;
}

std::string bill_line(const TogetherAnswer& answer) {
  if (answer.pairs.empty()) {
    return fmt::format("{} on separate clusters; sharing saves nothing", bill_text(answer.cost));
  }
  const Dollars saved = answer.separate - answer.cost;
  return fmt::format("{} for all, {} on separate clusters: {} less ({})", bill_text(answer.cost),
                     bill_text(answer.separate), bill_text(saved),
                     percent(saved / answer.separate));
}

Status check_options(const Invocation& invocation) {
  for (const char* option :
       {"--budget", "--objective", "--policy", "--vm", "--rows", "--disable-pass", "--epochs",
        "--samples-per-epoch", "--goal", "--name", "--compare", "--explain"}) {
    if (!invocation.has(option)) continue;
    return bad_usage(fmt::format(
        "{} is for one job; with several jobs, Stint minimises the bill under --deadline", option));
  }
  if (!invocation.arguments.empty()) {
    return bad_usage(
        "with several jobs, each job's profile has its own command; leave out the one after --");
  }
  if (invocation.output() == "csv") return bad_usage("-o csv is for one job; use -o json");
  return {};
}

Result<std::vector<Seconds>> deadlines_of(const Invocation& invocation) {
  std::vector<Seconds> deadlines;
  for (const std::string& text : invocation.list("--deadline")) {
    const auto deadline = parse_deadline(text, *invocation.environment.clock);
    if (!deadline.ok()) return deadline.error();
    deadlines.push_back(*deadline);
  }
  return deadlines;
}

/// A closer look at a cluster that is shared, or at the first job alone.
std::string next_command(const Invocation& invocation, const PlanTogetherOutcome& outcome) {
  const TogetherAnswer& answer = outcome.answer;
  const std::vector<std::string> jobs = invocation.list("--job");
  if (answer.pairs.empty()) {
    return fmt::format("More plans for one job: stint plan --job {}{}", shell_quoted(jobs.front()),
                       repeated(invocation, {"--markets", "--providers", "--regions", "--quota",
                                             "--max-vms", "--calibration"}));
  }
  const std::vector<std::string>& words = outcome.files.empty() ? jobs : outcome.files;
  std::string named;
  for (const SharingMember& member : answer.pairs.front().sharing.choice.members) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (answer.jobs[i].name == member.job) named += " " + shell_quoted(words[i]);
    }
  }
  if (!outcome.files.empty()) {
    return "Run both on these machines, with profiles made with --keep-command: stint run "
           "--interleave" +
           named;
  }
  return fmt::format("How two of them share machines: stint interleave --jobs{} --cluster {}",
                     named, shell_quoted(to_text(answer.pairs.front().cluster)));
}

}  // namespace

std::string together_sheet(const TogetherAnswer& answer, const Terminal& terminal) {
  std::string text = job_table(answer, terminal);
  for (const PlannedPair& pair : answer.pairs) text += pair_lines(pair, terminal);
  text += sheet_line("bill", bill_line(answer), terminal);
  for (const std::string& note : answer.notes) text += sheet_line("note", note, terminal);
  for (const std::string& it : answer.assumptions) text += sheet_line("assumed", it, terminal);
  return text;
}

ExitCode plan_several(const Invocation& invocation, const PlanRequest& request) {
  const Status options = check_options(invocation);
  if (!options.ok()) return report(invocation, "plan", options.error());
  const auto deadlines = deadlines_of(invocation);
  if (!deadlines.ok()) return report(invocation, "plan", deadlines.error());
  std::optional<ProgressBar> bar(std::in_place, "planning", invocation.err_terminal,
                                 invocation.err);
  const auto outcome = plan_together(invocation.environment, {.jobs = invocation.list("--job"),
                                                              .deadlines = *deadlines,
                                                              .constraints = request.constraints,
                                                              .calibration = request.calibration,
                                                              .save = request.save,
                                                              .progress = [&](double done) {
                                                                if (!invocation.quiet())
                                                                  bar->show(done);
                                                              }});
  bar.reset();
  if (!outcome.ok()) return report(invocation, "plan", outcome.error());
  print_warnings(invocation, outcome->warnings);
  if (invocation.output() == "json") {
    print_answer(invocation, write_together(outcome->answer));
  } else {
    print_answer(invocation, together_sheet(outcome->answer, invocation.out_terminal));
    say(invocation, next_command(invocation, *outcome));
  }
  return kExitOk;
}

}  // namespace stint::cli
