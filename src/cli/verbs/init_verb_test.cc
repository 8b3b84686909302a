#include <algorithm>
#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/parse.h"
#include "cli/project.h"
#include "cli/verbs.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

/// The text with every key that is commented out as if it were not. Prose has one space after #.
std::string uncommented(const std::string& text) {
  std::string bare;
  for (const std::string_view line : split(text, '\n')) {
    const bool key = line.starts_with("#") && (!line.starts_with("# ") || line.starts_with("#  "));
    bare += std::string(key ? line.substr(1) : line) + "\n";
  }
  return bare;
}

TEST(Init, ANewFileSetsNothing) {
  const auto project = parse_project(project_text({}), "stint.yaml");
  ASSERT_TRUE(project.ok()) << project.error().message;
  EXPECT_TRUE(project->settings.empty());
}

// 25 common keys, and three of sections.
TEST(Init, EveryKeyThatIsCommentedOutIsOne) {
  const auto project = parse_project(uncommented(project_text({})), "stint.yaml");
  ASSERT_TRUE(project.ok()) << project.error().message;
  std::size_t common = 0;
  for (const ProjectKey& key : project_keys()) common += key.common ? 1 : 0;
  EXPECT_EQ(project->settings.size(), common + 3);
  for (const Verb& verb : verbs()) {
    if (!verb.project) continue;
    Invocation invocation;
    const Status taken = apply_project(*project, verbs(), verb, invocation);
    EXPECT_TRUE(taken.ok()) << taken.error().message;
  }
}

TEST(Init, WhatIsGivenReadsBack) {
  const std::vector<std::string> command = {"python3", "my train.py", "--lr", "\"#\": x", "null"};
  const Invocation given{.options = {{"--model", {"llama-3-8b"}},
                                     {"--budget", {"$20"}},
                                     {"--quota", {"g5=32", "p4d:spot=96"}},
                                     {"--deadline", {"2d 3h"}}},
                         .arguments = command};
  const auto project = parse_project(project_text(given), "stint.yaml");
  ASSERT_TRUE(project.ok()) << project.error().message;
  Invocation read;
  const auto verb = std::find_if(verbs().begin(), verbs().end(),
                                 [](const Verb& it) { return it.path == "plan"; });
  ASSERT_TRUE(apply_project(*project, verbs(), *verb, read).ok());
  EXPECT_EQ(read.options, given.options);
  EXPECT_EQ(read.arguments, command);
}

}  // namespace
}  // namespace stint::cli
