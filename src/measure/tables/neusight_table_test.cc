#include "measure/tables/neusight_table.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Csv csv_of(const std::string& text) { return *Csv::parse(text, "t.csv"); }

constexpr const char* kHeader =
    "model,seq,batch,gpu,mode,option,gpus,measured_s,measured_forward_s,neusight_predicted_s,"
    "measured_BMM_forward_s\n";

std::string row_error(const std::string& row) {
  const auto read = read_neusight_rows(csv_of(kHeader + row));
  return read.ok() ? "" : read.error().message;
}

TEST(NeusightTable, TellsFilesApartByTheirHeader) {
  EXPECT_EQ(neusight_file(csv_of(kHeader)), NeusightFile::kLatency);
  EXPECT_EQ(neusight_file(csv_of("gpu,memory_bandwidth_gb_s,fp32_gflops\n")), NeusightFile::kGpus);
  EXPECT_EQ(neusight_file(csv_of("model,type,layers,hidden,heads,ffn,vocab,experts\n")),
            NeusightFile::kModels);
  EXPECT_FALSE(neusight_file(csv_of("a,b\n")));
}

TEST(NeusightTable, ReadsRows) {
  const auto rows = read_neusight_rows(csv_of(std::string(kHeader) +
                                              "gpt2_large,1024,8,Tesla_T4,inf,,1,4.8,4.8,5.2,0.4\n"
                                              "gpt2_large,1024,8,L4,train,tp4,4,,,,\n"));
  ASSERT_TRUE(rows.ok());
  const NeusightRow& first = (*rows)[0];
  EXPECT_EQ(first.gpu, "Tesla_T4");
  EXPECT_FALSE(first.training);
  EXPECT_EQ(first.batch, 8);
  EXPECT_EQ(first.time, 4.8 * kSecond);
  EXPECT_EQ(first.predicted[0], 5.2 * kSecond);
  EXPECT_FALSE(first.predicted[1]);
  EXPECT_EQ(first.by_kind[1], 0.4 * kSecond);
  const NeusightRow& second = (*rows)[1];
  EXPECT_TRUE(second.training);
  EXPECT_EQ(second.option, "tp4");
  EXPECT_EQ(second.gpus, 4);
  EXPECT_FALSE(second.time);
}

TEST(NeusightTable, ReadsRowsWithoutMeasuredColumns) {
  const auto rows = read_neusight_rows(csv_of("model,seq,batch,gpu,mode\nbert,512,8,L4,inf\n"));
  ASSERT_TRUE(rows.ok());
  EXPECT_FALSE((*rows)[0].time);
  EXPECT_EQ((*rows)[0].gpus, 1);
}

TEST(NeusightTable, NamesTheCellThatCannotBeRead) {
  EXPECT_EQ(row_error("m,1024,8,T4,both,,1,1,1,1,1\n"),
            "t.csv:2: column mode: must be train or inf");
  EXPECT_EQ(row_error("m,many,8,T4,inf,,1,1,1,1,1\n"),
            "t.csv:2: column seq: must be a whole number above zero");
  EXPECT_EQ(row_error("m,1024,2e9,T4,inf,,1,1,1,1,1\n"),
            "t.csv:2: column batch: must be a whole number above zero");
  EXPECT_EQ(row_error("m,1024,8,,inf,,1,1,1,1,1\n"), "t.csv:2: column gpu: must not be empty");
  EXPECT_EQ(row_error(",1024,8,T4,inf,,1,1,1,1,1\n"), "t.csv:2: column model: must not be empty");
  EXPECT_EQ(row_error("m,1024,8,T4,inf,,0,1,1,1,1\n"),
            "t.csv:2: column gpus: must be a whole number above zero");
  EXPECT_NE(row_error("m,1024,8,T4,inf,,1,-1,1,1,1\n"), "");
  EXPECT_NE(row_error("m,1024,8,T4,inf,,1,1,1,1e300,1\n"), "");
  const auto lacking = read_neusight_rows(csv_of("model,seq,batch,gpu\nm,1,1,T4\n"));
  EXPECT_FALSE(lacking.ok());
}

// AMD's matrix units do FP32, so their peak counts.
TEST(NeusightTable, ReadsGpus) {
  const auto gpus = read_neusight_gpus(
      csv_of("gpu,memory_bandwidth_gb_s,sm_or_cu,cores_per_sm,fp32_gflops,fp32_matrix_gflops_amd\n"
             "Tesla_T4,320,40,64,8141,\nAMD_Instinct_MI210,1640,104,4,,45300\nX,,,,,\n"));
  ASSERT_TRUE(gpus.ok());
  EXPECT_NEAR((*gpus)[0].peak->in(kTeraflop / kSecond), 8.141, 1e-9);
  EXPECT_EQ((*gpus)[0].bandwidth, 320 * kGB / kSecond);
  EXPECT_EQ((*gpus)[0].lanes, 64);
  EXPECT_FALSE((*gpus)[0].amd);
  EXPECT_TRUE((*gpus)[1].amd);
  EXPECT_NEAR((*gpus)[1].peak->in(kTeraflop / kSecond), 45.3, 1e-9);
  EXPECT_FALSE((*gpus)[2].peak);
  const auto bad = read_neusight_gpus(
      csv_of("gpu,memory_bandwidth_gb_s,sm_or_cu,fp32_gflops\nT4,320,-4,8141\n"));
  EXPECT_EQ(bad.error().message, "t.csv:2: column sm_or_cu: must be a whole number above zero");
}

TEST(NeusightTable, ReadsModels) {
  const std::string header = "model,type,layers,hidden,heads,ffn,vocab,experts\n";
  const auto models = read_neusight_models(
      csv_of(header +
             "bert,bert,12,768,12,3072,30522,\nswitchxl4,switch_transformers,24,1024,32,16384,"
             "32128,4\ngpt2,gpt2,12,768,12,,50257,\n"));
  ASSERT_TRUE(models.ok());
  EXPECT_EQ((*models)[0].feed_forward, 3072);
  EXPECT_EQ((*models)[1].experts, 4);
  EXPECT_FALSE((*models)[2].feed_forward);
  const auto bad = read_neusight_models(csv_of(header + "bert,bert,0,768,12,3072,30522,\n"));
  EXPECT_EQ(bad.error().message, "t.csv:2: column layers: must be a whole number above zero");
}

}  // namespace
}  // namespace stint
