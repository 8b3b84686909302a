#include "cli/completion.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "base/check.h"
#include "base/text.h"

namespace stint::cli {
namespace {

/// The words that may follow a path of verbs ("" for the first word): words, flags, and the choices
/// of each flag with a value.
struct Stage {
  std::vector<std::string> words;  // In the order of the table of verbs.
  std::vector<std::string> flags;
  std::map<std::string, std::vector<std::string>> choices;  // By flag, "-o" as well.
};

void add_word(const std::string& word, Stage& stage) {
  const auto found = std::find(stage.words.begin(), stage.words.end(), word);
  if (found == stage.words.end()) stage.words.push_back(word);
}

void add_verb(const Verb& verb, std::map<std::string, Stage>& stages) {
  std::string path;
  for (const std::string& word : split(verb.path, ' ')) {
    add_word(word, stages[path]);
    path += (path.empty() ? "" : " ") + word;
  }
  Stage& stage = stages[path];
  for (const ArgumentSpec& argument : verb.arguments) {
    for (const std::string& choice : argument.choices) add_word(choice, stage);
  }
  for (const OptionSpec& option : options_of(verb)) {
    stage.flags.push_back(option.name);
    if (option.value.empty()) continue;
    stage.choices[option.name] = option.choices;
    if (!option.letter.empty()) stage.choices[option.letter] = option.choices;
  }
}

std::map<std::string, Stage> stages_of(std::span<const Verb> verbs) {
  std::map<std::string, Stage> stages;
  for (const Verb& verb : verbs) add_verb(verb, stages);
  return stages;
}

/// The case arms of the shell function: for the path so far and a flag before the cursor, the words
/// to offer; flags are offered once a dash is typed, so that an empty offer leaves room for files.
std::string bash_arms(const std::map<std::string, Stage>& stages) {
  std::string arms;
  for (const auto& [path, stage] : stages) {
    for (const auto& [flag, choices] : stage.choices) {
      arms += fmt::format("    \"{}:{}\") offer=\"{}\" ;;\n", path, flag, join(choices, " "));
    }
    arms += fmt::format("    \"{}:\"*) offer=\"{}\" flags=\"{}\" ;;\n", path,
                        join(stage.words, " "), join(stage.flags, " "));
  }
  return arms;
}

/// A case pattern of all paths that are verbs or groups, to know where the path ends.
std::string known_paths(const std::map<std::string, Stage>& stages) {
  std::vector<std::string> paths;
  for (const auto& [path, stage] : stages) {
    if (!path.empty()) paths.push_back("\"" + path + "\"");
  }
  return join(paths, "|");
}

/// The function that bash and zsh share. It follows the verbs up to the cursor, then offers the
/// next words; the two differ in the names of the words and the way to return the offer.
constexpr const char* kFunction = R"(_stint() {{
  local word verb="" last="" offer="" flags="" i
  for ((i = {first}; i < {cursor}; i++)); do
    word="${{{words}[i]}}"
    case "${{verb:+$verb }}$word" in
    {paths}) verb="${{verb:+$verb }}$word" ;;
    esac
    last="$word"
  done
  case "$last" in -*) ;; *) last="" ;; esac
  case "$verb:$last" in
{arms}  esac
  case "${{{words}[{cursor}]}}" in -*) offer="$flags" ;; esac
  {hand_over}
}}
)";

/// The shell-specific code around the function.
struct Shell {
  const char* head;
  const char* words;
  const char* first;  // Index of the first word after "stint".
  const char* cursor;
  const char* hand_over;
  const char* tail;
};

constexpr Shell kBash{
    .head = "# bash completion for stint; made by 'stint completion bash'\n",
    .words = "COMP_WORDS",
    .first = "1",
    .cursor = "COMP_CWORD",
    .hand_over = R"(COMPREPLY=($(compgen -W "$offer" -- "${COMP_WORDS[COMP_CWORD]}")))",
    .tail = "complete -o default -o nosort -F _stint stint\n"};

constexpr Shell kZsh{
    .head = "#compdef stint\n# zsh completion for stint; made by 'stint completion zsh'\n",
    .words = "words",
    .first = "2",
    .cursor = "CURRENT",
    .hand_over = R"(if [[ -n "$offer" ]]; then compadd -V stint -- ${=offer}; else _files; fi)",
    .tail =
        "if [[ \"$funcstack[1]\" = _stint ]]; then _stint \"$@\"; else compdef _stint stint; fi\n"};

std::string shell_script(std::span<const Verb> verbs, const Shell& shell) {
  const auto stages = stages_of(verbs);
  const std::string function = fmt::format(
      fmt::runtime(kFunction), fmt::arg("first", shell.first), fmt::arg("cursor", shell.cursor),
      fmt::arg("words", shell.words), fmt::arg("paths", known_paths(stages)),
      fmt::arg("arms", bash_arms(stages)), fmt::arg("hand_over", shell.hand_over));
  return shell.head + function + shell.tail;
}

std::string fish_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

/// The fish condition that the words so far are exactly this path.
std::string fish_condition(const std::string& path, const std::vector<std::string>& next) {
  std::string condition = "__fish_use_subcommand";
  if (!path.empty()) {
    std::vector<std::string> seen;
    for (const std::string& word : split(path, ' ')) {
      seen.push_back("__fish_seen_subcommand_from " + word);
    }
    condition = join(seen, "; and ");
    if (!next.empty()) condition += "; and not __fish_seen_subcommand_from " + join(next, " ");
  }
  return fish_quoted(condition);
}

std::string fish_script(std::span<const Verb> verbs) {
  std::string script = "# fish completion for stint; made by 'stint completion fish'\n";
  for (const auto& [path, stage] : stages_of(verbs)) {
    const std::string condition = fish_condition(path, stage.words);
    if (stage.words.empty()) continue;
    script += fmt::format("complete -c stint -f -k -n {} -a {}\n", condition,
                          fish_quoted(join(stage.words, " ")));
  }
  for (const Verb& verb : verbs) {
    const std::string condition = fish_condition(verb.path, {});
    for (const OptionSpec& option : options_of(verb)) {
      script += fmt::format("complete -c stint -n {} -l {}", condition, option.name.substr(2));
      if (!option.letter.empty()) script += fmt::format(" -s {}", option.letter.substr(1));
      if (!option.value.empty()) script += " -r";
      if (!option.choices.empty())
        script += fmt::format(" -f -a {}", fish_quoted(join(option.choices, " ")));
      script += fmt::format(" -d {}\n", fish_quoted(option.help));
    }
  }
  return script;
}

}  // namespace

std::string completion_script(std::span<const Verb> verbs, std::string_view shell) {
  if (shell == "fish") return fish_script(verbs);
  CHECK(shell == "bash" || shell == "zsh");
  return shell_script(verbs, shell == "bash" ? kBash : kZsh);
}

}  // namespace stint::cli
