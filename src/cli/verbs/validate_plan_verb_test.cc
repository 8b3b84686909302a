#include "cli/verbs/validate_plan_verb.h"

#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

namespace stint::cli {
namespace {

TEST(ValidatePlanVerb, SaysWhatItTakes) {
  const Verb verb = validate_plan_verb();
  EXPECT_EQ(verb.path, "validate plan");
  for (const char* name : {"--format", "--train", "--test", "--split", "--jobs", "--confidence"}) {
    EXPECT_TRUE(std::any_of(verb.options.begin(), verb.options.end(),
                            [&](const OptionSpec& option) { return option.name == name; }))
        << name;
  }
}

TEST(ValidatePlanVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(validate_plan_verb().run(invocation), kExitUsage);
  invocation.options["--format"] = {"pollux"};
  invocation.options["--train"] = {"nowhere.csv"};
  invocation.options["--test"] = {"nowhere.csv"};
  EXPECT_EQ(validate_plan_verb().run(invocation), kExitBadInput);
  invocation.options["--confidence"] = {"much"};
  EXPECT_EQ(validate_plan_verb().run(invocation), kExitUsage);
  std::fclose(invocation.err);
}

TEST(ValidatePlanVerb, ShowsOursFirst) {
  const PlanScore ours{.n = 7, .mean_regret = 0.125, .p90_regret = 0.5, .deadlines_met = 1};
  const PlanScore other{.n = 7, .mean_regret = 0.75, .p90_regret = 1, .deadlines_met = 0.5};
  const PlanValidation validation{
      .confidence = 0.95,
      .overall = ours,
      .jobs = {{"a", ours}},
      .policies = {{"perfect", {.overall = other, .jobs = {{"a", other}}}},
                   {"stint", {.overall = ours, .jobs = {{"a", ours}}}}}};
  EXPECT_EQ(plan_score_table(validation, {}),
            "job  policy   n  mean regret  90 % below  deadlines met\n"
            "a    stint    7       12.5 %      50.0 %        100.0 %\n"
            "a    perfect  7       75.0 %     100.0 %         50.0 %\n"
            "all  stint    7       12.5 %      50.0 %        100.0 %\n"
            "all  perfect  7       75.0 %     100.0 %         50.0 %\n");
}

}  // namespace
}  // namespace stint::cli
