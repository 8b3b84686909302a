#include "measure/tables/nvidia_steps.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kHeader =
    "example,licence,heading,gpu,gpu_mem_gb,num_gpus,batch,batch_column,precision,"
    "throughput_column,throughput\n";

StepRow row_of(const std::string& line) {
  const auto rows = read_nvidia_steps(kHeader + line + "\n", "a.csv");
  EXPECT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->size(), 1U);
  return rows->front();
}

StepRow row_with(const std::string& heading, const std::string& gpus, const std::string& column,
                 const std::string& throughput) {
  return row_of("net,MIT," + heading + ",V100,16," + gpus + ",32,Batch size / GPU,FP32," + column +
                "," + throughput);
}

// 400 images/s are 1 / 400 s = 2.5 ms an image.
TEST(NvidiaSteps, ATimeIsThatOfOnePrintedUnit) {
  const StepRow row = row_with("NVIDIA DGX-1 (8x V100 16GB)", "4", "Throughput [img/s]", "400");
  EXPECT_EQ(row.job, "net");
  EXPECT_EQ(row.series, "NVIDIA DGX-1 (8x V100 16GB) | Throughput [img/s] | FP32 | V100 16 GB");
  EXPECT_EQ(row.device, "V100");
  EXPECT_EQ(row.workers_by_vm, std::vector<int>{4});
  EXPECT_EQ(row.batch_per_worker, 32);
  EXPECT_DOUBLE_EQ(row.time->in(kMillisecond), 2.5);
  EXPECT_EQ(row.unusable, "");
}

TEST(NvidiaSteps, GpusFillServersOneAfterAnother) {
  const auto placed = [](const char* heading, const char* gpus) {
    return row_with(heading, gpus, "Throughput", "1").workers_by_vm;
  };
  EXPECT_EQ(placed("DGX-1 (8x V100 16G)", "16"), (std::vector<int>{8, 8}));
  EXPECT_EQ(placed("DGX-2H (16x V100 32GB)", "16"), std::vector<int>{16});
  EXPECT_EQ(placed("NER on DGX-2 32G", "16"), std::vector<int>{16});
  EXPECT_EQ(placed("DGX-1 (4xV100)", "6"), (std::vector<int>{4, 2}));
  EXPECT_EQ(placed("Base model", "12"), (std::vector<int>{8, 4}));
}

// 2 molecules/ms are 0.5 ms each; 250 ms/step and 0.25 s/it are times as they stand.
TEST(NvidiaSteps, TheColumnNamesTheUnit) {
  const auto milliseconds = [](const char* column, const char* figure) {
    return row_with("DGX-1", "1", column, figure).time->in(kMillisecond);
  };
  EXPECT_DOUBLE_EQ(milliseconds("Throughput - TF32 [mol/ms]", "2"), 0.5);
  EXPECT_DOUBLE_EQ(milliseconds("AMP<br />imgs/second", "100"), 10);
  EXPECT_DOUBLE_EQ(milliseconds("Throughput (steps per s)", "100"), 10);
  EXPECT_DOUBLE_EQ(milliseconds("Throughput - FP32", "100"), 10);
  EXPECT_DOUBLE_EQ(milliseconds("FP32 (ms/step)", "250"), 250);
  EXPECT_DOUBLE_EQ(milliseconds("FP32 s/it", "0.25"), 250);
  EXPECT_EQ(row_with("DGX-1", "1", "Time to train (h)", "3").unusable,
            "'Time to train (h)' is not a time of a step");
}

// Four workers with 32 samples each use up 128 of what a rate counts in a step; a time of a step is
// one already.
TEST(NvidiaSteps, AStepTakesOneTimeForEachSample) {
  const auto times = [](const char* column, const char* throughput) {
    return row_with("DGX-1", "4", column, throughput).times_per_step;
  };
  EXPECT_EQ(times("Throughput [img/s]", "400"), 128);
  EXPECT_EQ(times("Throughput - TF32 [mol/ms]", "2"), 128);
  EXPECT_EQ(times("Throughput [img/s]", ""), 128);
  EXPECT_EQ(times("FP32 (ms/step)", "250"), 1);
}

