#include "cli/verbs/risk_simulate_verb.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <memory>

namespace stint::cli {
namespace {

ExitCode code(Invocation invocation) {
  invocation.err = std::fopen("/dev/null", "w");
  invocation.out = std::fopen("/dev/null", "w");
  invocation.environment.clock = std::make_shared<FixedClock>(20772 * kDay);
  const ExitCode code = risk_simulate_verb().run(invocation);
  std::fclose(invocation.err);
  std::fclose(invocation.out);
  return code;
}

TEST(RiskSimulateVerb, EndsWithTheErrorsCode) {
  EXPECT_EQ(code({.options = {{"--runs", {"0"}}}}), kExitUsage);
  EXPECT_EQ(code({.options = {{"--plan", {"nowhere.json"}}}}), kExitBadInput);
}

}  // namespace
}  // namespace stint::cli
