#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

#include "base/terminal.h"
#include "cli/verbs/verb_list.h"
#include "plan/validations.h"

namespace stint::cli {
namespace {

TEST(ValidateSearchVerb, SaysWhatItTakes) {
  const Verb verb = validate_search_verb();
  EXPECT_EQ(verb.path, "validate search");
  for (const char* name :
       {"--format", "--steps", "--convergence", "--objective", "--seeds", "--jobs"}) {
    EXPECT_TRUE(std::any_of(verb.options.begin(), verb.options.end(),
                            [&](const OptionSpec& option) { return option.name == name; }))
        << name;
  }
}

TEST(ValidateSearchVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(validate_search_verb().run(invocation), kExitUsage);
  invocation.options["--format"] = {"pollux"};
  invocation.options["--steps"] = {"nowhere.csv"};
  invocation.options["--convergence"] = {"nowhere.csv"};
  EXPECT_EQ(validate_search_verb().run(invocation), kExitBadInput);
  invocation.options["--seeds"] = {"many"};
  EXPECT_EQ(validate_search_verb().run(invocation), kExitUsage);
  std::fclose(invocation.err);
}

TEST(ValidateSearchVerb, ShowsOursFirst) {
  const SearchScore ours{
      .time_over_oracle = 1.05, .cost_over_oracle = 2, .probes = 1.5, .moves = 1};
  const SearchScore other{
      .time_over_oracle = 1.5, .cost_over_oracle = 1.25, .probes = 6, .moves = 6};
  const SearchValidation validation{
      .objective = "time",
      .seeds = 2,
      .policies = {{"random", other}, {"stint", ours}},
      .jobs = {{"a", {.policies = {{"random", other}, {"stint", ours}}}}},
      .notes = {}};
  EXPECT_EQ(search_score_table(validation, {}),
            "job  policy  time/oracle  cost/oracle  probes  moves\n"
            "a    stint         1.050        2.000     1.5    1.0\n"
            "a    random        1.500        1.250     6.0    6.0\n"
            "all  stint         1.050        2.000     1.5    1.0\n"
            "all  random        1.500        1.250     6.0    6.0\n");
}

}  // namespace
}  // namespace stint::cli
