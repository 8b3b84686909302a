#include "measure/tables/convergence_table.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

const std::string kHeader =
    "model,batch_total,epoch,progress_in_initial_batch_steps,iteration,metric,grad_sqr,grad_var\n";

std::string error_of(const std::string& line, Measured measured = Measured::kRequired) {
  const auto rows = read_convergence_table(kHeader + line, "t.csv", measured);
  return rows.ok() ? "" : rows.error().message;
}

TEST(ConvergenceTable, ReadsARun) {
  const auto rows = read_convergence_table(
      kHeader + "cifar10,128,0,391,390,0.4455,8,4\ncifar10,128,1,782,781,-1,0,1\n", "t.csv",
      Measured::kRequired);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  const ConvergenceRow& row = rows->front();
  EXPECT_EQ(row.job, "cifar10");
  EXPECT_EQ(row.batch, 128);
  EXPECT_EQ(row.epoch, 0);
  EXPECT_EQ(row.progress, 391);
  EXPECT_EQ(row.iteration, 390);
  EXPECT_EQ(row.metric, 0.4455);
  EXPECT_EQ(row.noise_ratio, 0.5);
  EXPECT_FALSE(rows->back().noise_ratio.has_value());
  EXPECT_EQ(rows->back().metric, -1);
}

TEST(ConvergenceTable, NeedsNoMeasurementsToPredict) {
  const auto rows =
      read_convergence_table("model,batch_total,epoch\nbert,12,0\n", "t.csv", Measured::kOptional);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_FALSE(rows->front().iteration.has_value());
  EXPECT_FALSE(rows->front().metric.has_value());
  EXPECT_FALSE(rows->front().noise_ratio.has_value());
  EXPECT_EQ(error_of("bert,12,0,,,,,\n", Measured::kOptional), "");
}

TEST(ConvergenceTable, SaysWhatIsMissingOrWrong) {
  const auto rows =
      read_convergence_table("model,batch_total,epoch\nbert,12,0\n", "t.csv", Measured::kRequired);
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(rows.error().message.find("lacks the columns progress_in_initial"), std::string::npos);
  EXPECT_EQ(error_of("bert,0,0,1,1,1,1,1\n"),
            "t.csv:2: column batch_total: must be a whole number from 1 to 16777216, not '0'");
  EXPECT_EQ(error_of("bert,12,x,1,1,1,1,1\n"),
            "t.csv:2: column epoch: must be a whole number from 0 to 16777216, not 'x'");
  EXPECT_EQ(error_of("bert,12,0,1,-1,1,1,1\n"),
            "t.csv:2: column iteration: must be above zero, not '-1'");
  EXPECT_EQ(error_of("bert,12,0,0,1,1,1,1\n"),
            "t.csv:2: column progress_in_initial_batch_steps: must be above zero, not '0'");
  EXPECT_EQ(error_of("bert,12,0,1,1,,1,1\n"), "t.csv:2: column metric: must be a number, not ''");
  EXPECT_EQ(error_of("bert,12,0,1,1,1,nan,1\n"),
            "t.csv:2: column grad_sqr: must be a number, not 'nan'");
  EXPECT_EQ(error_of(",12,0,1,1,1,1,1\n"), "t.csv:2: column model: must not be empty");
}

}  // namespace
}  // namespace stint
