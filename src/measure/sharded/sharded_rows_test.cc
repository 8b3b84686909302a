// Of the tables that state the shape of a model.
#include <gtest/gtest.h>

#include "measure/sharded/sharded_table_fixture.h"

namespace stint {
namespace {

constexpr const char* kVtrainHeader =
    "params_b,gpus,gpus_per_node,nodes,tp,dp,pp,global_batch,micro_batch,grad_accum,layers,hidden,"
    "heads,seq,iteration_s\n";

TEST(ShardedRows, ReadsVtrain) {
  const std::string header = kVtrainHeader;
  const ShardedRow one = first_sharded_row(ShardedFormat::kVtrain,
                                           header + ",8,8,1,2,2,2,16,4,2,10,512,8,1024,0.25\n");
  EXPECT_EQ(one.unusable, "");
  EXPECT_EQ(one.table, "vtrain one node");
  EXPECT_EQ(to_text(one.layout), "dp2 tp2 pp2 mb4 recompute:full");
  EXPECT_EQ(one.job, "10 layers of 512");
  EXPECT_EQ(one.choice, "10 layers of 512, 8 GPUs, batch 16");
  EXPECT_DOUBLE_EQ(one.time->in(kSecond), 0.25);
  const ShardedRow several = first_sharded_row(
      ShardedFormat::kVtrain, header + "3.6,16,8,2,1,16,1,16,1,1,10,512,8,1024,\n");
  EXPECT_EQ(several.table, "vtrain");
  EXPECT_EQ(several.job, "3.6B");
  EXPECT_FALSE(several.time);
}

TEST(ShardedRows, RowsSayWhyTheyCannotBeUsed) {
  const std::string header = kVtrainHeader;
  const auto reason = [&](const std::string& row) {
    return first_sharded_row(ShardedFormat::kVtrain, header + row).unusable;
  };
  EXPECT_EQ(reason(",8,8,1,2,2,1,16,4,2,10,512,8,1024,1\n"),
            "the degrees of dp2 tp2 mb4 recompute:full do not multiply to 8 GPUs");
  EXPECT_EQ(reason(",8,8,1,1,1,8,16,4,2,4,512,8,1024,1\n"), "there are more stages than layers");
  EXPECT_EQ(reason(",,8,1,1,1,8,16,4,2,8,512,8,1024,1\n"), "gpus is blank");
  EXPECT_EQ(reason(",8,8,1,1,1,8,16,4,2,8,512,8,many,1\n"), "invalid seq 'many'");
}

TEST(ShardedRows, ReadsFoundry) {
  const ShardedRow row = first_sharded_row(
      ShardedFormat::kFoundry,
      "last_readme_date,gpu,gpus,model,layers,hidden,heads,vocab,seq,micro_batch,global_batch,"
      "precision,mp_mode,sharding,activation_checkpointing,tokens_per_s\n"
      "2030-01-01,h100_80gb,16,9b,10,512,8,1000,2048,2,32,amp_fp8,DEFAULT,FULL_SHARD,True,65536\n");
  EXPECT_EQ(row.unusable, "");
  EXPECT_EQ(row.gpu, "H100-SXM");
  EXPECT_EQ(to_text(row.layout), "dp16 zero3 mb2 recompute:full");
  EXPECT_TRUE(row.fp8);
  EXPECT_TRUE(row.fp32_gradients);
  EXPECT_EQ(row.software, "2030-01-01 DEFAULT");
  EXPECT_DOUBLE_EQ(row.time->in(kSecond), 1);  // 32 · 2048 tokens.
}

TEST(ShardedRows, ReadsLucie) {
  const ShardedRow row = first_sharded_row(
      ShardedFormat::kLucie,
      "gpus,gpus_per_node,layers,hidden,heads,ffn,seq,global_batch,micro_batch,dp,tp,pp,zero_stage,"
      "iteration_s_median\n16,8,10,512,8,1408,2048,64,,8,2,1,1,3.5\n");
  EXPECT_EQ(row.unusable, "");
  EXPECT_EQ(to_text(row.layout), "dp8 tp2 zero1 mb4");
  EXPECT_EQ(row.shape.wide, 1408);
  EXPECT_DOUBLE_EQ(row.time->in(kSecond), 3.5);
}

constexpr const char* kBloomHeader =
    "gpus,gpus_per_node,params_b,layers,hidden,heads,seq,global_batch,micro_batch,dp,tp,pp,"
    "zero_stage,iteration_s,tflops_per_gpu,notes,caution\n";

// 200 · 10⁹ − 250880 · 14336 over 12 · 14336² is 79.6 layers.
TEST(ShardedRows, CompletesShapesOfBloom) {
  const ShardedRow row = first_sharded_row(
      ShardedFormat::kBloom,
      std::string(kBloomHeader) + "384,8,200,,,,2048,2048,2,8,8,6,1,,,03-01 a remark,\n");
  EXPECT_EQ(row.unusable, "");
  EXPECT_EQ(row.shape.layers, 80);
  EXPECT_EQ(row.shape.hidden, 14336);
  EXPECT_EQ(row.job, "03-01");
}

TEST(ShardedRows, LeavesOutRowsOfBloomThatContradictThemselves) {
  const std::string header = kBloomHeader;
  const ShardedRow careful = first_sharded_row(
      ShardedFormat::kBloom, header + "384,8,200,80,14336,,2048,2048,2,8,8,6,1,100,,03-01,odd\n");
  EXPECT_EQ(careful.unusable, "caution: odd");
  // 8 · 200 · 10⁹ · 2048² operations in 100 s on 384 GPUs are 175 TFLOP/s each.
  const ShardedRow right = first_sharded_row(
      ShardedFormat::kBloom, header + "384,8,200,80,14336,,2048,2048,2,8,8,6,1,100,175,03-01,\n");
  EXPECT_TRUE(right.time);
  const ShardedRow wrong = first_sharded_row(
      ShardedFormat::kBloom, header + "384,8,200,80,14336,,2048,2048,2,8,8,6,1,100,50,03-01,\n");
  EXPECT_FALSE(wrong.time);
  EXPECT_EQ(wrong.unmeasured, "iteration_s and tflops_per_gpu contradict each other 3.5 times");
}

// 6 · 10⁹ · 8 · 4096 = 1.966 · 10¹⁴ over 8 · 989.5 · 10¹² · 0.5 is 49.67 ms.
TEST(ShardedRows, ReadsNanotron) {
  const ShardedRow row = first_sharded_row(
      ShardedFormat::kNanotron,
      "gpus,gpus_per_node,params_b,layers,hidden,heads,ffn,vocab,seq,global_batch,micro_batch,dp,"
      "tp,pp,zero_stage,mfu_percent\n8,8,1,16,2048,32,8192,131072,4096,8,1,4,2,1,0,50\n");
  EXPECT_EQ(row.unusable, "");
  EXPECT_EQ(to_text(row.layout), "dp4 tp2 sp mb1");
  EXPECT_NEAR(row.time->in(kMillisecond), 49.67, 0.01);
}

}  // namespace
}  // namespace stint
