#include "cli/verbs/validate_revocations_verb.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <memory>

namespace stint::cli {
namespace {

ExitCode code(Invocation invocation) {
  invocation.err = std::fopen("/dev/null", "w");
  invocation.out = std::fopen("/dev/null", "w");
  invocation.environment.clock = std::make_shared<FixedClock>(20772 * kDay);
  const ExitCode code = validate_revocations_verb().run(invocation);
  std::fclose(invocation.err);
  std::fclose(invocation.out);
  return code;
}

TEST(ValidateRevocationsVerb, EndsWithTheErrorsCode) {
  EXPECT_EQ(code({}), kExitUsage);
  EXPECT_EQ(code({.options = {{"--job", {"example-resnet50"}}, {"--budget", {"many"}}}}),
            kExitUsage);
  EXPECT_EQ(code({.options = {{"--job", {"example-resnet50"}}, {"--deadline", {"soon"}}}}),
            kExitUsage);
  EXPECT_EQ(code({.options = {{"--job", {"example-resnet50"}}, {"--max-vms", {"0"}}}}), kExitUsage);
  EXPECT_EQ(code({.options = {{"--job", {"no-such-job"}}}}), kExitBadInput);
}

TEST(ValidateRevocationsVerb, PrintsTextAndJson) {
  const std::map<std::string, std::vector<std::string>> options = {{"--job", {"example-resnet50"}},
                                                                   {"--budget", {"9usd/h"}},
                                                                   {"--runs", {"2"}},
                                                                   {"--max-vms", {"1"}}};
  EXPECT_EQ(code({.options = options}), kExitOk);
  auto as_json = options;
  as_json["--output"] = {"json"};
  EXPECT_EQ(code({.options = as_json}), kExitOk);
}

}  // namespace
}  // namespace stint::cli
