#include <gtest/gtest.h>
#include <set>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

const Verb& verb_called(const std::vector<Verb>& verbs, const std::string& path) {
  for (const Verb& verb : verbs) {
    if (verb.path == path) return verb;
  }
  ADD_FAILURE() << path;
  return verbs[0];
}

TEST(LocalVerbs, ThereAreNineOfThem) {
  std::set<std::string> paths;
  for (const Verb& verb : local_verbs()) paths.insert(verb.path);
  EXPECT_EQ(paths, (std::set<std::string>{"local add", "local clean", "local down", "local exec",
                                          "local list", "local preempt", "local release",
                                          "local reshape", "local up"}));
}

TEST(LocalVerbs, WrongFlagsAreUsageErrors) {
  const std::vector<Verb> verbs = local_verbs();
  Invocation invocation{.err = std::tmpfile()};
  EXPECT_EQ(verb_called(verbs, "local up").run(invocation), kExitUsage);
  invocation.options = {{"--cluster", {"local.small"}}, {"--quota", {"half"}}};
  EXPECT_EQ(verb_called(verbs, "local up").run(invocation), kExitUsage);
  invocation.options = {{"--cluster", {"local.small"}}, {"--notice", {"120"}}};
  EXPECT_EQ(verb_called(verbs, "local up").run(invocation), kExitUsage);
  invocation.options = {{"--notice", {"-1s"}}};
  invocation.arguments = {"vm1"};
  EXPECT_EQ(verb_called(verbs, "local preempt").run(invocation), kExitUsage);
  invocation.options = {};
  invocation.arguments = {"vm1", "30"};
  EXPECT_EQ(verb_called(verbs, "local reshape").run(invocation), kExitUsage);
  invocation.arguments = {"vm_1", "local.small"};
  EXPECT_EQ(verb_called(verbs, "local add").run(invocation), kExitUsage);
  std::fclose(invocation.err);
}

}  // namespace
}  // namespace stint::cli
