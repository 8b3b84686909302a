#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/parse.h"
#include "cli/verbs/verb_list.h"
#include "load/example_job_fixture.h"

namespace stint::cli {
namespace {

struct Answer {
  int code = 0;
  std::string text;  // Of both streams.
};

Answer answer_to(std::vector<std::string> words) {
  static const std::vector<Verb> kVerbs = predict_verbs();
  auto parsed = parse(kVerbs, words);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&bytes, &size);
  parsed->invocation.environment.clock = std::make_shared<FixedClock>(20772 * kDay);
  parsed->invocation.out = stream;
  parsed->invocation.err = stream;
  Answer answer{.code = parsed->verb->run(parsed->invocation)};
  std::fclose(stream);
  answer.text.assign(bytes, size);
  std::free(bytes);
  return answer;
}

TEST(PredictVerb, PrintsASheetAndTheNextCommand) {
  const Answer answer = answer_to({"predict", "--job", kExampleJob, "--cluster", "2x g4dn.12xlarge",
                                   "--batch-per-worker", "64"});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_NE(answer.text.find("80 % between"), std::string::npos) << answer.text;
  EXPECT_NE(answer.text.find(std::string("stint whatif --job ") + kExampleJob), std::string::npos);
}

TEST(PredictVerb, PrintsThePredictionAsJson) {
  const Answer answer = answer_to({"predict", "-q", "-o", "json", "--job", kExampleJob, "--cluster",
                                   "g4dn.xlarge", "--batch-per-worker", "64"});
  EXPECT_EQ(answer.code, kExitOk);
  const auto json = parse_json(answer.text, "output");
  ASSERT_TRUE(json.ok()) << answer.text;
  EXPECT_EQ(*json->find("schema")->as<std::string>(), "stint.prediction/1");
}

TEST(PredictVerb, TheNextCommandRepeatsWhatWasSaid) {
  const std::vector<std::string> words = {"predict",
                                          "--job",
                                          kExampleJob,
                                          "--cluster",
                                          "2x g4dn.12xlarge",
                                          "--global-batch",
                                          "512",
                                          "--workers-per-vm",
                                          "2",
                                          "--accumulation",
                                          "4",
                                          "--calibration",
                                          "priors",
                                          "--predictor",
                                          "event-driven"};
  const std::string repeated = std::string("stint whatif --job ") + kExampleJob +
                               " --cluster '2x g4dn.12xlarge' --global-batch 512 "
                               "--workers-per-vm 2 --accumulation 4";
  EXPECT_NE(answer_to(words).text.find(
                "Effect of a change: " + repeated +
                " --calibration priors --predictor event-driven --network '100 Gbit/s'\n"),
            std::string::npos);
  std::vector<std::string> served = words;
  served.insert(served.end(), {"--collective", "parameter-server", "--servers", "3"});
  EXPECT_NE(answer_to(served).text.find("Compare with a ring: " + repeated +
                                        " --servers 3 --calibration priors --predictor "
                                        "event-driven --collective parameter-server\n"),
            std::string::npos)
      << answer_to(served).text;
}

TEST(PredictVerb, DoubtsStandInTheJsonThoughWarningsAreQuiet) {
  const Answer answer = answer_to({"predict", "-q", "-o", "json", "--job", kExampleJob, "--cluster",
                                   "p4d.24xlarge", "--batch-per-worker", "300"});
  EXPECT_NE(answer.text.find("A batch of 300 per worker is more than twice the largest"),
            std::string::npos)
      << answer.text;
}

TEST(PredictVerb, ABatchThatDoesNotFitIsShownWithExitCode3) {
  const Answer answer = answer_to(
      {"predict", "--job", kExampleJob, "--cluster", "g4dn.xlarge", "--batch-per-worker", "256"});
  EXPECT_EQ(answer.code, kExitInfeasible);
  EXPECT_NE(answer.text.find("does not fit"), std::string::npos);
  EXPECT_NE(answer.text.find("--accumulation"), std::string::npos);
}

TEST(PredictVerb, RefusesWhatIsNoQuestion) {
  EXPECT_EQ(answer_to({"predict", "--cluster", "g4dn.xlarge"}).code, kExitUsage);
  EXPECT_EQ(answer_to({"predict", "--job", "bert"}).code, kExitUsage);
  for (const char* batch : {"0", "-3", "many"}) {
    EXPECT_EQ(answer_to({"predict", "--job", "bert", "--cluster", "g4dn.xlarge",
                         std::string("--batch-per-worker=") + batch})
                  .code,
              kExitUsage);
  }
  EXPECT_EQ(answer_to({"predict", "--job", "bert", "--cluster", "g4dn.xlarge", "--global-batch",
                       "64", "--batch-per-worker", "64"})
                .code,
            kExitUsage);
}

TEST(PredictVerb, ServersNeedAParameterServer) {
  for (const char* verb : {"predict", "whatif"}) {
    std::vector<std::string> words = {verb, "--job", kExampleJob, "--cluster"};
    words.insert(words.end(), {"g4dn.xlarge", "--batch-per-worker", "16", "--servers", "2"});
    if (verb == std::string("whatif")) words.insert(words.end(), {"--batch", "32"});
    EXPECT_EQ(answer_to(words).code, kExitUsage);
    words.insert(words.end(), {"--collective", "parameter-server"});
    EXPECT_EQ(answer_to(words).code, kExitOk);
  }
}

TEST(WhatIfVerb, ShowsTheDifference) {
  const Answer answer = answer_to({"whatif", "--job", kExampleJob, "--cluster", "8x g4dn.12xlarge",
                                   "--batch-per-worker", "16", "--network", "100Gbit/s"});
  EXPECT_EQ(answer.code, kExitOk) << answer.text;
  EXPECT_NE(answer.text.find("difference"), std::string::npos);
}

TEST(WhatIfVerb, NeedsAChangeItUnderstands) {
  const std::vector<std::string> words = {"whatif", "--job", kExampleJob, "--cluster",
                                          "8x g4dn.12xlarge"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return answer_to(more).code;
  };
  EXPECT_EQ(with({}), kExitUsage);
  EXPECT_EQ(with({"--network", "100"}), kExitUsage);
  EXPECT_EQ(with({"--network", "0 Gbit/s"}), kExitUsage);
  EXPECT_EQ(with({"--vms", "0"}), kExitUsage);
  EXPECT_EQ(with({"--gpu", "Abacus"}), kExitUsage);
}

}  // namespace
}  // namespace stint::cli
