#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/parse.h"
#include "cli/verbs/verb_list.h"
#include "load/example_job_fixture.h"
#include "load/plan_files.h"

namespace stint::cli {
namespace {

struct Answer {
  int code = 0;
  std::string text;  // Of both streams.
};

Environment machine(const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_plan_verbs_test" / name;
  std::filesystem::remove_all(folder);
  return {.data_folder = (folder / "data").string(),
          .state_folder = (folder / "state").string(),
          .clock = std::make_shared<FixedClock>(20772 * kDay)};  // 2026-11-15.
}

Answer answer_to(const std::vector<std::string>& words, const Environment& environment) {
  static const std::vector<Verb> kVerbs = plan_verbs();
  auto parsed = parse(kVerbs, words);
  if (!parsed.ok()) return {exit_code(parsed.error()), parsed.error().message};
  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&bytes, &size);
  parsed->invocation.environment = environment;
  parsed->invocation.out = stream;
  parsed->invocation.err = stream;
  Answer answer{.code = parsed->verb->run(parsed->invocation), .text = {}};
  std::fclose(stream);
  answer.text.assign(bytes, size);
  std::free(bytes);
  return answer;
}

/// What `stint plan` says to flags behind the job.
Answer plan(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"plan", "--job", kExampleJob});
  return answer_to(flags, machine("plan"));
}

TEST(PlanVerb, RefusesWhatIsNoQuestion) {
  EXPECT_EQ(answer_to({"plan"}, machine("no_job")).code, kExitUsage);
  const std::vector<std::vector<std::string>> wrong = {
      {"--deadline", "0h"},
      {"--deadline=-1h"},
      {"--deadline", "12"},
      {"--deadline", "2026-11-14"},
      {"--deadline", "1h", "--deadline", "2h"},
      {"--budget=-5usd"},
      {"--budget", "150"},
      {"--confidence", "1.5"},
      {"--confidence", "sure"},
      {"--objective", "luck"},
      {"--objective", "time", "--policy", "deepvm"},
      {"--policy", "luck"},
      {"--policy", "scavenger"},
      {"--vm", "g4dn.xlarge"},
      {"--quota", "g5"},
      {"--max-vms", "0"},
      {"--rows", "0"},
      {"--markets", "flea"},
      {"--providers", "aws", "--regions", "us-central1"}};
  for (const auto& flags : wrong) {
    const Answer answer = plan(flags);
    EXPECT_EQ(answer.code, kExitUsage) << flags[0] << ": " << answer.text;
  }
}

TEST(PlanVerb, ReadsEveryConstraint) {
  // The last of these is wrong: all before it were understood.
  const Answer answer =
      plan({"--deadline", "2026-11-20T18:00Z", "--budget", "3usd/h", "--confidence", "0.9",
            "--markets", "spot", "--providers", "aws", "--quota", "g5=32,p4d:spot=96", "--max-vms",
            "8", "-n", "3", "--regions", "atlantis"});
  EXPECT_EQ(answer.code, kExitUsage);
  EXPECT_NE(answer.text.find("atlantis"), std::string::npos) << answer.text;
}

PlanAnswer two_plans() {
  Plan first{.cluster = *parse_cluster("8x g4dn.12xlarge")};
  first.time = {.mean = 10 * kHour, .p10 = 9 * kHour, .p90 = 12 * kHour};
  first.cost = {.mean = 100 * kDollar, .p10 = 90 * kDollar, .p90 = 120 * kDollar};
  Plan second = first;
  second.cluster = *parse_cluster("4x p3.8xlarge");
  second.cost.mean = 110 * kDollar;
  return {.job = "mine", .goal = PlanGoal{.objective = "cost"}, .plans = {first, second}};
}

TEST(ExplainVerb, ExplainsARowOfTheLastAnswer) {
  const Environment environment = machine("explain");
  ASSERT_TRUE(keep_plan(environment, two_plans()).ok());
  const Answer first = answer_to({"explain"}, environment);
  EXPECT_EQ(first.code, kExitOk);
  EXPECT_TRUE(first.text.starts_with("mine, plan 1: 8x g4dn.12xlarge\n")) << first.text;
  EXPECT_TRUE(first.text.ends_with("Details of the runner-up: stint explain --plan 2\n"));
  const Answer second = answer_to({"explain", "--plan", "2", "-o", "json"}, environment);
  EXPECT_EQ(second.code, kExitOk);
  const auto json = parse_json(second.text, "output");
  ASSERT_TRUE(json.ok()) << second.text;
  EXPECT_EQ(*json->find("cluster")->as<std::string>(), "4x p3.8xlarge");
}

TEST(ExplainVerb, SaysWhatToDoWithoutAPlan) {
  const Answer answer = answer_to({"explain"}, machine("nothing"));
  EXPECT_EQ(answer.code, kExitBadInput);
  EXPECT_NE(answer.text.find("stint plan --job"), std::string::npos);
}

TEST(DemoVerb, PlansAVisionModelAndAFineTune) {
  const Answer answer = answer_to({"demo"}, machine("demo"));
  for (const std::string job : {"resnet50", "llama-3-8b-lora"}) {
    EXPECT_NE(answer.text.find(job + ": the cheapest plans"), std::string::npos) << answer.text;
  }
}

}  // namespace
}  // namespace stint::cli
