#pragma once

#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/result.h"
#include "plan/validations.h"
#include "validate/search_replay.h"

namespace stint {

/// Tables of step times and of convergence in Pollux's format.
struct ValidateSearchRequest {
  std::vector<std::string> steps;        // Files.
  std::vector<std::string> convergence;  // Files.
  SearchObjective objective = SearchObjective::kTime;
  int seeds = 200;
  std::string jobs = {};  // A file of job profiles; empty: the shipped ones.
};

/// Simulates the training of the jobs of the tables, each from setups drawn at random, with every
/// policy (see SearchPolicy), to the level of `validate convergence`.
///
/// The world of a job is search_world. A probe is real training for 20 steps and returns the
/// measured step time and the noise of its epoch; a move to another cluster or batch takes 30 s and
/// the start-up of on-demand machines, while the new ones are paid. A second costs its nodes at
/// their on-demand price. The search knows the job's number of steps at its own batch, its gradient
/// bytes where its profile has them, and the tables of other jobs; nothing of its own. The oracle
/// is least_time and least_cost: it pays for its moves as well.
///
/// Jobs with fewer than 20 setups are left out and named. Bad input when none is left.
Result<SearchValidation> validate_search(const ValidateSearchRequest& request,
                                         const Progress& progress = {});

}  // namespace stint
