#include "measure/tables/case_table.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr const char* kHeader =
    "id,model,task,params_m,precision,batch_per_gpu,global_batch,machines,nodes,gpus,gpu,network,"
    "framework,metric,value,source,note\n";

std::string table(const std::string& rows) { return kHeader + rows; }

TEST(PublishedCases, ReadsOneFigureARow) {
  const auto cases = read_published_cases(
      table(
          "hvd396-03,ResNet-50,tf_cnn_benchmarks,25.6,fp32,64,1024,p3.16xlarge,2,16,V100-16GB,AWS "
          "TCP,Horovod,samples_per_s,2632.95,a page,a note\n"
          "awsdlm-bert-01,BERT-base,phase 1,,,,32K,p3dn.24xlarge,1,8,V100-32GB,,TensorFlow,"
          "time_to_train_s,115200,,\n"),
      "cases.csv");
  ASSERT_TRUE(cases.ok()) << cases.error().message;
  ASSERT_EQ(cases->size(), 2U);
  const PublishedCase& first = (*cases)[0];
  EXPECT_EQ(first.group, "hvd396");
  EXPECT_DOUBLE_EQ(*first.parameters, 25.6e6);
  EXPECT_EQ(first.vms, 2);
  EXPECT_EQ(first.workers, 16);
  EXPECT_EQ(first.metric, CaseMetric::kSamplesPerSecond);
  EXPECT_DOUBLE_EQ(*first.value, 2632.95);
  EXPECT_EQ((*cases)[1].group, "awsdlm-bert");
  EXPECT_EQ((*cases)[1].global_batch, 32768);
  EXPECT_FALSE((*cases)[1].batch_per_worker.has_value());
}

TEST(PublishedCases, LeavesUnknownWhatIsNoNumber) {
  const auto cases = read_published_cases(
      table("llmc,GPT-2,steps,,,64,524288 tokens,8x A100,1,0,A100,one node,llm.c,cost_usd,20,,\n"),
      "cases.csv");
  ASSERT_TRUE(cases.ok()) << cases.error().message;
  const PublishedCase& it = cases->front();
  EXPECT_EQ(it.group, "llmc");
  EXPECT_FALSE(it.global_batch.has_value());
  EXPECT_FALSE(it.workers.has_value());
  EXPECT_EQ(it.metric, CaseMetric::kOther);
  EXPECT_FALSE(it.value.has_value());  // Only figures of speed are predicted.
}

TEST(PublishedCases, NeedsNoValueToPredict) {
  const auto cases = read_published_cases(
      "id,model,task,precision,batch_per_gpu,global_batch,machines,nodes,gpus,gpu,network,"
      "framework,"
      "metric\na-1,m,t,,1,8,p3.16xlarge,1,8,V100,,f,iteration_s\n",
      "cases.csv");
  ASSERT_TRUE(cases.ok()) << cases.error().message;
  EXPECT_FALSE(cases->front().value.has_value());
}

TEST(PublishedCases, RefusesWhatCannotBeAFigure) {
  const auto cases = read_published_cases(
      table("a-1,m,t,,,1,8,p3.16xlarge,1,8,V100,,f,iteration_s,-3,,\n"), "cases.csv");
  ASSERT_FALSE(cases.ok());
  EXPECT_EQ(cases.error().message,
            "cases.csv:2: column value: must be a number above zero, not '-3'");
  EXPECT_FALSE(read_published_cases("id,model\na,b\n", "cases.csv").ok());
  EXPECT_FALSE(read_published_cases(table(",m,t,,,1,8,x,1,8,V100,,f,iteration_s,3,,\n"), "c").ok());
}

TEST(NvidiaCases, AreTheResNet50Rows) {
  const auto cases = read_cases(
      "example,licence,heading,gpu,gpu_mem_gb,num_gpus,batch,batch_column,precision,"
      "throughput_column,throughput\n"
      "TensorFlow/Classification/ConvNets/resnet50v1.5,MIT,Training performance: NVIDIA DGX-1 (8x "
      "V100 16G),V100,16,8,128 (FP32) / 256 (AMP),Batch Size / GPU,mixed,Throughput - mixed,9510\n"
      "PyTorch/Bert,MIT,Training performance,V100,16,8,4,,mixed,Throughput,12\n",
      "training_throughput.csv");
  ASSERT_TRUE(cases.ok()) << cases.error().message;
  ASSERT_EQ(cases->size(), 1U);
  const PublishedCase& it = cases->front();
  EXPECT_EQ(it.batch_per_worker, 256);
  EXPECT_EQ(it.machines, "8x V100 16G");
  EXPECT_EQ(it.gpu, "V100-16GB");
  EXPECT_EQ(it.workers, 8);
  EXPECT_EQ(it.vms, 1);
  EXPECT_EQ(it.row, 0U);
}

}  // namespace
}  // namespace stint
