#pragma once

#include <map>
#include <span>
#include <string>

#include "plan/validation.h"

namespace stint {

/// A verdict beside what happened.
struct ScoredMark {
  std::string group;
  bool predicted = true;
  bool happened = true;
};

/// How many of `marks` were right. The error of one is 0 or 1, so that the mean error is the share
/// that was wrong.
Score score_marks(std::span<const ScoredMark> marks);

std::map<std::string, Score> score_marks_by_group(std::span<const ScoredMark> marks);

/// The mean of each figure over the groups that have it; see mean_over in score.h.
Score mean_mark_score(const std::map<std::string, Score>& groups);

}  // namespace stint
