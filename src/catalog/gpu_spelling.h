#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "catalog/catalog.h"

namespace stint {

/// What the name of an accelerator says, however it is spelled.
struct GpuSpelling {
  std::string model;  // "a100", "rtx2080ti", "mi250", "gaudi2": no vendor, no separators.
  std::string form;   // "sxm", "pcie", "nvl", or empty where the name does not say.
  std::optional<int> memory_gb;

  bool operator==(const GpuSpelling&) const = default;
};

/// Reads "Tesla_P100-PCIE-16GB", "NVIDIA H100-SXM5-80GB", "NVIDIA Blackwell GPU (B200-SXM-180GB)",
/// "GeForce RTX 3090", "rtx3090", "AMD Instinct MI210" or "Intel(R) Gaudi(R) 2 AI Accelerator".
GpuSpelling read_gpu_spelling(std::string_view name);

/// The accelerator of the catalogue that `name` means: one of the same model, and of several the
/// one whose form and memory the name states; where it does not state them, the one with a link to
/// others and the most memory. Null when the catalogue does not have the model.
const Gpu* find_spelled_gpu(const Catalog& catalog, std::string_view name);

}  // namespace stint
