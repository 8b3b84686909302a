#include "cli/parse.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "base/text.h"

namespace stint::cli {
namespace {

constexpr std::size_t kSuggestions = 2;

bool begins_with_word(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == ' ');
}

const Verb* find_verb(std::span<const Verb> verbs, std::string_view path) {
  const auto found =
      std::find_if(verbs.begin(), verbs.end(), [&](const Verb& verb) { return verb.path == path; });
  return found == verbs.end() ? nullptr : &*found;
}

bool is_group(std::span<const Verb> verbs, std::string_view path) {
  return std::any_of(verbs.begin(), verbs.end(), [&](const Verb& verb) {
    return verb.path != path && begins_with_word(verb.path, path);
  });
}

/// The words that may follow `group` ("" for the first word).
std::vector<std::string> words_after(std::span<const Verb> verbs, std::string_view group) {
  std::vector<std::string> words;
  for (const Verb& verb : verbs) {
    if (!group.empty() && !begins_with_word(verb.path, group)) continue;
    const std::string_view rest = trim_left(std::string_view(verb.path).substr(group.size()));
    words.emplace_back(rest.substr(0, rest.find(' ')));
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

Error unknown_verb(std::span<const Verb> verbs, std::string_view group, std::string_view word) {
  const auto known = words_after(verbs, group);
  const std::string help = did_you_mean(nearest_names(word, known, kSuggestions));
  const std::string command = group.empty() ? "stint" : fmt::format("stint {}", group);
  return bad_usage(fmt::format("'{}' is not a verb of {}.{}", printable(word), command,
                               help.empty() ? fmt::format(" See '{} --help'.", command) : help));
}

Error unknown_flag(const Verb& verb, std::string_view flag) {
  const std::string name(flag.substr(0, flag.find('=')));
  std::vector<std::string> names;
  for (const OptionSpec& option : options_of(verb)) names.push_back(option.name);
  const std::string help = did_you_mean(nearest_names(name, names, kSuggestions));
  return bad_usage(
      fmt::format("'{}' is not a flag of this verb.{}", printable(name),
                  help.empty() ? fmt::format(" See 'stint {} --help'.", verb.path) : help));
}

Status check_choice(std::string_view what, const std::vector<std::string>& choices,
                    const std::string& value) {
  if (choices.empty()) return {};
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return {};
  return bad_usage(fmt::format("{} must be one of {}, not '{}'.{}", what, join(choices, ", "),
                               printable(value),
                               did_you_mean(nearest_names(value, choices, kSuggestions))));
}

/// Splits the values of a list option and checks them against its choices.
Result<std::vector<std::string>> values_of(const OptionSpec& option,
                                           const std::vector<std::string>& given) {
  if (!option.list && given.size() > 1) {
    return bad_usage(fmt::format("{} is given {} times; give it once", option.name, given.size()));
  }
  std::vector<std::string> values;
  for (const std::string& text : given) {
    const auto parts = option.list ? split(text, ',') : std::vector<std::string>{text};
    for (const std::string& part : parts) {
      if (part.empty()) return bad_usage(fmt::format("{} needs a value", option.name));
      const Status valid = check_choice(option.name, option.choices, part);
      if (!valid.ok()) return valid.error();
      values.push_back(part);
    }
  }
  return values;
}

Status check_arguments(const Verb& verb, const std::vector<std::string>& given) {
  if (given.size() > verb.arguments.size()) {
    return bad_usage(fmt::format("'{}' is one word too many. See 'stint {} --help'.",
                                 printable(given[verb.arguments.size()]), verb.path));
  }
  for (std::size_t i = 0; i < verb.arguments.size(); ++i) {
    const ArgumentSpec& argument = verb.arguments[i];
    if (i < given.size()) {
      const Status valid = check_choice(argument.name, argument.choices, given[i]);
      if (!valid.ok()) return valid;
    } else if (argument.required) {
      return bad_usage(fmt::format("{} is missing: {} For example: {}", argument.name,
                                   argument.help, verb.examples[0].command));
    }
  }
  return {};
}

/// A flag of the verb and what CLI11 found behind it.
struct Slot {
  OptionSpec spec;
  std::vector<std::string> values = {};
  CLI::Option* option = nullptr;
};

void add_options(CLI::App& app, std::vector<Slot>& slots) {
  for (Slot& slot : slots) {
    const std::string names =
        slot.spec.letter.empty() ? slot.spec.name : slot.spec.letter + "," + slot.spec.name;
    if (slot.spec.value.empty()) {
      slot.option = app.add_flag(names);
    } else {
      slot.option = app.add_option(names, slot.values)
                        ->expected(1)
                        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }
}

/// CLI11 says which flag lacks its value only in words of its own.
Error missing_value(const std::vector<Slot>& slots, const std::string& complaint) {
  for (const Slot& slot : slots) {
    if (complaint.find(slot.spec.name) != std::string::npos) {
      return bad_usage(
          fmt::format("{} needs a value: {} {}", slot.spec.name, slot.spec.name, slot.spec.value));
    }
  }
  return bad_usage(complaint);
}

Status take_options(std::vector<Slot>& slots, Invocation& invocation) {
  for (Slot& slot : slots) {
    if (slot.option->count() == 0) continue;
    auto values = values_of(slot.spec, slot.values);
    if (!values.ok()) return values.error();
    invocation.options[slot.spec.name] = std::move(*values);
  }
  return {};
}

Status parse_flags(const Verb& verb, std::vector<std::string> words, Invocation& invocation) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<Slot> slots;
  for (OptionSpec& spec : options_of(verb)) slots.push_back({.spec = std::move(spec)});
  add_options(app, slots);
  const auto end = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> after(end == words.end() ? end : end + 1, words.end());
  words.erase(end, words.end());
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes words from the back.
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return missing_value(slots, error.what());
  }
  for (std::string& word : app.remaining()) {
    if (word.size() > 1 && word[0] == '-') return unknown_flag(verb, word);
    invocation.arguments.push_back(std::move(word));
  }
  invocation.arguments.insert(invocation.arguments.end(), after.begin(), after.end());
  const Status taken = take_options(slots, invocation);
  if (!taken.ok() || invocation.has("--help")) return taken;
  return check_arguments(verb, invocation.arguments);
}

bool asks_for_help(std::string_view word) { return word == "--help" || word == "-h"; }

}  // namespace

Result<Parsed> parse(std::span<const Verb> verbs, const std::vector<std::string>& words) {
  Parsed parsed;
  std::string path;
  std::size_t next = 0;
  for (; next < words.size() && find_verb(verbs, path) == nullptr; ++next) {
    const std::string& word = words[next];
    if (asks_for_help(word)) break;
    const std::string longer = path.empty() ? word : path + " " + word;
    if (find_verb(verbs, longer) == nullptr && !is_group(verbs, longer)) {
      return unknown_verb(verbs, path, word);
    }
    path = longer;
  }
  parsed.topic = path;
  const Verb* verb = find_verb(verbs, path);
  if (verb == nullptr) return parsed;
  const std::vector<std::string> rest(words.begin() + static_cast<std::ptrdiff_t>(next),
                                      words.end());
  const Status flags = parse_flags(*verb, rest, parsed.invocation);
  if (!flags.ok()) return flags.error();
  if (!parsed.invocation.has("--help")) parsed.verb = verb;
  return parsed;
}

}  // namespace stint::cli
