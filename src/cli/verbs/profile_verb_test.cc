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

TEST(ProfileVerb, RefusesWhatCannotBePredicted) {
  EXPECT_EQ(code_with({{"--for", {"A100", "H100"}}}), kExitBadInput);  // There is no script.
  EXPECT_EQ(code_with({{"--for", {"A10O"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--for", {"V100"}}, {"--precision", {"bf16"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--for", {"V100"}}, {"--precision", {"mixed"}}}), kExitBadInput);
  EXPECT_EQ(code_with({{"--for", {"all"}}, {"--precision", {"fp8"}}}), kExitBadInput);
  EXPECT_EQ(code_with({{"--precision", {"bf16"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--for", {"A100"}}, {"--workers", {"2"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--for", {"A100"}}, {"--device", {"x"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--for", {"A100"}}, {"--batches", {"1", "2", "4"}}}), kExitUsage);
}

}  // namespace
}  // namespace stint::cli
