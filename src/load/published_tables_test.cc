#include "load/published_tables.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_pair_tables_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

TEST(PairTables, HeadersTellTablesApart) {
  const auto tables = read_pair_tables(
      {file("pairs.csv", "gpu,model_a,batch_a,model_b,batch_b\nK80,net,1,net,2\n"),
       file(
           "alone.csv",
           "gpu,model,batch_per_gpu,num_gpus,steps_per_s_all_gpus\nK80,net,1,1,4\nK80,net,2,1,3\n"),
       file("older.csv", "gpu,model_a,model_b\nP100,net,game\n")});
  ASSERT_TRUE(tables.ok()) << tables.error().message;
  ASSERT_EQ(tables->pairs.size(), 2U);
  EXPECT_TRUE(tables->pairs[0].in_steps);
  EXPECT_FALSE(tables->pairs[1].in_steps);
  EXPECT_EQ(tables->alone.size(), 2U);
}

TEST(PairTables, SaysWhatIsWrong) {
  const std::string odd = file("odd.csv", "gpu,price\nK80,1\n");
  const auto tables = read_pair_tables({odd});
  ASSERT_FALSE(tables.ok());
  EXPECT_EQ(tables.error().message,
            odd +
                ": its header has neither model_a (packed pairs) nor batch_per_gpu (jobs alone), "
                "so it is not a table of jobs on one GPU");
  EXPECT_FALSE(read_pair_tables({"nowhere.csv"}).ok());
  EXPECT_FALSE(read_pair_tables({file("bad.csv", "gpu,model_a\nK80,net\n")}).ok());
}

TEST(FillAlone, TheRowsOwnRateCountsFirst) {
  PackedPair pair{.first = {.job = {"net", 1}, .alone = 9 / kSecond},
                  .second = {.job = {"net", 2}},
                  .device = "K80"};
  PackedPair other = pair;
  other.device = "P100";
  other.first.job.job = "game";
  PackedPair images = pair;
  images.in_steps = false;
  std::vector<PackedPair> pairs{pair, other, images};
  const std::vector<IsolatedRate> alone{{{"net", 1}, "K80", 4 / kSecond, true},
                                        {{"net", 2}, "K80", std::nullopt, true},
                                        {{"net", 2}, "K80", 3 / kSecond, true},
                                        {{"net", 2}, "K80", 2 / kSecond, true}};
  fill_alone(pairs, alone);
  EXPECT_EQ(pairs[0].first.alone, 9 / kSecond);
  EXPECT_EQ(pairs[0].second.alone, 3 / kSecond);
  EXPECT_FALSE(pairs[1].second.alone.has_value());
  EXPECT_FALSE(pairs[2].second.alone.has_value());
}

// 8/s at batch 10 and 4/s at batch 40: steps grow as batch^0.5, so 8/√2 at 20, 8 · √2 at 5 and
// 4/√2 at 80. Worked by hand.
TEST(FillAlone, OtherBatchesSayWhatIsMissing) {
  const std::vector<IsolatedRate> alone{{{"net", 10}, "K80", 8 / kSecond, true},
                                        {{"net", 40}, "K80", 4 / kSecond, true},
                                        {{"one", 8}, "K80", 6 / kSecond, true},
                                        {{"odd", 1}, "K80", 3 / kSecond, true},
                                        {{"odd", 2}, "K80", 5 / kSecond, true}};
  const auto rate = [&](const std::string& job, int batch) {
    std::vector<PackedPair> pairs{
        {.first = {.job = {job, batch}}, .second = {.job = {"net", 10}}, .device = "K80"}};
    fill_alone(pairs, alone);
    EXPECT_TRUE(pairs[0].first.alone_worked_out);
    EXPECT_FALSE(pairs[0].second.alone_worked_out);
    return pairs[0].first.alone->in(1 / kSecond);
  };
  EXPECT_NEAR(rate("net", 20), 5.65685, 1e-5);
  EXPECT_NEAR(rate("net", 5), 11.31371, 1e-5);
  EXPECT_NEAR(rate("net", 80), 2.82843, 1e-5);
  // A single batch: in proportion.
  EXPECT_NEAR(rate("one", 16), 3, 1e-9);
  EXPECT_NEAR(rate("one", 4), 12, 1e-9);
  // Measurements by which larger batches are faster are taken for equally fast.
  EXPECT_NEAR(rate("odd", 4), 5, 1e-9);
}

TEST(FillAlone, OtherPairsKnowRatesToo) {
  std::vector<PackedPair> pairs{{.first = {.job = {"net", 1}, .alone = 9 / kSecond},
                                 .second = {.job = {"game", 1}},
                                 .device = "K80"},
                                {.first = {.job = {"game", 1}, .alone = 2 / kSecond},
                                 .second = {.job = {"net", 1}},
                                 .device = "K80"}};
  fill_alone(pairs, {});
  EXPECT_EQ(pairs[0].second.alone, 2 / kSecond);
  EXPECT_EQ(pairs[1].second.alone, 9 / kSecond);
  EXPECT_FALSE(pairs[1].second.alone_worked_out);
  // In other units nothing is known by these, and something by others of the kind.
  for (PackedPair& it : pairs) it.in_steps = false;
  pairs[1].second.alone.reset();
  pairs.push_back(pairs[1]);
  pairs[0].in_steps = true;
  fill_alone(pairs, {});
  EXPECT_FALSE(pairs[1].second.alone.has_value());
  pairs[2].second.alone = 500 / kSecond;
  fill_alone(pairs, {});
  EXPECT_EQ(pairs[1].second.alone, 500 / kSecond);
}

