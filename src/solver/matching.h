#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace stint {

/// Two things that could be put together, and what that is worth.
struct MatchEdge {
  int first = 0;
  int second = 0;
  std::int64_t weight = 0;

  bool operator==(const MatchEdge&) const = default;
};

/// The edges of a matching, in which none of `count` things is in two edges, whose weights have the
/// largest sum. Edges that are worth nothing or less are never in it, so that things may stay
/// alone. Of equal matchings it is always the same one. By Boost.Graph (Galil's algorithm, 1986,
/// O(count³)).
///
/// Weights are whole numbers because the library halves slacks and compares them with zero: with
/// rounded ones it may look for an improvement for ever. They are doubled twice inside, so that
/// halves are whole as well. What would not come to an end all the same is a failure.
///
/// Requires edges between two different things that there are, at most one for each two of them,
/// and weights of at most 10^15 in magnitude.
Result<std::vector<MatchEdge>> maximum_weight_matching(int count, std::span<const MatchEdge> edges);

}  // namespace stint
