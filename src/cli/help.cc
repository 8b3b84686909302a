#include "cli/help.h"

#include <algorithm>
#include <fmt/format.h>

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
    {1, "failed; also: the output could not be written"},
    {2, "usage: a flag, unit or name on the command line"},
    {4, "bad input file: missing, truncated, of another schema, or with a bad value"},
    {5, "a provider, credential or interpreter is missing"}};

struct Variable {
  const char* name;
  const char* meaning;
};

constexpr Variable kVariables[] = {
    {"XDG_DATA_HOME", "holds stint/catalogs, your own catalogues (default: ~/.local/share)"},
    {"NO_COLOR", "when set, no colours are used"},
    {"COLUMNS", "the width that tables may take"},
    {"STINT_NOW",
     "a time such as 2026-11-15T00:00:00Z at which to stop the clock, so that output "
     "repeats"}};

std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows) {
  constexpr int kWidest = 28;
  int left = 0;
  for (const auto& [name, text] : rows)
    left = std::max(left, std::min(display_width(name), kWidest));
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
  std::vector<std::pair<std::string, std::string>> rows;
  for (const ArgumentSpec& argument : verb.arguments) {
    rows.emplace_back(argument.name, with_choices(argument.help, argument.choices, ""));
  }
  if (!rows.empty()) text += "\nArguments:\n" + two_columns(rows);
  rows.clear();
  for (const OptionSpec& option : options_of(verb)) {
    rows.emplace_back(flag_text(option), with_choices(option.help, option.choices, option.value));
  }
  text += "\nFlags:\n" + two_columns(rows);
  text += "\nExamples:\n";
  for (const Example& example : verb.examples) {
    text += fmt::format("  {}\n      {}\n", example.command, example.what);
  }
  return text;
}

std::string list_help(std::span<const Verb> verbs, std::string_view group) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Verb& verb : verbs) {
    const bool inside = group.empty() || verb.path.starts_with(std::string(group) + " ");
    if (inside) rows.emplace_back(verb.path, verb.summary);
  }
  const std::string command = group.empty() ? "stint" : fmt::format("stint {}", group);
  std::string text;
  if (group.empty()) {
    text = "Stint tells people who train deep networks on rented machines which to rent.\n\n";
  }
  text += fmt::format("Usage: {} VERB [flags]\n\nVerbs:\n", command) + two_columns(rows);
  const std::string example = rows.empty() ? "" : rows[0].first;
  return text + fmt::format("\nHelp on one: stint {} --help\n", example);
}

/// Text that roff would take for a command or a hyphen to break at.
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
      ".TH STINT 1 \"\" \"stint {}\" \"User Commands\"\n.SH NAME\nstint \\- which machines to rent "
      "for training deep networks\n.SH SYNOPSIS\n\\fBstint\\fR \\fIVERB\\fR [flags]\n.SH VERBS\n",
      version);
  for (const Verb& verb : verbs) page += roff_verb(verb);
  page += ".SH \"EXIT STATUS\"\n";
  for (const ExitMeaning& exit : kExitMeanings) {
    page += roff_item(fmt::format("{}", exit.code), exit.meaning);
  }
  page += ".SH ENVIRONMENT\n";
  for (const Variable& variable : kVariables) page += roff_item(variable.name, variable.meaning);
  return page;
}

}  // namespace stint::cli
