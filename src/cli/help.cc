#include "cli/help.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "base/text.h"

namespace stint::cli {
namespace {

constexpr int kTextWidth = 80;

struct ExitMeaning {
  int code;
  const char* meaning;
};

constexpr ExitMeaning kExitMeanings[] = {
    {0, "done"},
    {1, "failure; also: the output cannot be written"},
    {2, "usage error: a flag, unit or name on the command line"},
    {4, "bad input file: missing, truncated, another schema or an invalid value"},
    {5, "a provider, credential or interpreter is missing"}};

struct Variable {
  const char* name;
  const char* meaning;
};

constexpr Variable kVariables[] = {
    {"XDG_DATA_HOME",
     "parent folder of stint/catalogs, the imported catalogues (default: ~/.local/share)"},
    {"NO_COLOR", "no colours when set"},
    {"COLUMNS", "width of tables"},
    {"STINT_NOW",
     "fixed time such as 2026-11-15T00:00:00Z instead of the clock, for repeatable output"}};

using Rows = std::vector<std::pair<std::string, std::string>>;

constexpr int kWidest = 28;

/// The width of the left column of these rows.
int left_width(const Rows& rows) {
  int left = 0;
  for (const auto& [name, text] : rows)
    left = std::max(left, std::min(display_width(name), kWidest));
  return left;
}

const char* title_of(VerbGroup group) {
  switch (group) {
    case VerbGroup::kPlan:
      return "Plan";
    case VerbGroup::kMeasure:
      return "Measure and calibrate";
    case VerbGroup::kRun:
      return "Run";
    case VerbGroup::kMachines:
      return "Machines and prices";
    case VerbGroup::kEvidence:
      return "Evidence";
    case VerbGroup::kSetup:
      return "Setup";
    case VerbGroup::kNone:
      break;
  }
  return "Other";
}

std::string two_columns(const Rows& rows, int left) {
  const int indent = left + 4;
  std::string lines;
  for (const auto& [name, text] : rows) {
    const std::string body = wrapped(text, kTextWidth, indent);
    if (display_width(name) > kWidest) {
      lines += fmt::format("  {}\n{:{}}{}\n", name, "", indent, body);
    } else {
      lines += fmt::format("  {:<{}}  {}\n", name, left, body);
    }
  }
  return lines;
}

std::string flag_text(const OptionSpec& option) {
  std::string text = option.letter.empty() ? option.name : option.letter + ", " + option.name;
  if (!option.value.empty()) text += " " + option.value;
  return text;
}

std::string usage_line(const Verb& verb) {
  std::string line = "stint " + verb.path;
  for (const ArgumentSpec& argument : verb.arguments) {
    line += argument.required ? " " + argument.name : " [" + argument.name + "]";
  }
  return line + " [flags]";
}

std::string with_choices(const std::string& help, const std::vector<std::string>& choices,
                         const std::string& shown) {
  if (choices.empty() || shown == join(choices, "|")) return help;
  return fmt::format("{} One of: {}.", help, join(choices, ", "));
}

std::string verb_help(const Verb& verb) {
  std::string text = fmt::format("{}\n\nUsage: {}\n", verb.summary, usage_line(verb));
  if (!verb.details.empty()) text += "\n" + wrapped(verb.details, kTextWidth, 0) + "\n";
  Rows rows;
  for (const ArgumentSpec& argument : verb.arguments) {
    rows.emplace_back(argument.name, with_choices(argument.help, argument.choices, ""));
  }
  if (!rows.empty()) text += "\nArguments:\n" + two_columns(rows, left_width(rows));
  rows.clear();
  for (const OptionSpec& option : options_of(verb)) {
    rows.emplace_back(flag_text(option), with_choices(option.help, option.choices, option.value));
  }
  text += "\nFlags:\n" + two_columns(rows, left_width(rows));
  text += "\nExamples:\n";
  for (const Example& example : verb.examples) {
    text += fmt::format("  {}\n      {}\n", example.command, example.what);
  }
  return text;
}

std::string list_help(std::span<const Verb> verbs, std::string_view prefix) {
  Rows all;
  std::map<VerbGroup, Rows> groups;
  for (const Verb& verb : verbs) {
    const bool inside = prefix.empty() || verb.path.starts_with(std::string(prefix) + " ");
    if (!inside) continue;
    all.emplace_back(verb.path, verb.summary);
    groups[verb.group].push_back(all.back());
  }
  const std::string command = prefix.empty() ? "stint" : fmt::format("stint {}", prefix);
  std::string text;
  if (prefix.empty()) {
    text = "Stint plans and runs deep-network training on rented machines.\n\n";
  }
  text += fmt::format("Usage: {} VERB [flags]\n", command);
  if (prefix.empty()) {
    for (const auto& [group, rows] : groups) {
      text += fmt::format("\n{}:\n", title_of(group)) + two_columns(rows, left_width(all));
    }
  } else {
    text += "\nVerbs:\n" + two_columns(all, left_width(all));
  }
  const std::string example = all.empty() ? "" : all[0].first;
  return text + fmt::format("\nHelp on one verb: stint {} --help\n", example);
}

/// Escapes text that roff would read as a command or a hyphen to break at.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  if (escaped.starts_with('.') || escaped.starts_with('\'')) escaped.insert(0, "\\&");
  return escaped;
}

std::string roff_item(const std::string& head, const std::string& body) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(head), roff(body));
}

std::string roff_verb(const Verb& verb) {
  std::string text = fmt::format(".SS \"{}\"\n{}\n", roff(usage_line(verb)), roff(verb.summary));
  if (!verb.details.empty()) text += ".PP\n" + roff(verb.details) + "\n";
  for (const ArgumentSpec& argument : verb.arguments) {
    text += roff_item(argument.name, with_choices(argument.help, argument.choices, ""));
  }
  for (const OptionSpec& option : options_of(verb)) {
    text += roff_item(flag_text(option), with_choices(option.help, option.choices, option.value));
  }
  for (const Example& example : verb.examples) {
    text += fmt::format(".PP\n{}\n.PP\n.RS\n.nf\n{}\n.fi\n.RE\n", roff(example.what),
                        roff(example.command));
  }
  return text;
}

}  // namespace

std::string help_text(std::span<const Verb> verbs, std::string_view topic) {
  for (const Verb& verb : verbs) {
    if (verb.path == topic) return verb_help(verb);
  }
  return list_help(verbs, topic);
}

std::string manual_page(std::span<const Verb> verbs, std::string_view version) {
  std::string page = fmt::format(
      ".TH STINT 1 \"\" \"stint {}\" \"User Commands\"\n.SH NAME\nstint \\- plan and run "
      "deep\\-network training on rented machines\n.SH SYNOPSIS\n\\fBstint\\fR \\fIVERB\\fR "
      "[flags]\n",
      version);
  std::optional<VerbGroup> group;
  for (const Verb& verb : verbs) {
    if (group != verb.group) page += fmt::format(".SH \"VERBS: {}\"\n", title_of(verb.group));
    group = verb.group;
    page += roff_verb(verb);
  }
  page += ".SH \"EXIT STATUS\"\n";
  for (const ExitMeaning& exit : kExitMeanings) {
    page += roff_item(fmt::format("{}", exit.code), exit.meaning);
  }
  page += ".SH ENVIRONMENT\n";
  for (const Variable& variable : kVariables) page += roff_item(variable.name, variable.meaning);
  return page;
}

}  // namespace stint::cli
