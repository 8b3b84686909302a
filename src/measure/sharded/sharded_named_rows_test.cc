// Of the tables that name models.
#include <gtest/gtest.h>

#include "measure/sharded/sharded_table_fixture.h"

namespace stint {
namespace {

TEST(ShardedNamedRows, ReadsFsdpTables) {
  const ShardedRow row = first_sharded_row(
      ShardedFormat::kFsdp,
      "source,gpu,gpus,gpus_per_node,network,model,seq,local_batch,global_batch,fsdp,tp,"
      "pp,cp,compile,precision,activation_checkpointing,tokens_per_s_per_gpu\n"
      "x,H100,16,8,400 Gb/s per GPU,llama2-7b,4096,2,,8,2,1,1,yes,float8,full,1024\n");
  EXPECT_EQ(row.unusable, "");
  EXPECT_EQ(row.global_batch, 16);  // local_batch · fsdp.
  EXPECT_DOUBLE_EQ(row.time->in(kSecond), 4);
  EXPECT_DOUBLE_EQ(row.network->in(kGbit / kSecond), 3200);
  EXPECT_TRUE(row.compiled);
  EXPECT_TRUE(row.fp8);
}

TEST(ShardedNamedRows, ReadsPlacementsOfMorphling) {
  const std::string header =
      "model,params,global_batch,seq,placement,nodes,gpus,plan,dp,tp,pp,iteration_s\n";
  const ShardedRow odd =
      first_sharded_row(ShardedFormat::kMorphling, header + "bert,3e8,32,512,35,2,8,gc,,,,0.2\n");
  EXPECT_EQ(odd.unusable, "");
  EXPECT_TRUE(odd.odd_placement);
  EXPECT_EQ(odd.gpus_per_vm, 4);
  EXPECT_DOUBLE_EQ(odd.network->in(kGB / kSecond), 50);  // Two NICs of the VM with three GPUs.
  EXPECT_EQ(to_text(odd.layout), "dp8 mb4 recompute:full");
  const ShardedRow failed = first_sharded_row(
      ShardedFormat::kMorphling, header + "llama7b_bsz16,7e9,16,2048,88,2,16,3d,2,4,2,0\n");
  EXPECT_EQ(failed.unmeasured, "the training failed");
  EXPECT_EQ(to_text(failed.layout), "dp2 tp4 pp2 mb1");
  EXPECT_EQ(
      first_sharded_row(ShardedFormat::kMorphling, header + "bert,3e8,32,512,11,2,8,ga,,,,0.2\n")
          .unusable,
      "the placement does not add up to the GPUs");
}

TEST(ShardedNamedRows, ReadsSailor) {
  const ShardedRow row = first_sharded_row(
      ShardedFormat::kSailor,
      "cluster,model,nodes,gpus,pipeline_stages,data_parallel,microbatch,global_batch,"
      "stage_replicas,measured_iteration_s\n"
      "lab,OPT-350,4,8,2,2,1,8,RTX-3090x2:tp2 & RTX-3090x2:tp2 | Titan-RTXx2:tp2 & "
      "Titan-RTXx2:tp2,9\n");
  EXPECT_EQ(row.unusable, "");
  EXPECT_EQ(row.gpu, "Titan-RTX");  // The slower one.
  EXPECT_EQ(to_text(row.layout), "dp2 tp2 pp2 mb1");
}

TEST(ShardedNamedRows, ReadsTablesOfNvidia) {
  const ShardedRow nemo = first_sharded_row(
      ShardedFormat::kNemo,
      "source,task,system,model,precision,gpus,global_batch,micro_batch,seq,fsdp,tp,pp,cp,vp,ep,"
      "tokens_per_s_per_gpu\nx,LoRA,DGX-H100,LLAMA3-8B,,8,8,1,4096,,1,1,n/a,,,1024\n");
  EXPECT_EQ(nemo.unusable, "");
  EXPECT_TRUE(nemo.adapters);
  EXPECT_TRUE(nemo.fp8);
  EXPECT_DOUBLE_EQ(nemo.time->in(kSecond), 4);
  const std::string header =
      "readme,model,precision,gpu,gpus,tp,pp,cp,vp,fsdp,micro_batch,global_batch,seq,layers,"
      "step_s\n";
  const ShardedRow dgxc = first_sharded_row(
      ShardedFormat::kDgxc, header + "a/b,Llama 3.1 70b,BF16,H100,64,4,4,2,5,,1,128,8192,40,9\n");
  EXPECT_EQ(dgxc.unusable, "");
  EXPECT_EQ(dgxc.shape.layers, 40);
  EXPECT_EQ(dgxc.layout.data, 2);
  EXPECT_EQ(
      first_sharded_row(ShardedFormat::kDgxc, header + "a,Who,BF16,H100,64,4,4,2,5,,1,1,1,,9\n")
          .unusable,
      "the shape of Who is not known");
}

}  // namespace
}  // namespace stint
