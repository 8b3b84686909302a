#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <memory>

#include "base/terminal.h"
#include "cli/verbs/verb_list.h"
#include "load/example_job_fixture.h"
#include "plan/validations.h"

namespace stint::cli {
namespace {

ExitCode code(Invocation invocation) {
  invocation.err = std::fopen("/dev/null", "w");
  invocation.out = std::fopen("/dev/null", "w");
  invocation.environment.clock = std::make_shared<FixedClock>(20772 * kDay);
  const ExitCode code = validate_revocations_verb().run(invocation);
  std::fclose(invocation.err);
  std::fclose(invocation.out);
  return code;
}

TEST(ValidateRevocationsVerb, EndsWithTheErrorsCode) {
  EXPECT_EQ(code({}), kExitUsage);
  EXPECT_EQ(code({.options = {{"--job", {kExampleJob}}, {"--budget", {"many"}}}}), kExitUsage);
  EXPECT_EQ(code({.options = {{"--job", {kExampleJob}}, {"--deadline", {"soon"}}}}), kExitUsage);
  EXPECT_EQ(code({.options = {{"--job", {kExampleJob}}, {"--max-vms", {"0"}}}}), kExitUsage);
  EXPECT_EQ(code({.options = {{"--job", {"no-such-job"}}}}), kExitBadInput);
}

TEST(ValidateRevocationsVerb, PrintsTextAndJson) {
  const std::map<std::string, std::vector<std::string>> options = {
      {"--job", {kExampleJob}}, {"--budget", {"9usd/h"}}, {"--runs", {"2"}}, {"--max-vms", {"1"}}};
  EXPECT_EQ(code({.options = options}), kExitOk);
  auto as_json = options;
  as_json["--output"] = {"json"};
  EXPECT_EQ(code({.options = as_json}), kExitOk);
}

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
            "50 mixes of 8 jobs each\n\nnetwork  pairing     pairs    cost   saved\nidle     "
            "separately      0    $100   0.0 %\nidle     stint           9  $80.00  20.0 %\n\nidle "
            "           The network is idle.\n                9 pairs chosen: predicted saving "
            "15.0 % of their bill on average, measured 20.0 %; 1 lose, 0 of them beyond their "
            "interval; 100 % save at least the lower end of their interval (50 % are inside it)\n");
}

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
  EXPECT_EQ(
      plan_score_table(validation, {}),
      "job  policy   n  mean regret      p90  deadlines met\na    stint    7       12.5 %   50.0 % "
      "       100.0 %\na    perfect  7       75.0 %  100.0 %         50.0 %\nall  stint    7       "
      "12.5 %   50.0 %        100.0 %\nall  perfect  7       75.0 %  100.0 %         50.0 %\n");
}

TEST(ValidatePlanVerb, ShowsPromisesBesideWhatHappened) {
  const ReliabilityBin bin{.from = 0.9, .to = 0.95, .n = 8, .promised = 0.934, .kept = 1};
  const PlanValidation validation{.reliability = {bin}, .reliability_candidates = {bin}};
  EXPECT_EQ(reliability_table(validation, {}),
            "P(deadline)  of          n  promised     kept\n"
            "90-95 %      plans       8    93.4 %  100.0 %\n"
            "90-95 %      candidates  8    93.4 %  100.0 %\n");
}

}  // namespace

}  // namespace stint::cli
