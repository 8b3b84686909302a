#include "validate/validate_plan.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "base/check.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr const char* kHeader =
    "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu,step_time_s\n";

std::string file(const std::string& name, std::string_view bytes) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("stint_validate_plan_" + name);
  EXPECT_TRUE(write_file(path.string(), bytes).ok());
  return path.string();
}

/// 84 ms on one GPU, 3 % more with each other one on the VM, and `exchange` seconds more with each
/// VM beyond the first. One row alone, and nine on two to four VMs.
std::string lines_of(const std::string& job, double exchange) {
  std::string lines = fmt::format("{},1,1,1,32,0.084\n", job);
  for (const int vms : {2, 3, 4}) {
    for (const int per_vm : {1, 2, 4}) {
      lines += fmt::format("{},,{},{},32,{:.5f}\n", job, vms, vms * per_vm,
                           0.084 * (1 + 0.03 * (per_vm - 1)) + exchange * (vms - 1));
    }
  }
  return lines;
}

TEST(ValidatePlan, WrongRequestsAreUsageErrors) {
  const std::string table = file("usage.csv", kHeader + lines_of("a", 0.03));
  const auto complaint = [](const ValidatePlanRequest& request) {
    const auto answer = validate_plan(request);
    EXPECT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind, ErrorKind::kUsage);
    return answer.error().message;
  };
  EXPECT_NE(complaint({.train = {table}}).find("--split"), std::string::npos);
  for (const double confidence : {0.0, 1.0, 95.0}) {
    EXPECT_NE(complaint({.train = {table}, .test = {table}, .confidence = confidence})
                  .find("--confidence must be between 0 and 1"),
              std::string::npos);
  }
}

// One group of ten rows under seven deadlines. All rows were trained on, so that the plans of a
// model that knows them are near the best, and most GPUs keep every deadline.
TEST(ValidatePlan, ScoresEveryPolicyOnTheSameDecisions) {
  const std::string table = file("good.csv", kHeader + lines_of("a", 0.03));
  const auto answer = validate_plan({.train = {table}, .test = {table}});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->what, "plan");
  EXPECT_EQ(answer->overall.n, 7);
  EXPECT_EQ(answer->jobs.at("a").n, 7);
  EXPECT_FALSE(answer->split.has_value());
  for (const char* policy : {"stint", "stint-point", "pollux", "scavenger", "perfect",
                             "cheapest-first", "fastest-first", "stint-sure", "true-means"}) {
    ASSERT_TRUE(answer->policies.contains(policy)) << policy;
    EXPECT_EQ(answer->policies.at(policy).overall.n, 7) << policy;
  }
  int promises = 0;
  for (const ReliabilityBin& bin : answer->reliability) promises += bin.n;
  EXPECT_EQ(promises, 7);
  int candidates = 0;
  for (const ReliabilityBin& bin : answer->reliability_candidates) candidates += bin.n;
  EXPECT_EQ(candidates, 10 * 7);
  EXPECT_EQ(answer->policies.at("fastest-first").overall.deadlines_met, 1);
  EXPECT_EQ(answer->policies.at("stint").overall.deadlines_met, 1);
  EXPECT_LT(answer->overall.mean_regret, answer->policies.at("fastest-first").overall.mean_regret);
  // Nothing was measured twice, so that who knows the means knows everything.
  EXPECT_NEAR(answer->policies.at("true-means").overall.mean_regret, 0, 1e-9);
  EXPECT_EQ(answer->policies.at("true-means").overall.deadlines_met, 1);
}

// Two rows of each size, a tenth above and below: the means are the same for both, so that no rule
// can tell the luckier one, and what is chosen costs more than the best in hindsight.
TEST(ValidatePlan, KnowingTheMeansLeavesTheLuckOfSingleRows) {
  std::string lines = kHeader + std::string("a,1,1,1,32,0.084\n");
  for (const int vms : {2, 3, 4, 5}) {
    for (const double luck : {1.1, 0.9}) {
      lines += fmt::format("a,,{},{},32,{:.5f}\n", vms, 4 * vms, luck * (0.09 + 0.01 * vms));
    }
  }
  const std::string table = file("luck.csv", lines);
  const auto answer = validate_plan({.train = {table}, .test = {table}});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_GT(answer->policies.at("true-means").overall.mean_regret, 0.1);
}

