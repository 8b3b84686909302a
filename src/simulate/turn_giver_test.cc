#include "simulate/turn_giver.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

using Job = std::optional<std::size_t>;

TurnGiver giver(TurnOrder order, std::vector<int> turns) { return {order, turns}; }

TEST(TurnGiver, GivesNobodyATurnThatNobodyWants) {
  for (const TurnOrder order : {TurnOrder::kRhythm, TurnOrder::kFirstCome, TurnOrder::kSlices}) {
    TurnGiver it = giver(order, {1, 1});
    EXPECT_FALSE(it.wanted());
    EXPECT_EQ(it.next(), std::nullopt);
  }
}

TEST(TurnGiver, KeepsARhythmAndWaitsForWhoIsNext) {
  TurnGiver it = giver(TurnOrder::kRhythm, {2, 1});
  it.want(1);
  EXPECT_EQ(it.next(), std::nullopt);
  it.want(0);
  EXPECT_EQ(it.next(), Job(0));
  it.want(0);
  EXPECT_EQ(it.next(), Job(0));
  it.want(0);
  EXPECT_EQ(it.next(), Job(1));
  EXPECT_EQ(it.next(), Job(0));
}

TEST(TurnGiver, LeavesOutWhoIsGone) {
  TurnGiver it = giver(TurnOrder::kRhythm, {2, 1});
  it.leave(0);
  for (int i = 0; i < 3; ++i) {
    it.want(1);
    EXPECT_EQ(it.next(), Job(1));
  }
}

TEST(TurnGiver, GivesTheTurnToWhoAskedFirst) {
  TurnGiver it = giver(TurnOrder::kFirstCome, {1, 1, 1});
  it.want(2);
  it.want(0);
  EXPECT_EQ(it.next(), Job(2));
  it.want(2);
  EXPECT_EQ(it.next(), Job(0));
  EXPECT_EQ(it.next(), Job(2));
}

TEST(TurnGiver, GoesRoundAmongThoseWhoWantASlice) {
  TurnGiver it = giver(TurnOrder::kSlices, {1, 1, 1});
  it.want(1);
  EXPECT_EQ(it.next(), Job(1));
  it.want(1);
  it.want(0);
  EXPECT_EQ(it.next(), Job(0));
  EXPECT_EQ(it.next(), Job(1));
}

}  // namespace
}  // namespace stint
