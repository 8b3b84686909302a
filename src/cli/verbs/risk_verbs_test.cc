#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <memory>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

ExitCode code(Invocation invocation) {
  invocation.err = std::fopen("/dev/null", "w");
  invocation.out = std::fopen("/dev/null", "w");
  invocation.environment.clock = std::make_shared<FixedClock>(20772 * kDay);
  const ExitCode code = risk_simulate_verb().run(invocation);
  std::fclose(invocation.err);
  std::fclose(invocation.out);
  return code;
}

TEST(RiskSimulateVerb, EndsWithTheErrorsCode) {
  EXPECT_EQ(code({.options = {{"--runs", {"0"}}}}), kExitUsage);
  EXPECT_EQ(code({.options = {{"--plan", {"nowhere.json"}}}}), kExitBadInput);
}

TEST(RiskReplayVerb, SaysWhatItTakes) {
  const Verb verb = risk_replay_verb();
  EXPECT_EQ(verb.path, "risk replay");
  for (const char* name : {"--trace", "--machines", "--work", "--deadline", "--changeover",
                           "--price-ratio", "--start", "--policy"}) {
    EXPECT_TRUE(std::any_of(verb.options.begin(), verb.options.end(),
                            [&](const OptionSpec& option) { return option.name == name; }))
        << name;
  }
}

TEST(RiskReplayVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(risk_replay_verb().run(invocation), kExitUsage);
  invocation.options["--trace"] = {"nowhere.json"};
  EXPECT_EQ(risk_replay_verb().run(invocation), kExitBadInput);
  invocation.options["--start"] = {"-1h"};
  EXPECT_EQ(risk_replay_verb().run(invocation), kExitUsage);
  std::fclose(invocation.err);
}

const Verb& verb(const std::string& path) {
  static const std::vector<Verb> kVerbs = risk_verbs();
  for (const Verb& it : kVerbs) {
    if (it.path == path) return it;
  }
  ADD_FAILURE() << path;
  return kVerbs.front();
}

ExitCode code(const std::string& path, Invocation invocation) {
  invocation.err = std::fopen("/dev/null", "w");
  invocation.out = std::fopen("/dev/null", "w");
  invocation.environment.clock = std::make_shared<FixedClock>(20772 * kDay);
  const ExitCode code = verb(path).run(invocation);
  std::fclose(invocation.err);
  std::fclose(invocation.out);
  return code;
}

TEST(RiskVerbs, EndWithTheErrorsCode) {
  EXPECT_EQ(code("risk fit", {.arguments = {"nowhere.csv"}}), kExitBadInput);
  EXPECT_EQ(code("risk fit", {.options = {{"--gap", {"0 s"}}}, .arguments = {"a.csv"}}),
            kExitUsage);
  EXPECT_EQ(code("risk fit", {.options = {{"--machines", {"0"}}}, .arguments = {"a.csv"}}),
            kExitUsage);
  EXPECT_EQ(code("risk survive", {}), kExitUsage);
  EXPECT_EQ(code("risk survive", {.options = {{"--vm", {"p4d.24xlarge"}}}}), kExitUsage);
  EXPECT_EQ(code("risk survive", {.options = {{"--vm", {"p4d.24xlarge"}}, {"--for", {"4"}}}}),
            kExitUsage);
}

TEST(RiskVerbs, SurvivePrintsTextAndJson) {
  EXPECT_EQ(code("risk survive", {.options = {{"--vm", {"p4d.24xlarge"}}, {"--for", {"4h"}}}}),
            kExitOk);
  EXPECT_EQ(
      code("risk survive",
           {.options = {{"--vm", {"p4d.24xlarge"}}, {"--for", {"4h"}}, {"--output", {"json"}}}}),
      kExitOk);
}

}  // namespace

}  // namespace stint::cli
