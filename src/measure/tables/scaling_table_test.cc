#include "measure/tables/scaling_table.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr const char* kMlperf =
    "round,submitter,benchmark,accelerator,gpu,accelerators,nodes,accelerators_per_node,"
    "global_batch,grad_accum,tp,pp,cp,samples_per_s,step_s,networking\n";

ScalingRow mlperf(const std::string& line) {
  const auto rows = read_mlperf_clusters(kMlperf + line + "\n", "clusters.csv");
  EXPECT_TRUE(rows.ok());
  EXPECT_EQ(rows.ok() ? rows->size() : 0, 1U);
  return rows.ok() && !rows->empty() ? rows->front() : ScalingRow{};
}

TEST(MlperfClusters, ReadsARow) {
  const ScalingRow row = mlperf(
      "v3.0,NVIDIA,bert,NVIDIA H100-SXM5-80GB,H100,64.0,8,8,4608.0,2,,,,9216,0.5,\"Storage: 2x "
      "ConnectX-7 IB NDR 400Gb/s, Compute: 8x ConnectX-7 IB NDR 400Gb/s\"");
  EXPECT_EQ(row.unusable, "");
  EXPECT_EQ(row.job, "bert");
  EXPECT_EQ(row.device, "nvidiah100sxm580gb");
  EXPECT_EQ(row.family, "h100");
  EXPECT_EQ(row.workers, 64);
  EXPECT_EQ(row.vms, 8);
  EXPECT_EQ(samples_per_worker(row), 72);
  EXPECT_EQ(row.micro_steps, 2);
  EXPECT_EQ(row.degree, 1);
  EXPECT_EQ(row.time, 0.5 * kSecond);
  EXPECT_EQ(row.network, 3200 * kGbit / kSecond);
  EXPECT_EQ(row.line, 2);
  EXPECT_TRUE(is_language_model(row));
}

TEST(MlperfClusters, MeasuredColumnsMayBeMissing) {
  const auto rows = read_mlperf_clusters(
      "round,submitter,benchmark,accelerator,gpu,accelerators,nodes,accelerators_per_node,"
      "global_batch,grad_accum\nv3.0,Dell,ssd,A100,A100,8,1,8,256,1\n",
      "c.csv");
  ASSERT_TRUE(rows.ok());
  EXPECT_FALSE(rows->front().time);
  EXPECT_EQ(rows->front().unmeasured, "");
  EXPECT_EQ(rows->front().unusable, "");
}

TEST(MlperfClusters, RateStandsInForTheStep) {
  EXPECT_EQ(mlperf("v3.0,Dell,ssd,A100,A100,8,1,8,256,1,,,,512,,").time, 0.5 * kSecond);
}

TEST(MlperfClusters, BadCellsSayWhy) {
  EXPECT_EQ(mlperf("v3.0,Dell,ssd,A100,A100,,1,8,256,1,,,,,0.5,").unusable,
            "accelerators is blank");
  EXPECT_EQ(mlperf("v3.0,Dell,ssd,A100,A100,8,0,8,256,1,,,,,0.5,").unusable, "invalid nodes '0'");
  EXPECT_EQ(mlperf("v3.0,Dell,ssd,A100,A100,8,1,8,many,1,,,,,0.5,").unusable,
            "invalid global_batch 'many'");
  EXPECT_EQ(mlperf("v3.0,Dell,,A100,A100,8,1,8,256,1,,,,,0.5,").unusable, "benchmark is blank");
  EXPECT_EQ(mlperf("v3.0,Dell,ssd,A100,A100,4,8,1,256,1,,,,,0.5,").unusable,
            "4 accelerators on 8 nodes");
  const ScalingRow odd = mlperf("v3.0,Dell,ssd,A100,A100,8,1,8,256,1,,,,,-1,");
  EXPECT_EQ(odd.unmeasured, "invalid step_s '-1'");
  EXPECT_EQ(odd.unusable, "");
  EXPECT_FALSE(odd.time);
  EXPECT_EQ(mlperf("v3.0,Dell,ssd,A100,A100,8,1,8,256,1,,,,nan,,").unmeasured,
            "invalid samples_per_s 'nan'");
}

TEST(MlperfClusters, MissingKeyColumnsAreBadInput) {
  const auto rows = read_mlperf_clusters("round,submitter\nv3.0,Dell\n", "c.csv");
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind, ErrorKind::kBadInput);
}

// 64 workers with one micro-step and 8 samples: 8 workers to a sample; the layout of a
// configuration counts where there is one.
TEST(MlperfClusters, WorkersThatShareASampleHoldOneModel) {
  const ScalingRow row = mlperf("v4.1,Dell,llama2_70b_lora,H100,H100,64,8,8,8,1,,,,,0.5,");
  EXPECT_EQ(row.degree, 8);
  EXPECT_EQ(samples_per_worker(row), 0.125);
  EXPECT_EQ(mlperf("v4.1,Dell,gpt3,H100,H100,512,64,8,2048,64,4,8,1,,9.5,").degree, 32);
}

// 56 samples on 72 workers: 16 workers are idle, the others take one sample.
TEST(MlperfClusters, WorkersBeyondTheBatchAreIdle) {
  const ScalingRow row = mlperf("v3.1,NVIDIA,unet3d,H100,H100,72,9,8,56,1,,,,,0.016,");
  EXPECT_EQ(row.degree, 1);
  EXPECT_EQ(samples_per_worker(row), 1);
}