// 8/s at batch 10 and 2/s at batch 40: 4/s usually. Worked by hand.
TEST(FillAlone, TheLargestServerAndOtherBatchesAreKept) {
  const std::vector<IsolatedRate> alone{
      {.job = {"net", 10}, .device = "K80", .alone = 8 / kSecond},
      {.job = {"net", 40}, .device = "K80", .alone = 2 / kSecond},
      {.job = {"net", 10}, .device = "K80", .gpus = 4, .each_in_server = 5 / kSecond},
      {.job = {"net", 10}, .device = "K80", .gpus = 8, .each_in_server = 3 / kSecond},
      {.job = {"net", 10}, .device = "K80", .gpus = 16},
      {.job = {"net", 10}, .device = "P100", .gpus = 32, .each_in_server = 1 / kSecond}};
  std::vector<PackedPair> pairs{
      {.first = {.job = {"net", 10}}, .second = {.job = {"net", 40}}, .device = "K80"}};
  fill_alone(pairs, alone);
  EXPECT_NEAR(pairs[0].first.alone_usual->in(1 / kSecond), 4, 1e-9);
  EXPECT_NEAR(pairs[0].second.alone_usual->in(1 / kSecond), 4, 1e-9);
  EXPECT_EQ(pairs[0].first.full_server, 3 / kSecond);
  EXPECT_FALSE(pairs[0].second.full_server.has_value());
}

StepRow gavel_row(const char* job, const char* device, std::vector<int> by_vm) {
  return {.job = job, .device = device, .workers_by_vm = std::move(by_vm)};
}

TEST(StepTables, KeepsApartWhatGavelsPublisherWarnsOf) {
  const auto apart = [](const StepRow& row) { return kept_apart(StepFormat::kGavel, row); };
  EXPECT_EQ(apart(gavel_row("Recommendation", "P100", {1})), "Recommendation");
  EXPECT_EQ(apart(gavel_row("LM", "V100", {4})), "V100 on one server");
  EXPECT_EQ(apart(gavel_row("LM", "V100", {1})), "");
  EXPECT_EQ(apart(gavel_row("LM", "V100", {1, 1})), "");
  EXPECT_EQ(apart(gavel_row("LM", "P100", {4})), "");
  EXPECT_EQ(kept_apart(StepFormat::kPollux, gavel_row("LM", "V100", {4})), "");
}

TEST(StepTables, OneWorkerIsLearnedFromWhateverTheJob) {
  Rows rows{gavel_row("Recommendation", "P100", {1}), gavel_row("Recommendation", "P100", {2}),
            gavel_row("LM", "V100", {4}), gavel_row("LM", "V100", {1, 1})};
  drop_kept_apart(StepFormat::kGavel, rows);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(workers(rows[0]), 1);
  EXPECT_EQ(rows[1].workers_by_vm.size(), 2U);
}

// All VMs of the catalogue with several P100 have the PCIe card; V100 come with both links.
TEST(StepTables, TheCatalogueNamesTheLinkInsideWhereAllTypesAgree) {
  const Rows rows{gavel_row("LM", "P100", {4}), gavel_row("LM", "V100", {1, 1})};
  const FabricFacts found = with_inside({}, StepFormat::kGavel, rows);
  EXPECT_EQ(found.inside, InsideLinkKind::kPcie);
  EXPECT_TRUE(found.inside_rate.has_value());
  const Rows mixed{gavel_row("LM", "V100", {4})};
  EXPECT_FALSE(with_inside({}, StepFormat::kNvidia, mixed).inside.has_value());
}

TEST(StepTables, AStatedLinkInsideStays) {
  const Rows rows{gavel_row("LM", "P100", {4})};
  const FabricFacts stated{.inside = InsideLinkKind::kNvlink};
  EXPECT_EQ(with_inside(stated, StepFormat::kGavel, rows).inside, InsideLinkKind::kNvlink);
}

TEST(StepTables, PolluxsFormatDoesNotTellTheLinkInside) {
  const Rows rows{gavel_row("bert", "T4", {4})};
  EXPECT_FALSE(with_inside({}, StepFormat::kPollux, rows).inside.has_value());
  EXPECT_TRUE(with_inside({}, StepFormat::kGavel, rows).inside.has_value());
}

// Rows of publishers' warnings and spread workers say nothing of the link inside.
TEST(StepTables, OnlyWorkersOfOneVmTellTheLinkInside) {
  const Rows rows{gavel_row("Recommendation", "P100", {4}), gavel_row("LM", "P100", {1, 1})};
  EXPECT_FALSE(with_inside({}, StepFormat::kGavel, rows).inside.has_value());
}

TEST(StepTables, AMissingFileIsBadInputThatNamesIt) {
  const auto rows =
      read_step_tables(StepFormat::kPollux, {"/nonexistent/steps.csv"}, TableUse::kLearn);
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(rows.error().message.find("/nonexistent/steps.csv"), std::string::npos);
}

TEST(StepTables, TheShippedJobsAndPriorsAreTheDefault) {
  const auto context = fit_context("");
  ASSERT_TRUE(context.ok());
  // NeuMF: 1.60 million parameters of four bytes.
  EXPECT_DOUBLE_EQ(context->facts.at("ncf").gradient_bytes.in(kMB), 6.4);
  EXPECT_GT(context->priors.noise_floor, 0);
}

TEST(FitContext, BeginsWithNoCalibrationOfBuckets) {
  EXPECT_TRUE(fit_context("", {}, "bundled").ok());
  const auto context = fit_context("", {}, "local");
  ASSERT_FALSE(context.ok());
  EXPECT_EQ(context.error().kind, ErrorKind::kUsage);
}

}  // namespace

}  // namespace stint
