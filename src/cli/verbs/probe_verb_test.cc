#include <gtest/gtest.h>

#include "base/clock.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

using Options = std::map<std::string, std::vector<std::string>>;

ExitCode code_of(Options options) {
  Invocation invocation{
      .options = std::move(options), .out = std::tmpfile(), .err = std::tmpfile()};
  invocation.environment.clock = std::make_shared<FixedClock>(Seconds{});
  const ExitCode code = probe_network_verb().run(invocation);
  std::fclose(invocation.out);
  std::fclose(invocation.err);
  return code;
}

TEST(ProbeVerb, ADryRunMakesNothing) {
  EXPECT_EQ(code_of({{"--cluster", {"4x local.large"}}, {"--dry-run", {}}}), kExitOk);
}

TEST(ProbeVerb, WrongFlagsAreUsageErrors) {
  EXPECT_EQ(code_of({}), kExitUsage);
  const auto with = [](const std::string& option, const std::string& value) {
    return code_of({{"--cluster", {"4x local.large"}}, {"--dry-run", {}}, {option, {value}}});
  };
  EXPECT_EQ(with("--sizes", "many"), kExitUsage);
  EXPECT_EQ(with("--sizes", "2B"), kExitUsage);
  EXPECT_EQ(with("--vms", "two"), kExitUsage);
  EXPECT_EQ(with("--vms", "5"), kExitUsage);
  EXPECT_EQ(with("--rounds", "0"), kExitUsage);
  EXPECT_EQ(with("--every", "-1s"), kExitUsage);
  EXPECT_EQ(code_of({{"--cluster", {"local.large"}}}), kExitUsage);
  EXPECT_EQ(code_of({{"--cluster", {"2x local.nothing"}}}), kExitUsage);
}

}  // namespace
}  // namespace stint::cli
