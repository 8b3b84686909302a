#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace stint {

/// Two things that could be paired, and the weight of the pair.
struct MatchEdge {
  int first = 0;
  int second = 0;
  std::int64_t weight = 0;

  bool operator==(const MatchEdge&) const = default;
};

/// The edges of a matching, in which none of `count` things is in two edges, with the largest sum
/// of weights. Edges of weight zero or less are never in it, so that things may stay unpaired.
/// Among equal matchings the choice is deterministic. By Boost.Graph (Galil's algorithm, 1986,
/// O(count³)).
///
/// Weights are whole numbers because the library halves slacks and compares them with zero: with
/// rounded ones it may search for an improvement for ever. They are multiplied by four inside, so
/// that halves are whole as well. A search that still does not end is a failure.
///
/// Requires edges between two different things that there are, at most one for each two of them,
/// and weights of at most 10^15 in magnitude.
Result<std::vector<MatchEdge>> maximum_weight_matching(int count, std::span<const MatchEdge> edges);

}  // namespace stint
