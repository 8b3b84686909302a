#include "solver/matching.h"

#include <gtest/gtest.h>
#include <set>

#include "base/random.h"

namespace stint {
namespace {

std::int64_t weight_of(const std::vector<MatchEdge>& edges) {
  std::int64_t sum = 0;
  for (const MatchEdge& edge : edges) sum += edge.weight;
  return sum;
}

/// The largest weight of any matching of the edges from `next` on that leaves `used` alone.
std::int64_t brute_force(const std::vector<MatchEdge>& edges, std::size_t next = 0,
                         std::uint64_t used = 0) {
  if (next == edges.size()) return 0;
  const MatchEdge& edge = edges[next];
  const std::uint64_t both = (1ULL << edge.first) | (1ULL << edge.second);
  const std::int64_t without = brute_force(edges, next + 1, used);
  if ((used & both) != 0) return without;
  return std::max(without, edge.weight + brute_force(edges, next + 1, used | both));
}

std::vector<MatchEdge> matched(int count, const std::vector<MatchEdge>& edges) {
  const auto result = maximum_weight_matching(count, edges);
  EXPECT_TRUE(result.ok());
  return result.ok() ? *result : std::vector<MatchEdge>();
}

void expect_matching(const std::vector<MatchEdge>& chosen) {
  std::set<int> seen;
  for (const MatchEdge& edge : chosen) {
    EXPECT_TRUE(seen.insert(edge.first).second);
    EXPECT_TRUE(seen.insert(edge.second).second);
    EXPECT_GT(edge.weight, 0);
  }
}

// The dearest edge alone is worth 10, its two neighbours together 12.
TEST(Matching, PrefersTwoGoodPairsToOneThatIsBest) {
  const std::vector<MatchEdge> edges{{0, 1, 6}, {1, 2, 10}, {2, 3, 6}};
  EXPECT_EQ(matched(4, edges), (std::vector<MatchEdge>{{0, 1, 6}, {2, 3, 6}}));
}

// Matching all four would cost 3 in all.
TEST(Matching, LeavesAloneWhatGainsNothing) {
  const std::vector<MatchEdge> edges{{0, 1, 5}, {2, 3, -8}, {1, 2, 0}};
  EXPECT_EQ(matched(4, edges), (std::vector<MatchEdge>{{0, 1, 5}}));
}

TEST(Matching, OfNothingIsNothing) {
  EXPECT_TRUE(matched(0, {}).empty());
  EXPECT_TRUE(matched(3, {}).empty());
}

// A triangle with odd weights: a blossom, whose prices are halves.
TEST(Matching, TakesOnePairOfATriangle) {
  const std::vector<MatchEdge> edges{{0, 1, 3}, {1, 2, 5}, {0, 2, 7}};
  EXPECT_EQ(matched(3, edges), (std::vector<MatchEdge>{{0, 2, 7}}));
}

TEST(MatchingProperty, EqualsBruteForceOnSmallCases) {
  constexpr int kSeed = 91;
  Random random(kSeed);
  for (int trial = 0; trial < 4000; ++trial) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", trial " << trial);
    const int count = 2 + random.below(7);
    // Few different weights make ties and blossoms, many make micro-dollars.
    const int most = trial % 2 == 0 ? 6 : 1'000'000'000;
    std::vector<MatchEdge> edges;
    for (int i = 0; i < count; ++i) {
      for (int k = i + 1; k < count; ++k) {
        if (random.below(4) > 0) edges.push_back({i, k, random.below(most) - most / 8});
      }
    }
    const auto chosen = matched(count, edges);
    expect_matching(chosen);
    ASSERT_EQ(weight_of(chosen), brute_force(edges));
    ASSERT_EQ(matched(count, edges), chosen);
    if (HasFailure()) return;
  }
}

// No brute force is possible here, but the matching must end and be worth more than taking the
// best pair again and again.
TEST(MatchingProperty, IsNoWorseThanGreedyOnLargeCases) {
  constexpr int kSeed = 92;
  Random random(kSeed);
  for (const int count : {30, 60}) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", count " << count);
    std::vector<MatchEdge> edges;
    for (int i = 0; i < count; ++i) {
      for (int k = i + 1; k < count; ++k) edges.push_back({i, k, random.below(100'000'000)});
    }
    const auto chosen = matched(count, edges);
    expect_matching(chosen);
    std::sort(edges.begin(), edges.end(),
              [](const MatchEdge& a, const MatchEdge& b) { return a.weight > b.weight; });
    std::set<int> used;
    std::int64_t greedy = 0;
    for (const MatchEdge& edge : edges) {
      if (used.contains(edge.first) || used.contains(edge.second)) continue;
      used.insert({edge.first, edge.second});
      greedy += edge.weight;
    }
    EXPECT_GE(weight_of(chosen), greedy);
  }
}

}  // namespace
}  // namespace stint
