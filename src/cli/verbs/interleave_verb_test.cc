#include <cstdio>
#include <gtest/gtest.h>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

ExitCode run(std::map<std::string, std::vector<std::string>> options) {
  Invocation invocation{.options = std::move(options)};
  invocation.out = std::fopen("/dev/null", "w");
  invocation.err = std::fopen("/dev/null", "w");
  const ExitCode code = interleave_verb().run(invocation);
  std::fclose(invocation.out);
  std::fclose(invocation.err);
  return code;
}

TEST(InterleaveVerb, AnswersForTwoShippedJobs) {
  EXPECT_EQ(run({{"--jobs", {"paced-5mb", "paced-20mb"}},
                 {"--cluster", {"2x local.medium"}},
                 {"--batch-per-worker", {"32"}}}),
            kExitOk);
}

TEST(InterleaveVerb, EndsWithTheErrorsCode) {
  EXPECT_EQ(run({}), kExitUsage);
  EXPECT_EQ(run({{"--jobs", {"paced-5mb", "paced-20mb"}}}), kExitUsage);
  EXPECT_EQ(run({{"--jobs", {"paced-5mb"}}, {"--cluster", {"2x local.medium"}}}), kExitUsage);
  EXPECT_EQ(run({{"--jobs", {"paced-5mb", "nowhere.json"}}, {"--cluster", {"2x local.medium"}}}),
            kExitBadInput);
}

TEST(InterleaveVerb, RefusesValuesThatNoJobCanHave) {
  const std::pair<const char*, const char*> wrong[] = {
      {"--batch-per-worker", "0"}, {"--workers-per-vm", "many"}, {"--iterations", "1.5"},
      {"--deadline", "6"},         {"--deadline", "0h"},         {"--confidence", "1"},
      {"--compute-slowdown", "-1"}};
  for (const auto& [option, value] : wrong) {
    EXPECT_EQ(run({{"--jobs", {"paced-5mb", "paced-20mb"}},
                   {"--cluster", {"2x local.medium"}},
                   {option, {value}}}),
              kExitUsage)
        << option << " " << value;
  }
}

}  // namespace
}  // namespace stint::cli
