#include "cli/verbs/validate_runs_verb.h"

#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

namespace stint::cli {
namespace {

TEST(ValidateRunsVerb, SaysWhatItTakes) {
  const Verb verb = validate_runs_verb();
  EXPECT_EQ(verb.path, "validate runs");
  for (const char* name : {"--train", "--test", "--calibration", "--baseline", "--predictions"}) {
    EXPECT_TRUE(std::any_of(verb.options.begin(), verb.options.end(),
                            [&](const OptionSpec& option) { return option.name == name; }))
        << name;
  }
}

TEST(ValidateRunsVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(validate_runs_verb().run(invocation), kExitUsage);
  invocation.options["--train"] = {"nowhere.jsonl"};
  invocation.options["--test"] = {"nowhere.jsonl"};
  EXPECT_EQ(validate_runs_verb().run(invocation), kExitBadInput);
  std::fclose(invocation.err);
}

}  // namespace
}  // namespace stint::cli
