#include <cstdio>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

/// The exit code with these options, none of which let it begin.
ExitCode code_with(const std::map<std::string, std::vector<std::string>>& options) {
  Invocation invocation{.options = options};
  invocation.err = std::fopen("/dev/null", "w");
  const ExitCode code = agent_verb().run(invocation);
  std::fclose(invocation.err);
  return code;
}

TEST(AgentVerb, EndsWithTheErrorsCode) {
  EXPECT_EQ(code_with({{"--attach", {"a"}}, {"--serve", {"b"}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--attach", {""}}}), kExitUsage);
  EXPECT_EQ(code_with({{"--serve", {""}}}), kExitUsage);
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string file = folder->path() + "/file";
  ASSERT_TRUE(write_file(file, "").ok());
  EXPECT_EQ(code_with({{"--serve", {file + "/folder"}}}), kExitFailed);
}

}  // namespace
}  // namespace stint::cli