TEST(NvidiaSteps, FiguresAreTheInverseOfReading) {
  for (const char* column : {"Throughput - TF32 [mol/ms]", "img/s", "FP32 (ms/step)"}) {
    const StepRow row = row_with("DGX-1", "1", column, "12.5");
    EXPECT_NEAR(nvidia_figure(column, *row.time), 12.5, 1e-9) << column;
  }
}

TEST(NvidiaSteps, TheThroughputMayBeMissingOrBlank) {
  EXPECT_EQ(row_with("DGX-1", "1", "img/s", "").unusable, "");
  EXPECT_FALSE(row_with("DGX-1", "1", "img/s", "").time.has_value());
  const auto rows = read_nvidia_steps(
      "example,heading,gpu,num_gpus,batch,batch_column,precision,throughput_column\n"
      "net,DGX-1,V100,1,,,FP32,img/s\n",
      "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_FALSE(rows->front().time.has_value());
  EXPECT_EQ(rows->front().series, "DGX-1 | img/s | FP32 | V100");
  EXPECT_EQ(rows->front().batch_per_worker, 1);
}

// 32 samples on one GPU are 32 times what is printed, whether it can be read or not.
TEST(NvidiaSteps, AThroughputThatCannotBeReadLeavesTheRowToBePredicted) {
  for (const char* figure : {"OOM", "0", "nan", "-3"}) {
    const StepRow row = row_with("DGX-1", "1", "img/s", figure);
    EXPECT_EQ(row.unmeasured, std::string("invalid throughput '") + figure + "'");
    EXPECT_EQ(row.unusable, "");
    EXPECT_EQ(row.times_per_step, 32);
    EXPECT_FALSE(row.time.has_value());
  }
  EXPECT_NE(row_with("DGX-1", "1", "h/step", "1e308").unmeasured, "");
}

TEST(NvidiaSteps, SaysWhyARowIsOfNoUse) {
  EXPECT_EQ(row_with("DGX-1", "few", "img/s", "1").unusable, "invalid num_gpus 'few'");
  EXPECT_EQ(row_with("DGX A100 Multi-node Scaling", "8", "img/s", "1").unusable,
            "the number of nodes is not stated");
  EXPECT_EQ(row_of("net,MIT,DGX-1,V100,16,1,some,Batch,FP32,img/s,1").unusable,
            "invalid batch cell 'some'");
  EXPECT_EQ(row_of(",MIT,DGX-1,V100,16,1,8,Batch,FP32,img/s,1").unusable, "has no example");
}

TEST(NvidiaSteps, AHeadingThatComesAgainIsOfAnotherTable) {
  const auto rows = read_nvidia_steps(
      "example,heading,gpu,num_gpus,batch,batch_column,precision,throughput_column\n"
      "net,DGX-1,V100,1,,,FP32,img/s\nnet,DGX-1,V100,8,,,FP32,img/s\n"
      "net,DGX A100,A100,1,,,FP32,img/s\nnet,DGX-1,V100,1,,,FP32,img/s\n"
      "other,DGX-1,V100,1,,,FP32,img/s\n",
      "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ((*rows)[1].series, "DGX-1 | img/s | FP32 | V100");
  EXPECT_EQ((*rows)[3].series, "DGX-1 | img/s | FP32 | V100 | table 2");
  EXPECT_EQ((*rows)[4].series, "DGX-1 | img/s | FP32 | V100");
}

TEST(NvidiaSteps, ATableWithoutAKeyColumnIsBadInput) {
  const auto rows = read_nvidia_steps("example,heading\nnet,DGX-1\n", "a.csv");
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind, ErrorKind::kBadInput);
}

TEST(NvidiaSteps, ReadsThePublishedTable) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set";
  const std::string path = std::string(data) + "/nvidia_dle/training_throughput.csv";
  const auto rows = read_nvidia_steps(*read_file(path), path);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->size(), 785U);
  std::map<std::string, int> reasons;
  for (const StepRow& row : *rows) ++reasons[row.unusable + row.unmeasured];
  EXPECT_EQ(reasons,
            (std::map<std::string, int>{{"", 761}, {"the number of nodes is not stated", 24}}));
}

}  // namespace
}  // namespace stint
