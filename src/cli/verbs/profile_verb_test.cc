#include <cstdio>
#include <gtest/gtest.h>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

/// The exit code with these options in front of a command that cannot train.
ExitCode code_with(const std::map<std::string, std::vector<std::string>>& options) {
  Invocation invocation{.options = options, .arguments = {"python3", "/no/such/script.py"}};
  invocation.err = std::fopen("/dev/null", "w");
  const ExitCode code = profile_verb().run(invocation);
  std::fclose(invocation.err);
  return code;
}

TEST(ProfileVerb, EndsWithTheErrorsCode) {
  EXPECT_EQ(code_with({}), kExitBadInput);
  EXPECT_EQ(code_with({{"--steps", {"0"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--batches", {"8", "x"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--batch-flag", {"--b"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--batch-flag", {"--b"}}, {"--batches", {"own"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--batches", {"own", "8"}}}), kExitBadInput);
  EXPECT_EQ(code_with({{"--epochs", {"90"}}, {"--goal", {"samples=5"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--epochs", {"many"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--goal", {"90"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--samples-per-epoch", {"0"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--goal", {"accuracy>=0.9"}}, {"--name", {"cnn"}}}), kExitBadInput);
  EXPECT_EQ(code_with({{"--timeout", {"5"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--timeout", {"0s"}}}), kExitUsage);
}

}  // namespace
}  // namespace stint::cli
