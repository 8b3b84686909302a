#include "cli/project.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/text.h"
#include "cli/parse.h"

namespace stint::cli {
namespace {

constexpr const char* kCommand = "command";

// Of the job that is trained: where the command line, or a section, names another job, none of
// these is of that one.
constexpr const char* kTraining[] = {
    "job",    "model",     "tokens",     "samples",     "epochs",
    "goal",   "seq",       "image",      "method",      "samples-per-epoch",
    kCommand, "precision", "eval-every", "train-batch", "recompute"};

// Flags that exclude each other.
constexpr std::pair<const char*, const char*> kRivals[] = {
    {"epochs", "goal"}, {"objective", "policy"}, {"plan", "cluster"}};

constexpr ProjectKey kKeys[] = {
    {"job", true, "job.json"},
    {"model", true, "llama-3-8b"},
    {"tokens", true, "100M"},
    {"samples", true, "50000"},
    {"epochs", true, "3"},
    {"samples-per-epoch", true, "1281167"},
    {"goal", true, "accuracy>=0.93"},
    {"seq", true, "2048"},
    {"image", true, "224"},
    {"precision", true, "bf16"},
    {"method", true, "lora:16"},
    {"recompute", true, "selective"},
    {"eval-every", true, "10000"},
    {"train-batch", true, "128"},
    {kCommand, true, "[/usr/bin/python3, train.py]"},
    {"deadline", true, "12h"},
    {"budget", true, "150usd"},
    {"confidence", true, "95%"},
    {"markets", true, "[on-demand, spot]"},
    {"providers", true, "[aws, gcp]"},
    {"regions", true, "[us-east-1]"},
    {"types", true, "[local.small, local.large]"},
    {"gpu", true, "[A100, H100]"},
    {"exclude", true, "[p4de.24xlarge]"},
    {"arch", true, "[amd64]"},
    {"quota", true, "[g5=32, \"p4d:spot=96\"]"},
    {"max-vms", true, "8"},
    {"calibration", true, "my-calibration.json"},
    {"batch", false, "256"},
    {"batch-flag", false, "--batch-size"},
    {"batches", false, "[16, 32, 64]"},
    {"checkpoints", false, "folder"},
    {"cluster", false, "4x local.large:spot"},
    {"compare", false, "8x p3.2xlarge"},
    {"compute", false, "real"},
    {"device", false, "Local-1x"},
    {"disable-pass", false, "[mixed]"},
    {"equal-shares", false, "true"},
    {"expect", false, "hazard:2h"},
    {"hang-limit", false, "5min"},
    {"keep-command", false, "true"},
    {"layout", false, "dp2 tp2 zero1"},
    {"life", false, "hazard:2h"},
    {"max-cost", false, "20usd"},
    {"max-time", false, "2h"},
    {"name", false, "my-job"},
    {"notice", false, "120s"},
    {"objective", false, "cost"},
    {"on", false, "local"},
    {"plan", false, "1"},
    {"policy", false, "cheapest-first"},
    {"probe-steps", false, "10"},
    {"receivers", false, "1"},
    {"rows", false, "10"},
    {"rule", false, "adascale"},
    {"save-every", false, "10min"},
    {"search-budget", false, "5%"},
    {"seed", false, "1"},
    {"start", false, "1x local.small"},
    {"steps", false, "500"},
    {"target", false, "steps=500"},
    {"tick", false, "10s"},
    {"timeout", false, "10min"},
    {"trace-speed", false, "1"},
    {"vm", false, "g4dn.xlarge"},
    {"vms", false, "[1, 2, 4]"},
    {"warmup", false, "5"},
    {"workers", false, "2"},
};

const ProjectKey* find_key(std::string_view key) {
  const auto* found = std::find_if(std::begin(kKeys), std::end(kKeys),
                                   [&](const ProjectKey& it) { return key == it.key; });
  return found == std::end(kKeys) ? nullptr : found;
}

const OptionSpec* find_option(const std::vector<OptionSpec>& options, std::string_view name) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const OptionSpec& it) { return it.name == name; });
  return found == options.end() ? nullptr : &*found;
}

std::string flag_of(std::string_view key) { return fmt::format("--{}", key); }

bool takes(const Verb& verb, std::string_view key) {
  if (key == kCommand) return !verb.arguments.empty();
  return find_option(verb.options, flag_of(key)) != nullptr;
}

/// The verbs that take values from a project file, by their names.
std::vector<std::string> sections_of(std::span<const Verb> verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) {
    if (verb.project) names.push_back(verb.path);
  }
  return names;
}

Error problem(const Project& project, const ProjectSetting& setting, std::string_view message) {
  return bad_input(fmt::format("{}: {}", to_text(project.file, setting.place), message));
}

/// Why `setting` is no key, with the nearest that is.
std::string unknown_key(std::span<const Verb> verbs, const ProjectSetting& setting) {
  for (const Verb& verb : verbs) {
    if (verb.project && find_option(options_of(verb), flag_of(setting.key)) != nullptr &&
        find_key(setting.key) == nullptr) {
      return fmt::format("'{}' is not taken from a file; give --{} on the command line",
                         setting.key, setting.key);
    }
  }
  std::vector<std::string> names;
  for (const ProjectKey& it : kKeys) {
    const bool in_section = std::any_of(verbs.begin(), verbs.end(), [&](const Verb& verb) {
      return verb.path == setting.section && takes(verb, it.key);
    });
    if (setting.section.empty() ? it.common : in_section) names.emplace_back(it.key);
  }
  constexpr std::size_t kSuggestions = 1;
  const std::string where =
      setting.section.empty() ? "a project file" : "'" + setting.section + "'";
  return fmt::format("'{}' is not a key of {}.{}", printable(setting.key), printable(where),
                     did_you_mean(nearest_names(setting.key, names, kSuggestions)));
}

