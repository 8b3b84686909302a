#include "cli/verbs/receive_verb.h"

#include <cstdio>
#include <gtest/gtest.h>

namespace stint::cli {
namespace {

/// The exit code with these options, none of which let it begin.
ExitCode code_with(const std::map<std::string, std::vector<std::string>>& options) {
  Invocation invocation{.options = options};
  invocation.err = std::fopen("/dev/null", "w");
  const ExitCode code = receive_verb().run(invocation);
  std::fclose(invocation.err);
  return code;
}

TEST(ReceiveVerb, EndsWithTheErrorsCode) {
  EXPECT_EQ(code_with({}), kExitUsage);
  EXPECT_EQ(code_with({{"--folder", {"f"}}}), kExitUsage);
  for (const char* port : {"", "-1", "65536", "http", "1.5"}) {
    EXPECT_EQ(code_with({{"--folder", {"f"}}, {"--port", {port}}}), kExitUsage) << port;
  }
  for (const char* memory : {"", "0 GiB", "4", "-1 GiB", "much"}) {
    EXPECT_EQ(code_with({{"--folder", {"f"}}, {"--port", {"0"}}, {"--memory", {memory}}}),
              kExitUsage)
        << memory;
  }
}

}  // namespace
}  // namespace stint::cli
