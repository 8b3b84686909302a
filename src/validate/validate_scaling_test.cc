#include "validate/validate_scaling.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

#include "base/check.h"
#include "base/csv.h"
#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kHeader =
    "round,submitter,benchmark,accelerator,gpu,accelerators,nodes,accelerators_per_node,"
    "global_batch,grad_accum,step_s\n";

/// A folder of its own for each test.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::path(testing::TempDir()) / "stint_validate_scaling_test" /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }

  std::string path(const std::string& name) const { return (path_ / name).string(); }

  std::string file(const std::string& name, std::string_view bytes) const {
    EXPECT_TRUE(write_file(path(name), bytes).ok());
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

/// 2 ms a sample, a floor of 4 samples, and 20 ms between VMs.
double step_of(int nodes, double each) { return 0.002 * (each + 4) + (nodes > 1 ? 0.02 : 0); }

std::string line(const std::string& job, int nodes, double each, bool measured = true) {
  return fmt::format("v1,A,{},H100,H100,{},{},8,{},1,{}\n", job, 8 * nodes, nodes, 8 * nodes * each,
                     measured ? fmt::format("{:.6f}", step_of(nodes, each)) : "");
}

std::string table(const std::string& job) {
  return line(job, 1, 64) + line(job, 2, 64) + line(job, 8, 16) + line(job, 16, 8);
}

std::string two_jobs() { return kHeader + table("bert") + table("ssd"); }

ValidateAnswer answer_to(const ScalingRequest& request) {
  auto answer = validate_scaling(request);
  EXPECT_TRUE(answer.ok()) << answer.error().message;
  return answer.ok() ? std::move(*answer) : ValidateAnswer{};
}

TEST(ValidateScaling, LargerClustersArePredictedFromTheSmallest) {
  const Folder folder;
  const auto answer = answer_to({.train = {folder.file("a.csv", two_jobs())},
                                 .split = "smallest=2",
                                 .baselines = {ScalingBaseline::kPerfect}});
  EXPECT_EQ(answer.ours.overall.n, 4);
  EXPECT_EQ(answer.ours.jobs.size(), 2U);
  EXPECT_EQ(answer.ours.groups.size(), 2U);
  EXPECT_EQ(answer.ours.groups.at("language models").n, 2);
  EXPECT_EQ(answer.ours.split, "smallest=2");
  ASSERT_EQ(answer.baselines.size(), 1U);
  EXPECT_EQ(answer.baselines[0].baseline, "perfect");
  EXPECT_LT(answer.ours.overall.mape, answer.baselines[0].overall.mape);
  EXPECT_EQ(answer.skipped, "");
}

TEST(ValidateScaling, PredictionsAreWrittenWithoutMeasurements) {
  const Folder folder;
  const std::string out = folder.path("out.csv");
  const std::string test = kHeader + line("bert", 4, 32, false) + line("gpt9", 4, 32, false) +
                           "v1,A,bert,H100,H100,,1,8,64,1,\n";
  const auto answer = answer_to({.train = {folder.file("a.csv", two_jobs())},
                                 .test = {folder.file("b.csv", test)},
                                 .predictions = out});
  EXPECT_EQ(answer.ours.overall.n, 0);
  ASSERT_EQ(answer.ours.notes.size(), 1U);
  const auto text = read_file(out);
  ASSERT_TRUE(text.ok());
  const auto csv = Csv::parse(*text, out);
  ASSERT_TRUE(csv.ok());
  ASSERT_EQ(csv->rows(), 3U);
  EXPECT_NE(csv->cell(0, "predicted"), "");
  EXPECT_NE(csv->cell(0, "p90"), "");
  EXPECT_EQ(csv->cell(1, "predicted"), "");
  EXPECT_EQ(csv->cell(1, "note"), "there is no training data for gpt9");
  EXPECT_EQ(csv->cell(2, "note"), "accelerators is blank");
}

TEST(ValidateScaling, SkippedRowsSayWhy) {
  const Folder folder;
  const auto answer = answer_to({.train = {folder.file("a.csv", two_jobs())},
                                 .test = {folder.file("b.csv", kHeader + line("gpt9", 4, 32))}});
  EXPECT_EQ(answer.ours.overall.skipped, 1);
  EXPECT_EQ(answer.skipped, "1 row was skipped: there is no training data for gpt9 (1).");
}

TEST(ValidateScaling, WrongRequestsAreErrors) {
  const Folder folder;
  const std::string file = folder.file("a.csv", two_jobs());
  EXPECT_EQ(validate_scaling({.train = {file}}).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(validate_scaling({.train = {file}, .split = "gpu=P100"}).error().kind,
            ErrorKind::kUsage);
  EXPECT_EQ(validate_scaling({.train = {file}, .split = "max-gpus=1000"}).error().kind,
            ErrorKind::kBadInput);
  EXPECT_EQ(
      validate_scaling({.format = ScalingFormat::kDgxc, .train = {file}, .split = "smallest=1"})
          .error()
          .kind,
      ErrorKind::kBadInput);
  EXPECT_FALSE(validate_scaling({.train = {folder.path("none.csv")}, .split = "smallest=1"}).ok());
}

// The published tables, with bounds that a worse law would break.
TEST(ValidateScaling, PublishedClustersAreWithinLooseBounds) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set.";
  const auto answer = answer_to({.train = {std::string(data) + "/mlperf_modern/clusters.csv"},
                                 .split = "smallest=2",
                                 .baselines = {ScalingBaseline::kPerfect}});
  EXPECT_LT(answer.ours.groups.at("language models").mape, 0.08);
  EXPECT_LT(answer.ours.overall.mape, 0.11);
  EXPECT_LT(answer.ours.overall.mape, answer.baselines[0].overall.mape);
}

// Single VMs are learned from, and their network is stated: no cluster of the table teaches
// anything.
TEST(ValidateScaling, ClustersArePredictedFromOneVmByTheirNetwork) {
  const Folder folder;
  const ScalingRequest request{.train = {folder.file("a.csv", two_jobs())},
                               .split = "max-vms=1",
                               .by_network = true,
                               .fabric = {.network = 400 * kGbit / kSecond},
                               .baselines = {ScalingBaseline::kPerfect}};
  const auto answer = answer_to(request);
  EXPECT_EQ(answer.ours.overall.n, 6);
  EXPECT_EQ(answer.baselines[0].overall.n, 6);
  EXPECT_GT(answer.ours.overall.coverage80, 0);
  ScalingRequest missing = request;
  missing.calibration = folder.path("none.json");
  EXPECT_FALSE(validate_scaling(missing).ok());
}

// A model of another table joins the training rows; held-out jobs are held out of it too.
TEST(ValidateScaling, PriorsJoinTheTrainingRows) {
  const Folder folder;
  const std::string own = folder.file("a.csv", kHeader + table("bert"));
  const std::string prior = folder.file("b.csv", kHeader + table("ssd"));
  const std::string test = folder.file("t.csv", kHeader + line("ssd", 4, 32));
  EXPECT_EQ(answer_to({.train = {own}, .test = {test}}).ours.overall.n, 0);
  const auto answer = answer_to({.train = {own}, .test = {test}, .priors = {"mlperf=" + prior}});
  EXPECT_EQ(answer.ours.overall.n, 1);
  const auto split =
      answer_to({.train = {own}, .split = "smallest=2", .priors = {"mlperf=" + prior}});
  EXPECT_EQ(split.ours.overall.n, 2);
  const auto bad = validate_scaling({.train = {own}, .test = {test}, .priors = {"x=" + prior}});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace stint
