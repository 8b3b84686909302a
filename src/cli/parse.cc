#include "cli/parse.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

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

Status check_arguments(const Verb& verb, const std::vector<std::string>& given) {
  const bool several = !verb.arguments.empty() && verb.arguments.back().several;
  if (given.size() > verb.arguments.size() && !several) {
    return bad_usage(fmt::format("unexpected argument '{}'. See 'stint {} --help'.",
                                 printable(given[verb.arguments.size()]), verb.path));
  }
  for (std::size_t i = 0; i < verb.arguments.size(); ++i) {
    const ArgumentSpec& argument = verb.arguments[i];
    if (i < given.size()) {
      const Status valid = check_choice(argument.name, argument.choices, given[i]);
      if (!valid.ok()) return valid;
    } else if (argument.required) {
      return bad_usage(fmt::format("{} is required: {} For example: {}", argument.name,
                                   argument.help, verb.examples[0].command));
    }
  }
  return {};
}

/// Reads the flags and arguments of one verb.
class FlagReader {
 public:
  FlagReader(const Verb& verb, const std::vector<std::string>& words)
      : verb_(verb), options_(options_of(verb)), words_(words) {}

  Status read(Invocation& invocation) {
    for (next_ = 0; next_ < words_.size();) {
      const std::string& word = words_[next_++];
      Status status;
      if (word == "--") {
        invocation.arguments.insert(invocation.arguments.end(), words_.begin() + offset(),
                                    words_.end());
        break;
      }
      if (word.starts_with("--")) {
        status = read_long(word);
      } else if (word.starts_with('-') && word.size() > 1) {
        status = read_letters(word);
      } else {
        invocation.arguments.push_back(word);
      }
      if (!status.ok()) return status;
    }
    return take_values(invocation);
  }

 private:
  std::ptrdiff_t offset() const { return static_cast<std::ptrdiff_t>(next_); }

  const OptionSpec* find(std::string_view name) const {
    const auto found =
        std::find_if(options_.begin(), options_.end(), [&](const OptionSpec& option) {
          return option.name == name || (!option.letter.empty() && option.letter == name);
        });
    return found == options_.end() ? nullptr : &*found;
  }

  Status read_long(std::string_view word) {
    const std::size_t equals = word.find('=');
    const OptionSpec* option = find(word.substr(0, equals));
    if (option == nullptr) return unknown_flag(verb_, word);
    if (equals == std::string_view::npos) return take(*option, std::nullopt);
    return take(*option, std::string(word.substr(equals + 1)));
  }

  /// "-qv" is two switches, "-ojson" a flag with its value.
  Status read_letters(std::string_view word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const OptionSpec* option = find(std::string{'-', word[i]});
      if (option == nullptr) return unknown_flag(verb_, word);
      if (!option->value.empty()) {
        const std::string rest(word.substr(i + 1));
        return take(*option, rest.empty() ? std::nullopt : std::optional(rest));
      }
      const Status taken = take(*option, std::nullopt);
      if (!taken.ok()) return taken;
    }
    return {};
  }

  /// Records the option with its value: the given one, or the next word.
  Status take(const OptionSpec& option, std::optional<std::string> value) {
    auto& values = values_[option.name];
    if (option.value.empty()) {
      if (value) return bad_usage(fmt::format("{} takes no value", option.name));
      return {};
    }
    const bool more =
        next_ < words_.size() && words_[next_] != "--" &&
        (option.dashes || (!words_[next_].starts_with("--") && find(words_[next_]) == nullptr));
    if (!value && more) {
      value = words_[next_++];
    }
    if (!value) {
      return bad_usage(fmt::format("{0} needs a value: {0} {1}", option.name, option.value));
    }
    values.push_back(std::move(*value));
    while (option.files && next_ < words_.size() && !words_[next_].starts_with('-')) {
      values.push_back(words_[next_++]);
    }
    return {};
  }

  Status take_values(Invocation& invocation) const {
    for (const auto& [name, given] : values_) {
      auto values = option_values(*find(name), given);
      if (!values.ok()) return values.error();
      invocation.options[name] = std::move(*values);
    }
    return {};
  }

  const Verb& verb_;
  std::vector<OptionSpec> options_;
  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
  std::map<std::string, std::vector<std::string>> values_;
};

bool asks_for_help(std::string_view word) { return word == "--help" || word == "-h"; }

}  // namespace

Result<std::vector<std::string>> option_values(const OptionSpec& option,
                                               const std::vector<std::string>& given) {
  if (!option.list && !option.files && !option.repeated && given.size() > 1) {
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

Result<Parsed> parse(std::span<const Verb> verbs, const std::vector<std::string>& words,
                     const ProjectReader& project) {
  Parsed parsed;
  std::vector<std::string> flags;
  std::size_t next = 0;
  for (; next < words.size() && find_verb(verbs, parsed.topic) == nullptr; ++next) {
    const std::string& word = words[next];
    if (word.starts_with('-')) {
      flags.push_back(word);
      continue;
    }
    const std::string longer = parsed.topic.empty() ? word : parsed.topic + " " + word;
    if (find_verb(verbs, longer) == nullptr && !is_group(verbs, longer)) {
      return unknown_verb(verbs, parsed.topic, word);
    }
    parsed.topic = longer;
  }
  const Verb* verb = find_verb(verbs, parsed.topic);
  if (verb == nullptr) {
    const auto other = std::find_if_not(flags.begin(), flags.end(), asks_for_help);
    if (other != flags.end()) {
      return bad_usage(
          fmt::format("'{}' needs a verb after it. See 'stint --help'.", printable(*other)));
    }
    parsed.help_asked = !flags.empty();
    return parsed;
  }
  flags.insert(flags.end(), words.begin() + static_cast<std::ptrdiff_t>(next), words.end());
  Status status = FlagReader(*verb, flags).read(parsed.invocation);
  parsed.help_asked = parsed.invocation.has("--help");
  if (status.ok() && !parsed.help_asked) {
    status = take_project(project, verbs, *verb, parsed.invocation);
  }
  if (status.ok() && !parsed.help_asked) {
    status = check_arguments(*verb, parsed.invocation.arguments);
  }
  if (!status.ok()) return status.error();
  if (!parsed.help_asked) parsed.verb = verb;
  return parsed;
}

}  // namespace stint::cli
