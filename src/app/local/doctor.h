#pragma once

#include <string>
#include <vector>

#include "load/environment.h"

namespace stint {

/// One requirement of a feature on this machine.
struct Finding {
  enum class Level { kGood, kAdvice, kBroken };
  Level level = Level::kGood;
  std::string feature;
  std::string detail;
  std::string fix;  // The exact command, or empty.
};

/// The requirements of each feature on this computer, with fixes for those that are missing.
std::vector<Finding> examine(const Environment& environment);

}  // namespace stint
