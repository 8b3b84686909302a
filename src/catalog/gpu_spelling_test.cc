#include "catalog/gpu_spelling.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Gpu card(const char* name, double gigabytes, bool link) {
  Gpu gpu{.name = name, .memory = gigabytes * kGB};
  if (link) gpu.link_bandwidth = 600 * kGB / kSecond;
  return gpu;
}

Catalog few() {
  return {.gpus = {card("A100-40GB-PCIe", 40, false), card("A100-40GB-SXM", 40, true),
                   card("A100-80GB-PCIe", 80, false), card("A100-80GB-SXM", 80, true),
                   card("T4", 16, false), card("T4G", 16, false), card("RTX-A5000", 24, false),
                   card("H100-PCIe", 80, true), card("H100-SXM", 80, true)}};
}

std::string found(const char* name) {
  const Catalog catalog = few();
  const Gpu* gpu = find_spelled_gpu(catalog, name);
  return gpu == nullptr ? "" : gpu->name;
}

TEST(GpuSpelling, ReadsModelFormAndMemory) {
  EXPECT_EQ(read_gpu_spelling("Tesla_P100-PCIE-16GB"), (GpuSpelling{"p100", "pcie", 16}));
  EXPECT_EQ(read_gpu_spelling("NVIDIA Blackwell GPU (B200-SXM-180GB)"),
            (GpuSpelling{"b200", "sxm", 180}));
  EXPECT_EQ(read_gpu_spelling("Intel(R) Gaudi(R) 2 AI Accelerator"),
            (GpuSpelling{"gaudi2", "", {}}));
  EXPECT_EQ(read_gpu_spelling("NVIDIA GeForce RTX 2080 Ti"), (GpuSpelling{"rtx2080ti", "", {}}));
  EXPECT_EQ(read_gpu_spelling("H100 NVL Tensor Core GPU (PCIe)"), (GpuSpelling{"h100", "nvl", {}}));
}

TEST(GpuSpelling, FindsTheCardThatANameMeans) {
  EXPECT_EQ(found("NVIDIA_A100-PCIE-40GB"), "A100-40GB-PCIe");
  EXPECT_EQ(found("NVIDIA A100-SXM-80GB CTS"), "A100-80GB-SXM");
  EXPECT_EQ(found("H100 80GB HBM3"), "H100-SXM");
  EXPECT_EQ(found("NVIDIA H100-PCIe"), "H100-PCIe");
  EXPECT_EQ(found("NVIDIA RTX A5000"), "RTX-A5000");
  EXPECT_EQ(found("a5000"), "RTX-A5000");
}

TEST(GpuSpelling, PrefersALinkAndMemoryWhereTheNameDoesNotSay) {
  EXPECT_EQ(found("A100"), "A100-80GB-SXM");
  // A form that the catalogue lacks: another of the same model is nearer than nothing.
  EXPECT_EQ(found("T4-SXM"), "T4");
}

TEST(GpuSpelling, DoesNotTakeOneModelForAnother) {
  EXPECT_EQ(found("T4"), "T4");
  EXPECT_EQ(found("T4G"), "T4G");
  EXPECT_EQ(found("A10"), "");
  EXPECT_EQ(found(""), "");
  EXPECT_EQ(found("NVIDIA"), "");
}

}  // namespace
}  // namespace stint
