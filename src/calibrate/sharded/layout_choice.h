#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/codec_fields.h"
#include "base/units.h"
#include "calibrate/sharded/sharded_case.h"

namespace stint {

/// How a layout is chosen among the measured ones of a model, cluster and batch.
enum class LayoutPolicy {
  kStint,          // The one predicted fastest.
  kLeastParallel,  // The one of the smallest tensor × pipeline degree, with the largest
                   // micro-batch.
  kMedian,         // The one of median time.
};

std::span<const EnumName<LayoutPolicy>> names_of(LayoutPolicy type);

/// A measured layout and the time that is predicted of it.
struct LayoutOption {
  const ShardedCase* it = nullptr;
  std::optional<Seconds> predicted;
};

/// Regret of choices: time of the chosen layout over that of the fastest, minus one.
struct LayoutScore {
  int n = 0;  // Choices.
  double mean_regret = 0;
  double worst_regret = 0;
  double top1 = 0;  // Share of choices that are the fastest.
};

/// The regret of one choice among at least two options that have a time; nothing without them.
/// Options without a prediction are not chosen.
std::optional<double> layout_regret(LayoutPolicy policy, std::span<const LayoutOption> options);

LayoutScore layout_score(std::span<const double> regrets);

/// Scores of all choices, and by job.
struct LayoutScores {
  LayoutScore overall;
  std::map<std::string, LayoutScore> groups;
};

/// Options are grouped by the `choice` of their row.
LayoutScores score_layouts(LayoutPolicy policy, std::span<const LayoutOption> options);

}  // namespace stint
