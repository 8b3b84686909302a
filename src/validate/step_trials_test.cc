#include "validate/step_trials.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

TEST(PublishedVm, CostsAsMuchAsFourSmallGpus) {
  const double hourly = (published_vm_price() * kHour).in(kDollar);
  EXPECT_GT(hourly, 3);
  EXPECT_LT(hourly, 6);
}

constexpr const char* kTable =
    "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu,step_time_s\n"
    "a,1,1,1,16,0.1\n"
    "a,1-1,2,2,16,0.2\n"
    "b,1,1,1,16,0.3\n"
    "b,1-1,2,2,16,0.4\n";

std::string file(const std::string& name, std::string_view bytes) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("stint_step_trials_" + name);
  EXPECT_TRUE(write_file(path.string(), bytes).ok());
  return path.string();
}

// Each job keeps its row with one GPU in training.
TEST(StepTrials, LeaveOutOneJobAfterTheOther) {
  const auto trials =
      read_step_trials({.train = {file("a.csv", kTable)}, .split = "leave-one-job-out"});
  ASSERT_TRUE(trials.ok()) << trials.error().message;
  ASSERT_EQ(trials->size(), 2U);
  EXPECT_EQ((*trials)[0].train.size(), 3U);
  ASSERT_EQ((*trials)[0].test.size(), 1U);
  EXPECT_EQ((*trials)[0].test[0].job, "a");
  EXPECT_EQ((*trials)[1].numbers, std::vector<std::size_t>{3});
}

TEST(StepTrials, TestFilesAreOneTrial) {
  const std::string table = file("b.csv", kTable);
  const auto trials = read_step_trials({.train = {table}, .test = {table, table}});
  ASSERT_TRUE(trials.ok()) << trials.error().message;
  ASSERT_EQ(trials->size(), 1U);
  EXPECT_EQ(trials->front().train.size(), 4U);
  EXPECT_EQ(trials->front().numbers.back(), 7U);
}

TEST(StepTrials, ASplitThatLeavesNothingIsBadInput) {
  const std::string table = file("c.csv", kTable);
  const auto trials = read_step_trials({.train = {table}, .split = "max-gpus=2"});
  ASSERT_FALSE(trials.ok());
  EXPECT_EQ(trials.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(trials.error().message.find("it has up to 2 GPUs"), std::string::npos);
  EXPECT_EQ(read_step_trials({.train = {table}, .split = "half"}).error().kind, ErrorKind::kUsage);
}

// Perfect scaling predicts the time of one GPU; nothing for a job that was never measured alone.
TEST(StepTrials, ABaselineSaysWhyItSaysNothing) {
  auto trials = read_step_trials({.train = {file("d.csv", kTable)}, .split = "leave-one-job-out"});
  ASSERT_TRUE(trials.ok());
  StepTrial& trial = trials->front();
  auto forecasts = forecast_baseline(BaselineKind::kPerfect, trial);
  ASSERT_EQ(forecasts.size(), 1U);
  EXPECT_NEAR(forecasts[0].time->in(kSecond), 0.1, 1e-12);
  trial.test[0].job = "c";
  EXPECT_EQ(forecast_baseline(BaselineKind::kPerfect, trial)[0].note,
            "there is no training data for c");
}

}  // namespace

}  // namespace stint
