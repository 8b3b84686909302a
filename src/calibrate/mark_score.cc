#include "calibrate/mark_score.h"

#include <array>
#include <optional>
#include <vector>

#include "calibrate/score.h"

namespace stint {
namespace {

std::optional<double> mean_of(const std::map<std::string, Score>& groups,
                              std::optional<double> Score::*figure) {
  double sum = 0;
  int n = 0;
  for (const auto& [name, score] : groups) {
    if (!(score.*figure)) continue;
    sum += *(score.*figure);
    ++n;
  }
  return n > 0 ? std::optional(sum / n) : std::nullopt;
}

}  // namespace

Score score_marks(std::span<const ScoredMark> marks) {
  Score score;
  if (marks.empty()) return score;
  std::array<int, 2> all{};
  std::array<int, 2> right{};
  for (const ScoredMark& mark : marks) {
    const std::size_t kind = mark.happened ? 1 : 0;
    ++all[kind];
    if (mark.predicted == mark.happened) ++right[kind];
  }
  score.n = all[0] + all[1];
  score.accuracy = static_cast<double>(right[0] + right[1]) / score.n;
  score.mape = 1 - *score.accuracy;
  // Of zeros and ones in order, a place is one when it lies within the last, wrong ones.
  score.median_ape = score.mape > 0.5 ? 1 : 0;
  score.p90_ape = score.mape > 0.1 ? 1 : 0;
  if (all[0] > 0 && all[1] > 0) {
    score.balanced_accuracy =
        (static_cast<double>(right[0]) / all[0] + static_cast<double>(right[1]) / all[1]) / 2;
  }
  return score;
}

std::map<std::string, Score> score_marks_by_group(std::span<const ScoredMark> marks) {
  std::map<std::string, std::vector<ScoredMark>> by_group;
  for (const ScoredMark& mark : marks) by_group[mark.group].push_back(mark);
  std::map<std::string, Score> scores;
  for (const auto& [group, its] : by_group) scores[group] = score_marks(its);
  return scores;
}

Score mean_mark_score(const std::map<std::string, Score>& groups) {
  Score mean = mean_over(groups);
  mean.accuracy = mean_of(groups, &Score::accuracy);
  mean.balanced_accuracy = mean_of(groups, &Score::balanced_accuracy);
  return mean;
}

}  // namespace stint