TEST(ValidatePlan, SaysWhyNothingCanBeChosen) {
  const std::string table = file("few.csv", kHeader + lines_of("a", 0.03));
  const auto few = validate_plan({.train = {table}, .split = "max-gpus=4"});
  ASSERT_FALSE(few.ok());
  EXPECT_EQ(few.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(few.error().message.find("has 8 measured test rows"), std::string::npos);
  const std::string untimed =
      file("untimed.csv", "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu\na,1-1,2,2,32\n");
  const auto without = validate_plan({.train = {table}, .test = {untimed}});
  ASSERT_FALSE(without.ok());
  EXPECT_NE(without.error().message.find("step_time_s"), std::string::npos);
}

// A row without a time is no candidate, and changes nothing.
TEST(ValidatePlan, RowsWithoutAMeasurementAreNoCandidates) {
  const std::string table = file("blank.csv", kHeader + lines_of("a", 0.03));
  const std::string more =
      file("blank_more.csv", kHeader + lines_of("a", 0.03) + "a,4-4-4-4-4,5,20,32,\n");
  const auto without = validate_plan({.train = {table}, .test = {table}});
  const auto with = validate_plan({.train = {table}, .test = {more}});
  ASSERT_TRUE(without.ok());
  ASSERT_TRUE(with.ok()) << with.error().message;
  EXPECT_EQ(write_plan_validation(*with), write_plan_validation(*without));
}

std::string published() {
  const char* data = std::getenv("STINT_DATA");
  return data == nullptr ? "" : std::string(data) + "/pollux/step_times.csv";
}

/// Of the deadlines that are promised with 90 to 100 %, at least as many are kept.
void keeps_its_promises(const PlanValidation& answer) {
  double promised = 0;
  double kept = 0;
  for (const ReliabilityBin& bin : answer.reliability) {
    if (bin.from < 0.9) continue;
    promised += bin.n * bin.promised;
    kept += bin.n * bin.kept;
  }
  EXPECT_GT(promised, 0);
  EXPECT_GE(kept, promised - 1);  // One decision more or less is no evidence.
}

// 24 groups of three jobs.
TEST(ValidatePlan, PlansLargerClustersOfPublishedJobs) {
  if (published().empty()) GTEST_SKIP() << "STINT_DATA is not set.";
  const auto answer = validate_plan({.train = {published()}, .split = "max-gpus=6"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->overall.n, 24 * 7);
  EXPECT_GT(answer->overall.deadlines_met, 0.92);
  EXPECT_LT(answer->overall.mean_regret, 0.2);
  EXPECT_LT(answer->policies.at("stint-sure").overall.mean_regret, 0.25);
  keeps_its_promises(*answer);
  for (const char* other : {"pollux", "scavenger", "perfect", "cheapest-first", "fastest-first"}) {
    EXPECT_GT(answer->policies.at(other).overall.mean_regret, 0.3) << other;
  }
}

/// The published rows of every third batch of each job, as leaving jobs out takes many fits.
std::string thinned() {
  const auto csv = Csv::parse(*read_file(published()), published());
  CHECK(csv.ok());
  const auto batch_of = [&](std::size_t row) {
    return parse_int(csv->cell(row, "batch_per_gpu")).value();
  };
  std::map<std::string, std::set<int>, std::less<>> batches;
  for (std::size_t i = 0; i < csv->rows(); ++i) {
    batches[std::string(csv->cell(i, "model"))].insert(batch_of(i));
  }
  std::string text = csv_line(csv->header());
  for (std::size_t i = 0; i < csv->rows(); ++i) {
    const std::set<int>& all = batches.find(csv->cell(i, "model"))->second;
    if (std::distance(all.begin(), all.find(batch_of(i))) % 3 != 0) continue;
    std::vector<std::string> cells;
    for (std::size_t k = 0; k < csv->header().size(); ++k) cells.push_back(csv->cell(i, k));
    text += csv_line(cells);
  }
  return file("thinned.csv", text);
}

TEST(ValidatePlan, PlansPublishedJobsThatWereNeverSeenOnACluster) {
  if (published().empty()) GTEST_SKIP() << "STINT_DATA is not set.";
  const auto answer = validate_plan({.train = {thinned()}, .split = "leave-one-job-out"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->overall.n, (2 + 4 + 3) * 7);
  EXPECT_EQ(answer->jobs.size(), 3U);
  EXPECT_GT(answer->overall.deadlines_met, 0.92);
  EXPECT_LT(answer->overall.mean_regret, 0.1);
  EXPECT_LT(answer->policies.at("stint-sure").overall.mean_regret, 0.2);
  keeps_its_promises(*answer);
  for (const char* other : {"pollux", "scavenger", "perfect", "cheapest-first", "fastest-first"}) {
    EXPECT_GT(answer->policies.at(other).overall.mean_regret, 0.2) << other;
  }
}

}  // namespace
}  // namespace stint
