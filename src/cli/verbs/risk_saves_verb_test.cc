#include <cstdio>
#include <gtest/gtest.h>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

TEST(RiskSavesVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(risk_saves_verb().run(invocation), kExitUsage);
  invocation.options["--vm"] = {"p4d.24xlarge"};
  invocation.options["--work"] = {"24"};
  EXPECT_EQ(risk_saves_verb().run(invocation), kExitUsage);
  invocation.options["--work"] = {"24h"};
  invocation.options["--bytes"] = {"0GB"};
  EXPECT_EQ(risk_saves_verb().run(invocation), kExitUsage);
  std::fclose(invocation.err);
}

}  // namespace
}  // namespace stint::cli
