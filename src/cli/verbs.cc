#include "cli/verbs.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "app/local/doctor.h"
#include "app/local/doctor_training.h"
#include "app/version.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/verbs/verb_list.h"
#include "cli/views/machine_views.h"
#include "cli/views/view_formats.h"

namespace stint::cli {
namespace {

/// The schemas of the nouns and the views.
std::vector<std::string> all_schemas(const std::vector<std::string>& nouns) {
  std::set<std::string> all(nouns.begin(), nouns.end());
  for (const ViewFormat& format : view_formats()) all.insert(format.schema);
  return {all.begin(), all.end()};
}

ExitCode print_version(const Invocation& invocation) {
  const Version it = version();
  if (invocation.output() == "json") {
    const VersionView view{
        .version = it.number, .compiler = it.compiler, .schemas = all_schemas(it.schemas)};
    print_answer(invocation, to_text(encoded(view), JsonStyle::kPretty) + "\n");
  } else {
    print_answer(invocation, fmt::format("stint {}\n", it.number));
  }
  return kExitOk;
}

std::string findings_text(const std::vector<Finding>& findings, const Terminal& terminal) {
  constexpr Colour kColours[] = {Colour::kGreen, Colour::kYellow, Colour::kRed};
  std::size_t widest = 0;
  for (const Finding& it : findings) widest = std::max(widest, it.feature.size());
  std::string text;
  const int indent = static_cast<int>(widest) + 10;
  for (const Finding& it : findings) {
    const auto level = static_cast<std::size_t>(it.level);
    const std::string mark =
        painted(fmt::format("{:<6}", name_of(it.level)), kColours[level], terminal);
    text += fmt::format("{}  {:<{}}  {}\n", mark, it.feature, widest,
                        wrapped(without_controls(it.detail), terminal.width, indent));
    // A fix is not wrapped, so that it can be copied.
    if (!it.fix.empty()) text += fmt::format("{:{}}fix: {}\n", "", indent, it.fix);
  }
  return text;
}

Json findings_json(const std::vector<Finding>& findings) {
  DoctorView view;
  for (const Finding& it : findings) {
    FindingView& finding = view.findings.emplace_back(
        FindingView{.level = it.level, .feature = it.feature, .detail = it.detail, .fix = {}});
    if (!it.fix.empty()) finding.fix = it.fix;
  }
  return encoded(view);
}

ExitCode doctor(const Invocation& invocation) {
  std::vector<Finding> findings = examine(invocation.environment);
  for (Finding& finding : examine_training(training_places())) {
    findings.push_back(std::move(finding));
  }
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(findings_json(findings), JsonStyle::kPretty) + "\n");
  } else {
    print_answer(invocation, findings_text(findings, invocation.out_terminal));
  }
  const bool broken = std::any_of(findings.begin(), findings.end(), [](const Finding& it) {
    return it.level == Finding::Level::kBroken;
  });
  return broken ? kExitFailed : kExitOk;
}

ExitCode completion(const Invocation& invocation) {
  print_answer(invocation, completion_script(verbs(), invocation.arguments[0]));
  return kExitOk;
}

ExitCode manual(const Invocation& invocation) {
  print_answer(invocation, manual_page(verbs(), version().number));
  return kExitOk;
}

std::vector<Verb> basic_verbs() {
  return {{.path = "doctor",
           .group = VerbGroup::kSetup,
           .summary = "Report what this computer lacks, and how to fix it.",
           .outputs = {"table", "json"},
           .examples = {{"stint doctor", "Check this computer."},
                        {"stint doctor -o json", "The same as JSON."}},
           .run = doctor},
          {.path = "completion",
           .group = VerbGroup::kSetup,
           .summary = "Print the completion script of a shell.",
           .arguments = {{.name = "SHELL",
                          .help = "Shell to complete in.",
                          .choices = {"bash", "zsh", "fish"}}},
           .examples = {{"source <(stint completion bash)", "Complete in this shell."},
                        {"stint completion fish > ~/.config/fish/completions/stint.fish",
                         "Complete in every new fish."}},
           .run = completion},
          {.path = "man",
           .group = VerbGroup::kSetup,
           .summary = "Print the manual page.",
           .examples = {{"stint man | man -l -", "Read the page."},
                        {"stint man > stint.1", "Write the page to a file."}},
           .run = manual},
          {.path = "version",
           .group = VerbGroup::kSetup,
           .summary = "Print the version.",
           .outputs = {"table", "json"},
           .examples = {{"stint version", "Version number."},
                        {"stint version -o json", "Also the compiler and the file schemas."}},
           .run = print_version}};
}

}  // namespace

std::span<const Verb> verbs() {
  static const std::vector<Verb> kVerbs = [] {
    std::vector<Verb> all = plan_verbs();
    for (Verb& verb : predict_verbs()) all.push_back(std::move(verb));
    all.push_back(layouts_verb());
    for (Verb& verb : model_verbs()) all.push_back(std::move(verb));
    all.push_back(interleave_verb());
    all.push_back(profile_verb());
    for (Verb& verb : import_verbs()) all.push_back(std::move(verb));
    all.push_back(run_verb());
    all.push_back(search_verb());
    for (Verb& verb : run_watch_verbs()) all.push_back(std::move(verb));
    all.push_back(logs_verb());
    all.push_back(receive_verb());
    all.push_back(agent_verb());
    all.push_back(risk_simulate_verb());
    for (Verb& verb : risk_verbs()) all.push_back(std::move(verb));
    all.push_back(risk_saves_verb());
    all.push_back(risk_replay_verb());
    for (Verb& verb : catalog_verbs()) all.push_back(std::move(verb));
    for (Verb& verb : local_verbs()) all.push_back(std::move(verb));
    all.push_back(probe_network_verb());
    for (Verb& verb : calibrate_verbs()) all.push_back(std::move(verb));
    for (Verb& verb : validate_verbs()) all.push_back(std::move(verb));
    all.push_back(validate_cases_verb());
    all.push_back(validate_collective_verb());
    all.push_back(validate_convergence_verb());
    all.push_back(validate_deadline_verb());
    all.push_back(validate_device_verb());
    all.push_back(validate_interleave_verb());
    all.push_back(validate_layout_verb());
    all.push_back(validate_memory_verb());
    all.push_back(validate_pairs_verb());
    all.push_back(validate_plan_verb());
    all.push_back(validate_search_verb());
    all.push_back(validate_revocations_verb());
    all.push_back(validate_runs_verb());
    all.push_back(validate_schedules_verb());
    all.push_back(validate_survival_verb());
    all.push_back(validate_prices_verb());
    all.push_back(init_verb());
    for (Verb& verb : basic_verbs()) all.push_back(std::move(verb));
    // The verbs are ordered by group; the most used ones are first in each.
    std::ranges::stable_sort(all, {}, &Verb::group);
    return all;
  }();
  return kVerbs;
}

}  // namespace stint::cli
