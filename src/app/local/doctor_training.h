#pragma once

#include <string>
#include <vector>

#include "app/local/doctor.h"

namespace stint {

/// Where to look for interpreters, tools and devices.
struct TrainingPlaces {
  std::string path;                         // As the variable PATH has it.
  std::string python = "/usr/bin/python3";  // Looked at beside the first python3 of `path`.
  std::string root = {};                    // Before /proc and /dev; for tests.
};

/// Of this process.
TrainingPlaces training_places();

/// What training needs on this computer itself: Python interpreters and whether they import torch,
/// accelerators and their drivers. None of it is needed to plan, so that nothing is broken.
std::vector<Finding> examine_training(const TrainingPlaces& places);

}  // namespace stint
