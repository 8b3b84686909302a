#include "cli/verbs/risk_replay_verb.h"

#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

namespace stint::cli {
namespace {

TEST(RiskReplayVerb, SaysWhatItTakes) {
  const Verb verb = risk_replay_verb();
  EXPECT_EQ(verb.path, "risk replay");
  for (const char* name : {"--trace", "--machines", "--work", "--deadline", "--changeover",
                           "--price-ratio", "--start", "--policy"}) {
    EXPECT_TRUE(std::any_of(verb.options.begin(), verb.options.end(),
                            [&](const OptionSpec& option) { return option.name == name; }))
        << name;
  }
}

TEST(RiskReplayVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(risk_replay_verb().run(invocation), kExitUsage);
  invocation.options["--trace"] = {"nowhere.json"};
  EXPECT_EQ(risk_replay_verb().run(invocation), kExitBadInput);
  invocation.options["--start"] = {"-1h"};
  EXPECT_EQ(risk_replay_verb().run(invocation), kExitUsage);
  std::fclose(invocation.err);
}

}  // namespace
}  // namespace stint::cli
