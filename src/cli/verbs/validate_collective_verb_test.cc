#include "cli/verbs/validate_collective_verb.h"

#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

namespace stint::cli {
namespace {

TEST(ValidateCollectiveVerb, SaysWhatItTakes) {
  const Verb verb = validate_collective_verb();
  EXPECT_EQ(verb.path, "validate collective");
  for (const char* name : {"--train", "--test", "--split", "--baseline", "--predictions"}) {
    EXPECT_TRUE(std::any_of(verb.options.begin(), verb.options.end(),
                            [&](const OptionSpec& option) { return option.name == name; }))
        << name;
  }
}

TEST(ValidateCollectiveVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(validate_collective_verb().run(invocation), kExitUsage);
  invocation.options["--train"] = {"nowhere.csv"};
  invocation.options["--test"] = {"nowhere.csv"};
  EXPECT_EQ(validate_collective_verb().run(invocation), kExitBadInput);
  std::fclose(invocation.err);
}

}  // namespace
}  // namespace stint::cli
