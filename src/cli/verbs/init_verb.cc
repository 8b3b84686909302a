#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "app/plan/plan_limits.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/project.h"
#include "cli/verbs/model_options.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "init";
constexpr int kColumns = 100;

constexpr const char* kHead =
    "# Settings of this folder for 'stint plan', 'run', 'search' and 'profile'.\n"
    "#\n"
    "# Each key sets the flag of the same name; a flag on the command line replaces it. Keys that\n"
    "# are commented out (#key) show an example. See docs/project-file.md.\n";

constexpr const char* kTail =
    "\n# Keys of one verb alone stand under its name, for example:\n"
    "#plan:\n"
    "#  objective: cost\n"
    "#search:\n"
    "#  target: steps=500\n"
    "#  max-cost: 20usd\n";

/// The flags of plan and search that are common keys of a project file.
std::vector<OptionSpec> key_options() {
  std::vector<OptionSpec> options;
  for (const Verb& verb : {plan_verbs().front(), search_verb()}) {
    for (const OptionSpec& option : verb.options) {
      const auto same = [&](const OptionSpec& it) { return it.name == option.name; };
      if (std::any_of(options.begin(), options.end(), same)) continue;
      const bool common =
          std::any_of(project_keys().begin(), project_keys().end(), [&](const ProjectKey& key) {
            return key.common && option.name == fmt::format("--{}", key.key);
          });
      if (common) options.push_back(option);
    }
  }
  return options;
}

/// Whether YAML reads `text` back without quotes.
bool is_plain(std::string_view text) {
  const auto safe = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_./%$+=<>-").find(c) != std::string_view::npos;
  };
  const bool starts =
      !text.empty() && std::string_view("-%=<>+").find(text[0]) == std::string_view::npos;
  return starts && std::all_of(text.begin(), text.end(), safe) && to_lower(text) != "null";
}

std::string scalar_text(const std::string& text) {
  return is_plain(text) ? text : to_text(Json(text), JsonStyle::kLine);
}

/// "a", or "[a, b]".
std::string value_text(const std::vector<std::string>& values, bool list) {
  std::vector<std::string> texts;
  for (const std::string& value : values) texts.push_back(scalar_text(value));
  return list || texts.size() > 1 ? "[" + join(texts, ", ") + "]" : join(texts, "");
}

/// A key with a comment before it.
std::string entry_text(const std::string& help, const std::string& line) {
  const std::string comment = wrapped(help, kColumns - 2, 0);
  std::string text = "\n";
  for (const std::string& part : split(comment, '\n')) text += "# " + part + "\n";
  return text + line + "\n";
}

Status check(const Invocation& invocation) {
  const auto job = job_text(invocation);
  if (!job.ok()) return job.error();
  const auto overrides = overrides_of(invocation);
  if (!overrides.ok()) return overrides.error();
  for (const std::string& text : invocation.list("--deadline")) {
    const auto deadline = parse_deadline(text, *invocation.environment.clock);
    if (!deadline.ok()) return deadline.error();
  }
  if (!invocation.has("--budget")) return {};
  const auto budget = parse_budget(invocation.get("--budget"));
  return budget.ok() ? Status() : Status(budget.error());
}

ExitCode init(const Invocation& invocation) {
  const Status right = check(invocation);
  if (!right.ok()) return report(invocation, kVerb, right.error());
  std::error_code ignored;
  const auto there = std::filesystem::symlink_status(kProjectFile, ignored);
  if (there.type() != std::filesystem::file_type::not_found) {
    return report(
        invocation, kVerb,
        bad_usage(fmt::format("{} is already there; edit it, or remove it first", kProjectFile)));
  }
  const Status written = write_output(kProjectFile, project_text(invocation));
  if (!written.ok()) return report(invocation, kVerb, written.error());
  const bool ready = invocation.has("--job") || invocation.has("--model");
  say(invocation,
      fmt::format("Wrote {}. {}", kProjectFile,
                  ready ? "Next: stint plan" : "Edit it: 'stint plan' needs a job or a model."));
  return kExitOk;
}

}  // namespace

std::string project_text(const Invocation& given) {
  const std::vector<OptionSpec> options = key_options();
  std::string text = kHead;
  for (const ProjectKey& key : project_keys()) {
    if (!key.common) continue;
    const std::string flag = fmt::format("--{}", key.key);
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const OptionSpec& it) { return it.name == flag; });
    const bool command = option == options.end();
    const std::vector<std::string> values = command ? given.arguments : given.list(flag);
    const std::string help =
        command ? "Training command, as a text or word by word. It runs only after a confirmation, "
                  "or with --yes."
                : option->help;
    text += entry_text(help, values.empty()
                                 ? fmt::format("#{}: {}", key.key, key.example)
                                 : fmt::format("{}: {}", key.key, value_text(values, command)));
  }
  return text + kTail;
}

Verb init_verb() {
  return {.path = kVerb,
          .group = VerbGroup::kSetup,
          .summary = "Write a project file for this folder.",
          .details =
              "Writes stint.yaml into the working folder, where 'stint plan', 'run', 'search' and "
              "'profile' read it: each key sets the flag of the same name, and a flag on the "
              "command line replaces it. Flags that are given here become its values; the other "
              "keys are commented out. An existing file is never replaced.",
          .arguments = {{.name = "COMMAND",
                         .help = "Training command, after --.",
                         .required = false,
                         .several = true}},
          .options = key_options(),
          .examples = {{"stint init", "A file with every key commented out."},
                       {"stint init --model llama-3-8b --method lora --tokens 100M --deadline 12h",
                        "A file for a fine-tune within 12 hours."}},
          .run = init};
}

}  // namespace stint::cli
