#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"
#include "plan/plan.h"

namespace stint::cli {

/// The front as a picture of cost against time, both logarithmic, at most 60 columns and 15 lines:
/// "o" is a plan, "K" the knee. Empty when there are not two points that differ.
std::string front_picture(const std::vector<Plan>& front, const Terminal& terminal);

}  // namespace stint::cli
