#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

TEST(ValidateSurvivalVerb, SaysWhatItTakes) {
  const Verb verb = validate_survival_verb();
  EXPECT_EQ(verb.path, "validate survival");
  for (const char* name : {"--train", "--test", "--split", "--baseline", "--predictions"}) {
    EXPECT_TRUE(std::any_of(verb.options.begin(), verb.options.end(),
                            [&](const OptionSpec& option) { return option.name == name; }))
        << name;
  }
}

TEST(ValidateSurvivalVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(validate_survival_verb().run(invocation), kExitUsage);
  invocation.options["--train"] = {"nowhere.csv"};
  invocation.options["--test"] = {"nowhere.csv"};
  EXPECT_EQ(validate_survival_verb().run(invocation), kExitBadInput);
  std::fclose(invocation.err);
}

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

TEST(ValidateMemoryVerb, SaysWhatItTakes) {
  const Verb verb = validate_memory_verb();
  EXPECT_EQ(verb.path, "validate memory");
  for (const char* name : {"--train", "--test", "--format", "--split", "--prior", "--baseline"}) {
    EXPECT_TRUE(std::any_of(verb.options.begin(), verb.options.end(),
                            [&](const OptionSpec& option) { return option.name == name; }))
        << name;
  }
}

TEST(ValidateMemoryVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(validate_memory_verb().run(invocation), kExitUsage);
  invocation.options["--train"] = {"nowhere.csv"};
  invocation.options["--test"] = {"nowhere.csv"};
  EXPECT_EQ(validate_memory_verb().run(invocation), kExitBadInput);
  std::fclose(invocation.err);
}

TEST(ValidateCollectiveVerb, SaysWhatItTakes) {
  const Verb verb = validate_collective_verb();
  EXPECT_EQ(verb.path, "validate collective");
  for (const char* name : {"--train", "--test", "--split", "--baseline", "--predictions",
                           "--format", "--prior", "--calibration"}) {
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
  invocation.options["--format"] = {"vtrain"};
  EXPECT_EQ(validate_collective_verb().run(invocation), kExitBadInput);
  invocation.options["--baseline"] = {"bandwidth"};
  EXPECT_EQ(validate_collective_verb().run(invocation), kExitUsage);
  invocation.options.erase("--format");
  invocation.options["--calibration"] = {"bundled"};
  EXPECT_EQ(validate_collective_verb().run(invocation), kExitUsage);
  std::fclose(invocation.err);
}

TEST(ValidateConvergenceVerb, SaysWhatItTakes) {
  const Verb verb = validate_convergence_verb();
  EXPECT_EQ(verb.path, "validate convergence");
  for (const char* name :
       {"--train", "--test", "--format", "--split", "--baseline", "--predictions"}) {
    EXPECT_TRUE(std::any_of(verb.options.begin(), verb.options.end(),
                            [&](const OptionSpec& option) { return option.name == name; }))
        << name;
  }
}

TEST(ValidateConvergenceVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(validate_convergence_verb().run(invocation), kExitUsage);
  invocation.options["--format"] = {"pollux"};
  invocation.options["--train"] = {"nowhere.csv"};
  invocation.options["--test"] = {"nowhere.csv"};
  EXPECT_EQ(validate_convergence_verb().run(invocation), kExitBadInput);
  std::fclose(invocation.err);
}

}  // namespace

}  // namespace stint::cli
