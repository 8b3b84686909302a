#include "app/run/run_together.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

using testing::HasSubstr;

class RunTogetherTest : public testing::Test {
 protected:
  /// A job of 8 MB that computes 32 samples in so many milliseconds and needs so much memory.
  std::string job(const std::string& name, int milliseconds, const std::string& memory = "1 GB") {
    const std::string path = place_.path() + "/" + name + ".json";
    const Status written = write_file(
        path, fmt::format(R"({{"schema": "stint.job/1", "name": "{}", "gradient_bytes": "8 MB",
  "buckets": [{{"bytes": "8 MB", "ready": 1.0}}], "command": ["train", "{}"],
  "compute": [{{"device": "Local-1x", "batch_per_worker": 32, "forward": {{"median": "{} ms"}},
    "backward": {{"median": "{} ms"}}, "update": {{"median": "1 ms"}}, "peak_memory": "{}"}}]}})",
                          name, name, milliseconds / 3, milliseconds - milliseconds / 3, memory));
    EXPECT_TRUE(written.ok());
    return path;
  }

  RunTogetherRequest request(const std::string& first, const std::string& second) const {
    RunTogetherRequest it{.plans = {first, second}};
    it.common.cluster = "2x local.medium";
    it.common.steps = 100;
    it.common.global_batch = 64;
    return it;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  Environment environment_{.data_folder = {},
                           .state_folder = place_.path() + "/state",
                           .clock = std::make_shared<SystemClock>()};
};

TEST_F(RunTogetherTest, BothAreToldHowTheyShare) {
  const auto pair = prepare_together(environment_, request(job("a", 300), job("b", 300)));
  ASSERT_TRUE(pair.ok()) << pair.error().message;
  EXPECT_FALSE(pair->advice);
  EXPECT_GT(pair->option.outcome.speedup(), 1.2);
  const RunRecord& a = pair->runs[0].record;
  const RunRecord& b = pair->runs[1].record;
  ASSERT_TRUE(a.sharing && b.sharing);
  EXPECT_EQ(a.sharing->partner, b.name);
  EXPECT_EQ(b.sharing->partner, a.name);
  EXPECT_EQ(a.sharing->member, 0);
  EXPECT_EQ(b.sharing->member, 1);
  EXPECT_EQ(a.sharing->mode, b.sharing->mode);
  // Whoever has the next place is waited for as long as a round takes, and some more.
  EXPECT_GT(a.sharing->patience, a.sharing->slowdown * 0.36 * kSecond);
  EXPECT_EQ(a.command, (std::vector<std::string>{"train", "a"}));
}

TEST_F(RunTogetherTest, ACommandIsForTheJobsThatHaveNone) {
  const std::string own = job("a", 300);
  const std::string none = job("b", 300);
  ASSERT_TRUE(write_file(none, std::regex_replace(*read_file(none),
                                                  std::regex(R"("command": \[.*\],)"), ""))
                  .ok());
  RunTogetherRequest asked = request(own, none);
  EXPECT_THAT(prepare_together(environment_, asked).error().message,
              HasSubstr("a training command is required"));
  asked.common.command = {"train", "both"};
  const auto pair = prepare_together(environment_, asked);
  ASSERT_TRUE(pair.ok()) << pair.error().message;
  EXPECT_EQ(pair->runs[0].record.command, (std::vector<std::string>{"train", "a"}));
  EXPECT_EQ(pair->commands[0].file, own);
  EXPECT_EQ(pair->runs[1].record.command, (std::vector<std::string>{"train", "both"}));
  EXPECT_EQ(pair->commands[1].file, "");
}

TEST_F(RunTogetherTest, ACommandThatNoJobNeedsIsRefused) {
  RunTogetherRequest asked = request(job("a", 300), job("b", 300));
  asked.common.command = {"train"};
  const auto pair = prepare_together(environment_, asked);
  ASSERT_FALSE(pair.ok());
  EXPECT_EQ(pair.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(pair.error().message, HasSubstr("leave out the one after --"));
}

TEST_F(RunTogetherTest, EachPaysHalfAndIsAsMuchSlowerAsPredicted) {
  RunTogetherRequest asked = request(job("a", 300), job("b", 300));
  const auto pair = prepare_together(environment_, asked);
  ASSERT_TRUE(pair.ok()) << pair.error().message;
  RunRequest one = asked.common;
  one.job = asked.plans[0];
  const auto alone = prepare_run(environment_, one);
  ASSERT_TRUE(alone.ok());
  const RunRecord& shared = pair->runs[0].record;
  EXPECT_DOUBLE_EQ(shared.plan.machines[0].on_demand.in(kDollar / kHour) * 2,
                   alone->record.plan.machines[0].on_demand.in(kDollar / kHour));
  EXPECT_NEAR(shared.plan.steps.back().mean / alone->record.plan.steps.back().mean,
              shared.sharing->slowdown, 1e-9);
  EXPECT_LT(shared.forecast->cost.mean, alone->record.forecast->cost.mean);
  EXPECT_GT(shared.forecast->time.mean, alone->record.forecast->time.mean);
}

TEST_F(RunTogetherTest, TheModeThatIsAskedForIsTaken) {
  RunTogetherRequest asked = request(job("a", 300), job("b", 300));
  for (const SharingMode mode : {SharingMode::kWhole, SharingMode::kBucket, SharingMode::kFreely}) {
    asked.mode = mode;
    const auto pair = prepare_together(environment_, asked);
    ASSERT_TRUE(pair.ok()) << pair.error().message;
    EXPECT_EQ(pair->option.mode, mode);
    EXPECT_EQ(pair->runs[1].record.sharing->mode, mode);
  }
}

TEST_F(RunTogetherTest, TheSameJobTwiceHasTwoNames) {
  const std::string both = job("a", 300);
  const auto pair = prepare_together(environment_, request(both, both));
  ASSERT_TRUE(pair.ok()) << pair.error().message;
  EXPECT_NE(pair->runs[0].record.name, pair->runs[1].record.name);
}

TEST_F(RunTogetherTest, JobsThatDoNotFitTogetherAreInfeasible) {
  const auto pair =
      prepare_together(environment_, request(job("a", 300, "9 GB"), job("b", 300, "9 GB")));
  ASSERT_FALSE(pair.ok());
  EXPECT_EQ(pair.error().kind, ErrorKind::kInfeasible);
}

TEST_F(RunTogetherTest, OnOneMachineItHardlyPays) {
  RunTogetherRequest asked = request(job("a", 300), job("b", 300));
  asked.common.cluster = "1x local.medium";
  const auto pair = prepare_together(environment_, asked);
  ASSERT_TRUE(pair.ok()) << pair.error().message;
  ASSERT_TRUE(pair->advice);
  EXPECT_THAT(*pair->advice, HasSubstr("sharing gains little"));
}

TEST_F(RunTogetherTest, WhatIsWrongWithOneOfThemSaysWith) {
  const auto pair = prepare_together(environment_, request(job("a", 300), "nowhere.json"));
  ASSERT_FALSE(pair.ok());
  EXPECT_THAT(pair.error().message, HasSubstr("nowhere.json"));
}

}  // namespace
}  // namespace stint
