#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

TEST(ValidatePairsVerb, SaysWhatItTakes) {
  const Verb verb = validate_pairs_verb();
  EXPECT_EQ(verb.path, "validate pairs");
  for (const char* name :
       {"--train", "--test", "--split", "--baseline", "--predictions", "--format"}) {
    EXPECT_TRUE(std::any_of(verb.options.begin(), verb.options.end(),
                            [&](const OptionSpec& option) { return option.name == name; }))
        << name;
  }
}

TEST(ValidatePairsVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(validate_pairs_verb().run(invocation), kExitUsage);
  invocation.options["--train"] = {"nowhere.csv"};
  invocation.options["--split"] = {"fifths"};
  EXPECT_EQ(validate_pairs_verb().run(invocation), kExitBadInput);
  std::fclose(invocation.err);
}

}  // namespace
}  // namespace stint::cli
