#include "provider/agent/machine_facts.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(MachineFacts, CountsGpusByModel) {
  const auto gpus = parse_gpus("Tesla T4, 15360\nTesla T4, 15360\nNVIDIA A100-SXM4-80GB, 81920\n");
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].name, "Tesla T4");
  EXPECT_EQ(gpus[0].count, 2);
  EXPECT_DOUBLE_EQ(gpus[0].memory.in(kGiB), 15);
  EXPECT_EQ(gpus[1].name, "NVIDIA A100-SXM4-80GB");
  EXPECT_DOUBLE_EQ(gpus[1].memory.in(kGiB), 80);
}

TEST(MachineFacts, LeavesOutWhatIsNoGpu) {
  EXPECT_TRUE(parse_gpus("").empty());
  EXPECT_TRUE(parse_gpus("NVIDIA-SMI has failed because it couldn't communicate").empty());
  EXPECT_TRUE(parse_gpus("T4, [N/A]\n, 100\nT4, -1\nT4, 1e300\n").empty());
  const auto gpus = parse_gpus("T\x1b[31m4, 1024\n");
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].name, "T?[31m4");
}

TEST(MachineFacts, ReadsWhatPythonSays) {
  MachineFacts facts;
  add_python("/usr/bin/python3\n3.11.2\n1.13.1\n", facts);
  EXPECT_EQ(facts.interpreter, "/usr/bin/python3");
  EXPECT_EQ(facts.python, "3.11.2");
  EXPECT_EQ(facts.torch, "1.13.1");
  facts = {};
  add_python("/usr/bin/python3\n3.11.2\n", facts);
  EXPECT_EQ(facts.python, "3.11.2");
  EXPECT_FALSE(facts.torch);
  facts = {};
  add_python("", facts);
  EXPECT_FALSE(facts.interpreter);
}

TEST(MachineFacts, OfThisMachineAreWhole) {
  const MachineFacts facts = gather_facts("/bin/false");
  EXPECT_FALSE(facts.architecture.empty());
  EXPECT_GE(facts.processors, 1);
  EXPECT_GT(facts.memory, 16 * kMiB);
  EXPECT_FALSE(facts.interpreter);
  ASSERT_TRUE(facts.binary);
  EXPECT_EQ(facts.binary->size(), 64U);
  EXPECT_TRUE(check_fields(facts, "facts").ok());
}

}  // namespace
}  // namespace stint
