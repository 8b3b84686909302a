#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

TEST(ValidateCasesVerb, SaysWhatItTakes) {
  const Verb verb = validate_cases_verb();
  EXPECT_EQ(verb.path, "validate cases");
  for (const char* name : {"--train", "--test", "--calibration", "--baseline", "--predictions"}) {
    EXPECT_TRUE(std::any_of(verb.options.begin(), verb.options.end(),
                            [&](const OptionSpec& option) { return option.name == name; }))
        << name;
  }
}

TEST(ValidateCasesVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(validate_cases_verb().run(invocation), kExitUsage);
  invocation.options["--train"] = {"nowhere.csv"};
  EXPECT_EQ(validate_cases_verb().run(invocation), kExitBadInput);
  std::fclose(invocation.err);
}

}  // namespace
}  // namespace stint::cli
