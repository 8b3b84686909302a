#include "measure/tables/memory_layouts.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr const char* kBloom =
    "gpu,gpus,gpus_per_node,params_b,layers,hidden,heads,seq,global_batch,micro_batch,dp,tp,pp,"
    "zero_stage,iteration_s,tflops_per_gpu,memory_gb,notes,where,caution\n"
    "A100-80GB,384,8,194,,14400,,2048,2048,1,8,8,6,1,183.64,92.38,39,02-20,line 506,\n"
    "A100-80GB,320,8,200,80,14400,16,2048,2048,8,4,8,10,1,,,,02-20 too close to OOM,line 515,\n"
    "A100-80GB,320,8,187,80,13824,,2048,2048,4,8,8,10,1,,,53,02-21,line 646,degrees differ\n";

TEST(MemoryLayouts, ReadsBloom) {
  const auto rows = read_memory_layouts(kBloom, "b.csv", MemoryFormat::kBloom);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 3u);
  const MemoryLayoutRow& row = rows->front();
  EXPECT_EQ(row.format, MemoryFormat::kBloom);
  EXPECT_EQ(to_text(row.layout), "dp8 tp8 pp6 zero1 mb1 recompute:full");
  EXPECT_EQ(row.model.layers, std::nullopt);
  EXPECT_EQ(row.model.hidden, 14400);
  EXPECT_EQ(row.memory, 39);
  EXPECT_EQ(row.unit, kGB);
  EXPECT_EQ((*rows)[1].date, "02-20");
  EXPECT_EQ((*rows)[1].memory, std::nullopt);
  EXPECT_EQ((*rows)[1].model.heads, 16);
  EXPECT_EQ((*rows)[2].problem, "degrees differ");
}

TEST(MemoryLayouts, ReadsNanotronWithoutItsAnswers) {
  const auto rows = read_memory_layouts(
      "gpu,gpus_per_node,params_b,layers,hidden,heads,ffn,vocab,seq,global_batch,micro_batch,dp,tp,"
      "pp,zero_stage\nH100,8,1.34,16,2048,32,8192,131072,4096,256,4,64,2,1,0\n",
      "n.csv", MemoryFormat::kNanotron);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  const MemoryLayoutRow& row = rows->front();
  EXPECT_EQ(to_text(row.layout), "dp64 tp2 sp mb4");
  EXPECT_EQ(row.model.vocabulary, 131072);
  EXPECT_EQ(row.memory, std::nullopt);
}

TEST(MemoryLayouts, ReadsFsdpTables) {
  const auto rows = read_memory_layouts(
      "source,gpu,gpus_per_node,model,seq,local_batch,global_batch,fsdp,tp,pp,cp,"
      "activation_checkpointing,memory_gib\n"
      "torchtitan,H100-96GB,8,llama3.1-8b,65536,1,,4,1,1,2,full,84.2\n"
      "fms-fsdp,H100,8,llama2-7b,4096,2,192,96,1,1,1,none; HSDP,\n"
      "fms-fsdp,H100,8,llama2-13b,4096,2,192,96,1,1,1,Selective AC,\n",
      "f.csv", MemoryFormat::kFsdpTables);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(to_text(rows->front().layout), "dp4 cp2 zero3 mb1 recompute:full");
  EXPECT_DOUBLE_EQ(rows->front().global_batch, 4);
  EXPECT_EQ(rows->front().unit, kGiB);
  EXPECT_TRUE((*rows)[1].layout.hybrid);
  EXPECT_EQ((*rows)[1].layout.recompute, Recompute::kNone);
  EXPECT_EQ((*rows)[2].layout.recompute, Recompute::kSelective);
}

TEST(MemoryLayouts, ReadsSailorsPlans) {
  const auto rows = read_memory_layouts(
      "cluster,model,microbatch,global_batch,layers_per_stage,stage_replicas,"
      "measured_peak_mem_bytes\n"
      "mit,OPT-350,2,256,0-11|12-25,RTX-3090x2:tp2 | Titan-RTXx2:tp2,4130340864\n",
      "s.csv", MemoryFormat::kSailor);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  const MemoryLayoutRow& row = rows->front();
  EXPECT_EQ(row.software, "sailor mit");
  EXPECT_EQ(to_text(row.layout), "dp1 tp2 pp2 mb2");
  EXPECT_EQ(row.devices, (std::vector<std::string>{"RTX-3090", "Titan-RTX"}));
  EXPECT_EQ(row.stages, (std::vector<StageLayers>{{0, 11}, {12, 25}}));
  EXPECT_EQ(row.memory, 4130340864.0);
}

TEST(MemoryLayouts, ErrorsNameLineAndColumn) {
  std::string text = kBloom;
  text.replace(text.find(",8,8,6,"), 7, ",8,0,6,");
  const auto rows = read_memory_layouts(text, "b.csv", MemoryFormat::kBloom);
  ASSERT_FALSE(rows.ok());
  EXPECT_NE(rows.error().message.find("b.csv:2: column tp"), std::string::npos)
      << rows.error().message;
  const auto missing = read_memory_layouts("gpu\nA100\n", "b.csv", MemoryFormat::kBloom);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("gpus_per_node"), std::string::npos);
}

}  // namespace
}  // namespace stint
