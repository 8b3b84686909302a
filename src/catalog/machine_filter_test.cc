#include "catalog/machine_filter.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

VmType machine(const char* provider, const char* name, const char* gpu) {
  return {.provider = provider, .name = name, .accelerator = Accelerator{.name = gpu}};
}

/// Two kinds of A100, ARM hosts, an AMD GPU, Trainium and a machine without accelerator.
Catalog sample() {
  Catalog catalog;
  catalog.gpus = {{.name = "A100-80GB-SXM", .memory = 80 * kGB}};
  catalog.types = {machine("aws", "p4d.24xlarge", "A100"),
                   machine("aws", "p4de.24xlarge", "A100"),
                   machine("aws", "g5.xlarge", "A10G"),
                   machine("aws", "g5g.xlarge", "T4G"),
                   machine("aws", "trn1.2xlarge", "trainium"),
                   machine("azure", "Standard_ND96is_MI300X_v5", "MI300X"),
                   machine("lambda", "gpu_1x_gh200", "GH200")};
  catalog.types[0].accelerator->memory = 40 * kGB;
  catalog.types[1].accelerator->gpu = "A100-80GB-SXM";
  catalog.types[3].architecture = "arm64";
  catalog.types.push_back({.provider = "aws", .name = "c7gn.medium", .architecture = "arm64"});
  catalog.types.push_back({.provider = "aws", .name = "c5n.large"});
  return catalog;
}

/// The names of the machines with accelerators that the filter leaves.
std::string left(const MachineFilter& filter) {
  const Catalog catalog = sample();
  const MachineChoice choice(catalog, filter);
  std::string names;
  for (const VmType& type : catalog.types) {
    if (!type.accelerator || !choice.reason_against(type).empty()) continue;
    names += (names.empty() ? "" : " ") + type.name;
  }
  return names;
}

std::string reason(const MachineFilter& filter, std::size_t index) {
  const Catalog catalog = sample();
  return MachineChoice(catalog, filter).reason_against(catalog.types[index]);
}

TEST(MatchesPattern, StarsAndQuestionMarksStandForCharacters) {
  for (const char* pattern :
       {"p4d.24xlarge", "P4*", "*", "*24xlarge", "p4?.*", "*4*x*", "p4d.24xlarge*"}) {
    EXPECT_TRUE(matches_pattern("p4d.24xlarge", pattern)) << pattern;
  }
  for (const char* pattern : {"", "p4", "p4?", "p5*", "*small", "p4d?24xlarge?", "*4*y*"}) {
    EXPECT_FALSE(matches_pattern("p4d.24xlarge", pattern)) << pattern;
  }
  EXPECT_TRUE(matches_pattern("", "*"));
  EXPECT_FALSE(matches_pattern("", "?"));
  // A pattern that would take ages with naive backtracking.
  EXPECT_FALSE(matches_pattern(std::string(2000, 'a'), "*a*a*a*a*a*a*a*a*a*a*a*b"));
}

TEST(Machines, SayWhatTheirProcessorAndSoftwareAre) {
  EXPECT_EQ(processor_of(machine("x", "a", "A100")), "amd64");
  for (const char* gpu : {"T4G", "GH200", "NVIDIA GB200", "GH200-96GB"}) {
    EXPECT_EQ(processor_of(machine("x", "a", gpu)), "arm64") << gpu;
  }
  EXPECT_EQ(processor_of({.architecture = "ARM64"}), "arm64");
  const std::pair<const char*, const char*> cases[] = {{"H100", "CUDA"},
                                                       {"RTX-PRO-6000", "CUDA"},
                                                       {"trainium2", "Neuron"},
                                                       {"Inferentia", "Neuron"},
                                                       {"MI300X", "ROCm"},
                                                       {"AMD Instinct MI250", "ROCm"},
                                                       {"Radeon-Pro-V520", "ROCm"},
                                                       {"Gaudi HL-205", "Gaudi"},
                                                       {"tpu-v5e-8", "TPU"},
                                                       {"qualcomm-ai100", "Cloud AI"},
                                                       {"Local-1x", "CUDA"},
                                                       {"M60", "CUDA"}};
  for (const auto& [gpu, software] : cases) {
    EXPECT_EQ(software_of(machine("x", "a", gpu)), software) << gpu;
  }
}

TEST(HasGpu, ReadsUsualSpellingsAndPatterns) {
  const Catalog catalog = sample();
  const VmType& small = catalog.types[0];
  const VmType& large = catalog.types[1];
  for (const char* name : {"A100", "a100", "NVIDIA A100", "Tesla A100", "A100*", "a1?0"}) {
    EXPECT_TRUE(has_gpu(catalog, small, name)) << name;
    EXPECT_TRUE(has_gpu(catalog, large, name)) << name;
  }
  for (const char* name : {"A100-80GB", "A100 80GB", "NVIDIA A100-SXM4-80GB", "A100-80GB-SXM"}) {
    EXPECT_FALSE(has_gpu(catalog, small, name)) << name;
    EXPECT_TRUE(has_gpu(catalog, large, name)) << name;
  }
  EXPECT_TRUE(has_gpu(catalog, small, "A100-SXM4-40GB"));
  EXPECT_FALSE(has_gpu(catalog, large, "A100-SXM4-40GB"));
  EXPECT_FALSE(has_gpu(catalog, large, "A10"));
  EXPECT_FALSE(has_gpu(catalog, catalog.types[3], "T4"));
  EXPECT_FALSE(has_gpu(catalog, catalog.types.back(), "*"));
  EXPECT_FALSE(has_gpu(catalog, large, "NVIDIA"));
}

