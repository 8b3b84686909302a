#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

#include "base/terminal.h"
#include "cli/verbs/verb_list.h"
#include "plan/validations.h"

namespace stint::cli {
namespace {

DeadlineScore score(double to_optimum, int missed) {
  return {.cost_ratio_to_optimum = to_optimum,
          .cost_ratio_to_on_demand = to_optimum / 2,
          .missed = missed,
          .worst_ratio_to_optimum = 2 * to_optimum};
}

TEST(ValidateDeadlineVerb, SaysWhatItTakes) {
  const Verb verb = validate_deadline_verb();
  EXPECT_EQ(verb.path, "validate deadline");
  for (const char* name : {"--traces", "--fit", "--machines", "--slots", "--work", "--deadline",
                           "--changeover", "--price-ratio", "--window-step", "--windows",
                           "--refusals", "--synthetic", "--pools", "--seed"}) {
    EXPECT_TRUE(std::any_of(verb.options.begin(), verb.options.end(),
                            [&](const OptionSpec& option) { return option.name == name; }))
        << name;
  }
}

TEST(ValidateDeadlineVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(validate_deadline_verb().run(invocation), kExitUsage);
  invocation.options["--traces"] = {"nowhere.json"};
  EXPECT_EQ(validate_deadline_verb().run(invocation), kExitBadInput);
  invocation.options["--synthetic"] = {""};
  EXPECT_EQ(validate_deadline_verb().run(invocation), kExitUsage);
  std::fclose(invocation.err);
}

TEST(ValidateDeadlineVerb, ShowsTheBestFirstAndThoseThatMissedLast) {
  const DeadlineValidation validation{
      .windows = 12,
      .policies = {{"optimum", score(1, 0)}, {"spot", score(0.5, 3)}, {"greedy", score(1.5, 0)}}};
  EXPECT_EQ(deadline_score_table(validation, {}),
            "policy    n  cost / optimum  worst  cost / on-demand  missed\noptimum  12           "
            "1.000  2.000             0.500  none\ngreedy   12           1.500  3.000             "
            "0.750  none\nspot     12           0.500  1.000             0.250  3 of 12\n");
}

TEST(ValidateDeadlineVerb, ShowsHowLateRefusalsMakeIt) {
  DeadlineScore refused = score(1.5, 0);
  refused.refused = RefusalScore{
      .missed = 2, .slip_mean = 0.5 * kHour, .slip_max = 3 * kHour, .late_max = 2 * kHour};
  DeadlineScore kept = score(1.25, 0);
  kept.refused = RefusalScore{};
  const DeadlineValidation validation{
      .windows = 12, .policies = {{"optimum", score(1, 0)}, {"stint", kept}, {"greedy", refused}}};
  EXPECT_EQ(refusal_table(validation, {}),
            "policy  missed   mean delay  max delay  latest past deadline\nstint   none         "
            "0.00 h     0.00 h                     -\ngreedy  2 of 12      0.50 h     3.00 h       "
            "         2.00 h\n");
}

TEST(ValidateDeadlineVerb, ShowsCellsAndAllOfThem) {
  const DeadlineValidation validation{
      .windows = 4,
      .policies = {{"stint", score(1.25, 0)}},
      .cells = {{.kind = "steady",
                 .slack = 1.1,
                 .windows = 4,
                 .policies = {{"stint", score(1.25, 0)}, {"informed", score(1.2, 0)}}}}};
  EXPECT_EQ(deadline_cell_table(validation, {}),
            "pools   slack  n  stint  informed  greedy  uniform-progress  stint missed\n"
            "steady    1.1  4  1.250     1.200       -                 -  none\n"
            "all         -  4  1.250         -       -                 -  none\n");
}

}  // namespace
}  // namespace stint::cli
