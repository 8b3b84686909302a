#include "cli/verbs/validate_interleave_verb.h"

#include <cstdio>
#include <gtest/gtest.h>

namespace stint::cli {
namespace {

TEST(ValidateInterleaveVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(validate_interleave_verb().run(invocation), kExitUsage);
  invocation.options["--format"] = {"pollux"};
  invocation.options["--train"] = {"nowhere.csv"};
  invocation.options["--split"] = {"leave-one-job-out"};
  EXPECT_EQ(validate_interleave_verb().run(invocation), kExitBadInput);
  invocation.options["--mixes"] = {"many"};
  EXPECT_EQ(validate_interleave_verb().run(invocation), kExitUsage);
  std::fclose(invocation.err);
}

TEST(ValidateInterleaveVerb, ShowsEachWorldFromTheDearestOn) {
  InterleaveValidation it{.mixes = 50, .jobs_per_mix = 8};
  it.worlds["idle"] = {.assumption = "The network is idle.",
                       .policies = {{"stint", {.cost = 80 * kDollar, .saved = 0.2, .pairs = 9}},
                                    {"separately", {.cost = 100 * kDollar}}},
                       .chosen = {.n = 9,
                                  .lost = 1,
                                  .lost_beyond = 0,
                                  .coverage80 = 0.5,
                                  .above_p10 = 1,
                                  .saved_predicted = 0.15,
                                  .saved_measured = 0.2}};
  EXPECT_EQ(pairing_score_table(it, {.width = 0}),
            "50 mixes of 8 jobs each\n"
            "\n"
            "network  pairs are   pairs    cost   saved\n"
            "idle     separately      0    $100   0.0 %\n"
            "idle     stint           9  $80.00  20.0 %\n"
            "\n"
            "idle            The network is idle.\n"
            "                9 pairs chosen, to save 15.0 % of their bill on average: they save "
            "20.0 %; 1 lose, 0 of them more than their interval allows; 100 % save what the "
            "interval says or more (50 % lie inside it)\n");
}

}  // namespace
}  // namespace stint::cli