TEST(MachineChoice, LeavesOutOtherProcessorsAndSoftware) {
  EXPECT_EQ(left({}), "p4d.24xlarge p4de.24xlarge g5.xlarge");
  EXPECT_EQ(reason({}, 3), "arm64 processor (--arch adds it)");
  EXPECT_EQ(reason({}, 4), "needs Neuron, not CUDA (--gpu adds it)");
  EXPECT_EQ(reason({}, 5), "needs ROCm, not CUDA (--gpu adds it)");
  EXPECT_EQ(reason({}, 6), "arm64 processor (--arch adds it)");
}

TEST(MachineChoice, ConsidersThemWhereTheyAreAskedFor) {
  EXPECT_EQ(left({.processors = {"arm64"}}), "g5g.xlarge gpu_1x_gh200");
  EXPECT_EQ(left({.processors = {"aarch64", "x86_64"}}),
            "p4d.24xlarge p4de.24xlarge g5.xlarge g5g.xlarge gpu_1x_gh200");
  EXPECT_EQ(left({.gpus = {"MI300X", "Trainium"}}), "trn1.2xlarge Standard_ND96is_MI300X_v5");
  EXPECT_EQ(left({.gpus = {"A100", "T4G"}}), "p4d.24xlarge p4de.24xlarge g5g.xlarge");
  EXPECT_EQ(left({.types = {"g5g.*"}}), "g5g.xlarge");
  EXPECT_EQ(left({.asked = {"g5g.xlarge"}}), left({}).append(" g5g.xlarge"));
  EXPECT_EQ(left({.types = {"aws/trn*"}}), "trn1.2xlarge");
  // A pattern that means usual machines too does not ask for others.
  EXPECT_EQ(left({.types = {"g5*"}}), "g5.xlarge");
  EXPECT_EQ(reason({.types = {"g5*"}}, 3), "arm64 processor (--arch adds it)");
  EXPECT_EQ(left({.types = {"g5*"}, .processors = {"*"}}), "g5.xlarge g5g.xlarge");
  EXPECT_EQ(left({.gpus = {"T4G"}, .processors = {"amd64"}}), "");
}

TEST(MachineChoice, KeepsWhatIsNamedAndDropsWhatIsExcluded) {
  EXPECT_EQ(left({.gpus = {"a100"}, .excluded = {"p4de.*"}}), "p4d.24xlarge");
  EXPECT_EQ(left({.excluded = {"A100"}}), "g5.xlarge");
  EXPECT_EQ(left({.types = {"ND96is_MI300X_v5"}}), "Standard_ND96is_MI300X_v5");
  EXPECT_EQ(reason({.gpus = {"A10G"}}, 0), "not named by --gpu");
  EXPECT_EQ(reason({.types = {"g5*"}}, 0), "not named by --types");
  EXPECT_EQ(reason({.excluded = {"p4*"}}, 0), "named by --exclude");
  EXPECT_EQ(reason({.processors = {"arm64"}}, 0), "not named by --arch");
  EXPECT_EQ(reason({.unusual = true}, 5), "");
}

TEST(MachineChoice, HelpersHaveTheProcessorsThatAreAskedForToo) {
  const Catalog catalog = sample();
  const VmType& arm = catalog.types[7];
  const VmType& amd = catalog.types[8];
  const MachineFilter usual;
  EXPECT_FALSE(MachineChoice(catalog, usual).may_serve(arm));
  EXPECT_TRUE(MachineChoice(catalog, usual).may_serve(amd));
  const MachineFilter arms{.processors = {"arm64"}};
  EXPECT_TRUE(MachineChoice(catalog, arms).may_serve(arm));
  EXPECT_FALSE(MachineChoice(catalog, arms).may_serve(amd));
  const MachineFilter without{.excluded = {"c5*"}};
  EXPECT_FALSE(MachineChoice(catalog, without).may_serve(amd));
  // Filters of machines that train do not mean those that keep checkpoints.
  const MachineFilter named{.gpus = {"A100"}, .types = {"p4*"}};
  EXPECT_TRUE(MachineChoice(catalog, named).may_serve(amd));
}

TEST(CheckFilter, NamesWhatIsNearest) {
  const Catalog catalog = sample();
  const auto message = [&](const MachineFilter& filter, std::vector<std::string> providers = {}) {
    const Status status = check_filter(catalog, filter, providers);
    if (status.ok()) return std::string("fine");
    EXPECT_EQ(status.error().kind, ErrorKind::kUsage);
    return status.error().message;
  };
  EXPECT_EQ(message({.gpus = {"A100"}, .types = {"p4*"}, .excluded = {"c5n.*", "GH200"}}), "fine");
  EXPECT_EQ(message({.gpus = {"MI300"}}),
            "the catalogue has no accelerator 'MI300'. Did you mean 'MI300X'?");
  EXPECT_EQ(
      message({.types = {"p4x.*"}}),
      "the catalogue has no VM type 'p4x.*'. Did you mean 'p4d.24xlarge' or 'p4de.24xlarge'?");
  EXPECT_EQ(message({.types = {"p4d.24xlrge"}}),
            "the catalogue has no VM type 'p4d.24xlrge'. Did you mean 'p4d.24xlarge' or "
            "'p4de.24xlarge'?");
  EXPECT_EQ(message({.gpus = {"A100"}}, {"azure"}),
            "the catalogue has no accelerator 'A100' of azure. See 'stint catalog list'.");
  EXPECT_EQ(message({.processors = {"riscv"}}),
            "--arch: 'riscv' is no processor architecture of the catalogue: write amd64, arm64 or "
            "both");
}

}  // namespace
}  // namespace stint