TEST(DescribedNetwork, UnderstandsTheUsualTexts) {
  const auto gbit = [](std::string_view text) {
    const auto network = described_network(text);
    return network ? network->in(kGbit / kSecond) : 0;
  };
  EXPECT_DOUBLE_EQ(gbit("2x ConnectX-6 IB HDR 200Gb/Sec"), 400);
  EXPECT_DOUBLE_EQ(gbit("1x Ethernet 40Gb/Sec, 8x ConnectX-6 IB HDR 200Gb/Sec"), 1600);
  EXPECT_DOUBLE_EQ(gbit("1x Ethernet 80Gb/Sec, 8x NVIDIA NDR (400Gb/s)"), 3200);
  EXPECT_DOUBLE_EQ(gbit("Compute: 4 x Mellanox MT28908 [ConnectX-6] HDR 200 Gb/Sec + Management: 1 "
                        "x MT28908 [ConnectX-6] 100 GB/s Ethernet"),
                   800);
  EXPECT_DOUBLE_EQ(gbit("Management: 1 x 25 Gb / Sec Ethernet, Compute: 1 x ConnectX - 6 IB HDR100 "
                        "100 Gb / Sec"),
                   100);
  EXPECT_DOUBLE_EQ(gbit("BF3 200Gbps for NS and 2xBF3 400Gbps for EW"), 800);
  EXPECT_DOUBLE_EQ(gbit("Management: 1x Ethernet 10GB/Sec"), 0);
  EXPECT_DOUBLE_EQ(gbit("Ethernet, Infiniband"), 0);
  EXPECT_DOUBLE_EQ(gbit("ROCE2; Data bandwidth for GPU-PCIe: 504 GB/s; PCIe-NIC: 500 GB/s"), 0);
  EXPECT_DOUBLE_EQ(gbit(""), 0);
}

constexpr const char* kDgxc =
    "tag,readme,model,precision,gpu,gpus,tp,pp,cp,vp,ep,fsdp,micro_batch,grad_accum,global_batch,"
    "seq,layers,step_s\n";

ScalingRow dgxc(const std::string& line) {
  const auto rows = read_dgxc_steps(kDgxc + line + "\n", "dgxc.csv");
  EXPECT_TRUE(rows.ok());
  EXPECT_EQ(rows.ok() ? rows->size() : 0, 1U);
  return rows.ok() && !rows->empty() ? rows->front() : ScalingRow{};
}

TEST(DgxcSteps, ReadsARow) {
  const ScalingRow row = dgxc(
      "v24.11.1,llama3.1/README_70b.md,Llama 3.1 70b,BF16,H100,64,4,4,2,5,,,1,64,128,8192,,14.72");
  EXPECT_EQ(row.unusable, "");
  EXPECT_EQ(row.device, "H100 BF16");
  EXPECT_EQ(row.vms, 8);
  EXPECT_EQ(row.workers_per_vm, 8);
  EXPECT_EQ(row.degree, 32);
  EXPECT_EQ(row.micro_steps, 64);
  EXPECT_EQ(row.parameters, 7e10);
  EXPECT_EQ(row.tokens, 8192);
  EXPECT_EQ(row.time, 14.72 * kSecond);
}

// 256 samples of 4 workers to a model on 128 workers, 2 at a time: 256 * 4 / (128 * 2) = 4.
TEST(DgxcSteps, MicroStepsFollowFromTheMicroBatch) {
  EXPECT_EQ(dgxc("v,a/b,GPT5B,FP8,H100,128,4,1,,,,,2,,256,2048,,1").micro_steps, 4);
}

TEST(DgxcSteps, LayoutsBeyondTheClusterAreNotStated) {
  EXPECT_EQ(dgxc("v,a/b,Llama3 8b,BF16,H100,8,1,41,1,,,,,,32,4096,,1").degree, 1);
}

TEST(DgxcSteps, ParametersComeFromTheName) {
  EXPECT_EQ(dgxc("v,a/b,Paxml GPT5B,FP8,H100,8,,,,,,,,,32,4096,,1").parameters, 5e9);
  EXPECT_EQ(dgxc("v,a/b,Nemotron-H 56b,FP8,H100,8,,,,,,,,,32,4096,,1").parameters, 5.6e10);
  EXPECT_FALSE(dgxc("v,a/b,Llama3 70b LORA,FP8,H100,8,,,,,,,,,32,4096,,1").parameters);
  EXPECT_FALSE(dgxc("v,a/b,Grok,FP8,H100,8,,,,,,,,,32,4096,,1").parameters);
}

TEST(DgxcSteps, BadCellsSayWhy) {
  EXPECT_EQ(dgxc("v,a/b,Grok,FP8,H100,8,,,,,,,,,,4096,,1").unusable, "global_batch is blank");
  EXPECT_EQ(dgxc("v,a/b,Grok,FP8,H100,8,x,,,,,,,,32,4096,,1").unusable, "invalid tp 'x'");
  EXPECT_EQ(dgxc("v,a/b,Grok,FP8,H100,8,,,,,,,,,32,4096,,no").unmeasured, "invalid step_s 'no'");
}

}  // namespace
}  // namespace stint
