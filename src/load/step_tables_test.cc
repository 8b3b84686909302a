#include "load/step_tables.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

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

}  // namespace
}  // namespace stint
