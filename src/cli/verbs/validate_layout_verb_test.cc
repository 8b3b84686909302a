#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

TEST(ValidateLayoutVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(validate_layout_verb().run(invocation), kExitUsage);
  invocation.options["--format"] = {"vtrain"};
  invocation.options["--train"] = {"nowhere.csv"};
  invocation.options["--split"] = {"leave-one-job-out"};
  EXPECT_EQ(validate_layout_verb().run(invocation), kExitBadInput);
  std::fclose(invocation.err);
}

}  // namespace
}  // namespace stint::cli
