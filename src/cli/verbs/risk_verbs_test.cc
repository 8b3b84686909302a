#include "cli/verbs/risk_verbs.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <memory>

namespace stint::cli {
namespace {

const Verb& verb(const std::string& path) {
  static const std::vector<Verb> kVerbs = risk_verbs();
  for (const Verb& it : kVerbs) {
    if (it.path == path) return it;
  }
  ADD_FAILURE() << path;
  return kVerbs.front();
}

ExitCode code(const std::string& path, Invocation invocation) {
  invocation.err = std::fopen("/dev/null", "w");
  invocation.out = std::fopen("/dev/null", "w");
  invocation.environment.clock = std::make_shared<FixedClock>(20772 * kDay);
  const ExitCode code = verb(path).run(invocation);
  std::fclose(invocation.err);
  std::fclose(invocation.out);
  return code;
}

TEST(RiskVerbs, EndWithTheErrorsCode) {
  EXPECT_EQ(code("risk fit", {.arguments = {"nowhere.csv"}}), kExitBadInput);
  EXPECT_EQ(code("risk fit", {.options = {{"--gap", {"0 s"}}}, .arguments = {"a.csv"}}),
            kExitUsage);
  EXPECT_EQ(code("risk fit", {.options = {{"--machines", {"0"}}}, .arguments = {"a.csv"}}),
            kExitUsage);
  EXPECT_EQ(code("risk survive", {}), kExitUsage);
  EXPECT_EQ(code("risk survive", {.options = {{"--vm", {"p4d.24xlarge"}}}}), kExitUsage);
  EXPECT_EQ(code("risk survive", {.options = {{"--vm", {"p4d.24xlarge"}}, {"--for", {"4"}}}}),
            kExitUsage);
}

TEST(RiskVerbs, SurvivePrintsTextAndJson) {
  EXPECT_EQ(code("risk survive", {.options = {{"--vm", {"p4d.24xlarge"}}, {"--for", {"4h"}}}}),
            kExitOk);
  EXPECT_EQ(
      code("risk survive",
           {.options = {{"--vm", {"p4d.24xlarge"}}, {"--for", {"4h"}}, {"--output", {"json"}}}}),
      kExitOk);
}

}  // namespace
}  // namespace stint::cli
