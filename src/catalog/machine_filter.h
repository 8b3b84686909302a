#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"

namespace stint {

/// Whether `text` is what `pattern` describes, without regard to case: '*' stands for any
/// characters and '?' for one.
bool matches_pattern(std::string_view text, std::string_view pattern);

/// The processor architectures that `--arch` may name.
inline constexpr const char* kAmd64 = "amd64";
inline constexpr const char* kArm64 = "arm64";

/// The architecture of the processors of `type`: what the catalogue says, else what its accelerator
/// implies (Grace and Graviton hosts), else amd64.
std::string processor_of(const VmType& type);

/// The software that programs need to use the accelerators of `type`: "CUDA", "ROCm", "Neuron",
/// "Gaudi", "TPU" or "Cloud AI", by the name of the accelerator.
std::string software_of(const VmType& type);

/// Whether an ordinary CUDA program for amd64 runs on `type`.
bool is_usual(const VmType& type);

/// True when `wanted` names the accelerator of `type` in any spelling ("A100", "a100-80gb",
/// "NVIDIA A100-SXM4-80GB"), a family it belongs to, or is a pattern of its name ("A10*"). "T4"
/// does not name a T4G.
bool has_gpu(const Catalog& catalog, const VmType& type, std::string_view wanted);

/// The machines to consider. Empty lists: all machines that are usual; see is_usual.
struct MachineFilter {
  std::vector<std::string> gpus;      // Names or patterns of accelerators.
  std::vector<std::string> types;     // Names or patterns of VM types, "aws/p4*" too.
  std::vector<std::string> excluded;  // Names or patterns of either.
  std::vector<std::string> processors;
  std::vector<std::string> asked = {};  // Types that are considered too where they are not usual.
  bool unusual = false;  // Also machines that are not usual, without being asked for.
};

/// A usage error for a name or pattern that nothing of the `providers` is called (empty: of all but
/// the emulated one), with the nearest names.
Status check_filter(const Catalog& catalog, const MachineFilter& filter,
                    const std::vector<std::string>& providers);

/// Decides on machines by a filter. A machine that is not usual is considered where its processor
/// is asked for, or where a name or pattern of accelerators or types means nothing but such
/// machines: "g5g.*" asks for ARM hosts, "g5*" does not.
class MachineChoice {
 public:
  /// Both must outlive it.
  MachineChoice(const Catalog& catalog, const MachineFilter& filter);

  /// Why a machine with an accelerator is not considered; empty where it is.
  std::string reason_against(const VmType& type) const;

  /// Whether a machine without accelerators may serve beside those that train.
  bool may_serve(const VmType& type) const;

 private:
  bool asked_for(const VmType& type) const;

  const Catalog& catalog_;
  const MachineFilter& filter_;
  // Patterns that mean nothing usual.
  std::vector<std::string> unusual_gpus_;
  std::vector<std::string> unusual_types_;
};

}  // namespace stint