/// Every key of the file is checked, whatever the verb: what is misspelt shows at once.
Status check_keys(const Project& project, std::span<const Verb> verbs) {
  const std::vector<std::string> sections = sections_of(verbs);
  for (const ProjectSetting& setting : project.settings) {
    const ProjectKey* key = find_key(setting.key);
    if (setting.section.empty()) {
      if (key == nullptr) return problem(project, setting, unknown_key(verbs, setting));
      if (key->common) continue;
      std::vector<std::string> homes;
      for (const Verb& verb : verbs) {
        if (verb.project && takes(verb, setting.key)) homes.push_back("'" + verb.path + ":'");
      }
      return problem(project, setting,
                     fmt::format("'{}' belongs under {}", setting.key, join(homes, " or ")));
    }
    const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& it) {
      return it.project && it.path == setting.section;
    });
    if (verb == verbs.end()) {
      return problem(project, setting,
                     fmt::format("'{}' is not a section of a project file, which are {}",
                                 printable(setting.section), join(sections, ", ")));
    }
    if (key == nullptr || !takes(*verb, setting.key)) {
      return problem(project, setting, unknown_key(verbs, setting));
    }
  }
  return {};
}

using Keys = std::set<std::string>;

/// Whether what was said before excludes `key`.
bool replaced(const Keys& said, const std::string& key) {
  if (said.contains(key)) return true;
  const bool other_job = said.contains("job") || said.contains("model");
  if (other_job &&
      std::find(std::begin(kTraining), std::end(kTraining), key) != std::end(kTraining)) {
    return true;
  }
  return std::any_of(std::begin(kRivals), std::end(kRivals), [&](const auto& rivals) {
    return (key == rivals.first && said.contains(rivals.second)) ||
           (key == rivals.second && said.contains(rivals.first));
  });
}

Keys said_by(const Invocation& invocation) {
  Keys said;
  for (const auto& [option, values] : invocation.options) said.insert(option.substr(2));
  if (!invocation.arguments.empty()) said.insert(kCommand);
  return said;
}

/// The values of a switch, or of a flag as the command line would read them.
Result<std::optional<std::vector<std::string>>> values_for(const OptionSpec& option,
                                                           const ProjectSetting& setting) {
  using Values = std::optional<std::vector<std::string>>;
  if (option.value.empty()) {
    const std::string& text = setting.values.front();
    if (setting.list || (text != "true" && text != "false")) {
      return bad_usage(fmt::format("{} must be true or false", setting.key));
    }
    return text == "true" ? Values(std::vector<std::string>()) : Values();
  }
  auto values = option_values(option, setting.values);
  if (!values.ok()) return values.error();
  return Values(std::move(*values));
}

Status set_command(const Project& project, const ProjectSetting& setting, Invocation& invocation) {
  auto words = setting.list ? Result(setting.values) : command_of(setting.values.front());
  if (!words.ok()) return problem(project, setting, "command: " + words.error().message);
  invocation.arguments = std::move(*words);
  invocation.project.command = true;
  return {};
}

Status set_option(const Project& project, const ProjectSetting& setting, const Verb& verb,
                  Invocation& invocation) {
  const OptionSpec* option = find_option(verb.options, flag_of(setting.key));
  auto values = values_for(*option, setting);
  if (!values.ok()) return problem(project, setting, values.error().message);
  if (!*values) return {};
  invocation.options[option->name] = std::move(**values);
  invocation.project.places[option->name] = setting.place;
  return {};
}

/// A plan has the job, the goal and the limits that it was made with.
bool has_plan(const Verb& verb, const Keys& said) {
  return takes(verb, "plan") && !said.contains("cluster");
}

}  // namespace

std::span<const ProjectKey> project_keys() { return kKeys; }

Status apply_project(const Project& project, std::span<const Verb> verbs, const Verb& verb,
                     Invocation& invocation) {
  const Status known = check_keys(project, verbs);
  if (!known.ok()) return known;
  for (const std::string& section : {verb.path, std::string()}) {
    const Keys said = said_by(invocation);
    for (const ProjectSetting& setting : project.settings) {
      if (setting.section != section || !takes(verb, setting.key)) continue;
      if (replaced(said, setting.key)) continue;
      const bool command = setting.key == kCommand;
      if (section.empty() && !command && has_plan(verb, said)) continue;
      const Status set = command ? set_command(project, setting, invocation)
                                 : set_option(project, setting, verb, invocation);
      if (!set.ok()) return set;
      invocation.project.file = project.file;
      invocation.project.keys.push_back(setting.key);
    }
  }
  return {};
}

Status take_project(const ProjectReader& reader, std::span<const Verb> verbs, const Verb& verb,
                    Invocation& invocation) {
  // What is resumed, and two runs that share machines, have their own plans and commands.
  const bool own = invocation.has("--resume") || invocation.has("--interleave");
  if (!reader || !verb.project || invocation.has("--no-project") || own) return {};
  const auto project = reader();
  if (!project.ok()) return project.error();
  return *project ? apply_project(**project, verbs, verb, invocation) : Status();
}

std::string project_note(const Invocation& invocation) {
  return fmt::format("Project file {}: {}; --no-project ignores it.",
                     printable(invocation.project.file), join(invocation.project.keys, ", "));
}

}  // namespace stint::cli
