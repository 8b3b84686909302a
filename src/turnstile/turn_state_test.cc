#include "turnstile/turn_state.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace stint {
namespace {

constexpr Nanoseconds kMs = std::chrono::milliseconds(1);

TurnNewcomer job(const std::string& name, std::uint32_t order = 0, std::uint32_t share = 1,
                 Nanoseconds patience = {}) {
  TurnNewcomer one{.process = 1, .order = order, .share = share, .patience = patience};
  std::copy(name.begin(), name.end(), one.name.begin());
  return one;
}

/// A turnstile with members a, b, … of these shares, in that order of the plan.
TurnState with_shares(const std::vector<std::uint32_t>& shares, Nanoseconds patience = {}) {
  TurnState state;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    join(state, job(name, static_cast<std::uint32_t>(i), shares[i], patience), {});
  }
  return state;
}

/// The holders of `turns` turns of 10 ms, one after the other, when all ask again at once.
std::string played(TurnState state, int turns) {
  std::string order;
  Nanoseconds now = kMs;
  for (int i = 0; i < static_cast<int>(state.seats_used); ++i) ask(state, i, now);
  for (int turn = 0; turn < turns; ++turn) {
    const int holder = state.holder;
    order += static_cast<char>('a' + holder);
    now += 10 * kMs;
    give(state, holder, now);
    ask(state, holder, now);
  }
  return order;
}

TEST(TurnState, AFreeTurnIsGivenAtOnce) {
  TurnState state = with_shares({1, 1});
  ask(state, 1, 5 * kMs);
  EXPECT_EQ(state.holder, 1);
  EXPECT_EQ(state.held_since, 5 * kMs);
  EXPECT_EQ(state.seats[1].turns, 1U);
}

TEST(TurnState, WhoAskedFirstIsFirst) {
  TurnState state = with_shares({1, 1, 1});
  ask(state, 2, 1 * kMs);
  ask(state, 1, 2 * kMs);
  ask(state, 0, 3 * kMs);
  give(state, 2, 10 * kMs);
  EXPECT_EQ(state.holder, 1);
  give(state, 1, 20 * kMs);
  EXPECT_EQ(state.holder, 0);
  give(state, 0, 25 * kMs);
  EXPECT_EQ(state.holder, -1);
  EXPECT_EQ(state.free_since, 25 * kMs);
}

TEST(TurnState, TimesHeldAndWaitedAddUp) {
  // a holds from 1 to 10 ms, b waits from 4 to 10 and holds to 17.
  TurnState state = with_shares({1, 1});
  ask(state, 0, 1 * kMs);
  ask(state, 1, 4 * kMs);
  give(state, 0, 10 * kMs);
  give(state, 1, 17 * kMs);
  EXPECT_EQ(state.seats[0].held, 9 * kMs);
  EXPECT_EQ(state.seats[0].waited, 0 * kMs);
  EXPECT_EQ(state.seats[1].held, 7 * kMs);
  EXPECT_EQ(state.seats[1].waited, 6 * kMs);
  EXPECT_EQ(state.turns, 2U);
}

TEST(TurnState, WithLongPatienceSharesAreTurnsPerRoundForAnyNumberOfJobs) {
  EXPECT_EQ(played(with_shares({1, 1}, 1000 * kMs), 6), "ababab");
  EXPECT_EQ(played(with_shares({2, 1}, 1000 * kMs), 6), "aabaab");
  EXPECT_EQ(played(with_shares({3, 1}, 1000 * kMs), 8), "aaabaaab");
  EXPECT_EQ(played(with_shares({3, 1, 2}, 1000 * kMs), 12), "aaabccaaabcc");
}

TEST(TurnState, WithoutPatienceNobodyWaitsForOneThatIsNotThere) {
  // The member that gives the turn has not asked again yet, so that of two jobs the other one is
  // next.
  EXPECT_EQ(played(with_shares({2, 1}), 6), "ababab");
  // Of three, two wait at that moment: b has used its turn when a and c have some left.
  EXPECT_EQ(played(with_shares({3, 1, 2}), 6), "abcaca");
  EXPECT_EQ(played(with_shares({1, 1, 1}), 6), "abcabc");
}

TEST(TurnState, AJobThatIsAloneBeginsARoundWheneverItHasUsedUpItsTurns) {
  TurnState state = with_shares({1, 1});
  for (int turn = 0; turn < 5; ++turn) {
    ask(state, 0, turn * kMs);
    ASSERT_EQ(state.holder, 0);
    give(state, 0, turn * kMs);
  }
  EXPECT_EQ(state.seats[0].turns, 5U);
  EXPECT_EQ(state.rounds, 4U);  // It joined with a turn.
}

TEST(TurnState, WithPatienceTheRhythmIsKeptForSomebodyAbsent) {
  // a has had its turn; the next round waits 8 ms for b, counted from when the turn was wanted.
  TurnState state = with_shares({1, 1}, 8 * kMs);
  ask(state, 0, 1 * kMs);
  give(state, 0, 10 * kMs);
  ask(state, 0, 20 * kMs);
  EXPECT_EQ(state.holder, -1);
  EXPECT_EQ(kept_until(state, 20 * kMs), 28 * kMs);
  EXPECT_EQ(next_in_line(state), 0);
  TurnState taken = state;
  ask(taken, 1, 25 * kMs);
  EXPECT_EQ(taken.holder, 1);
  settle(state, 27 * kMs);
  EXPECT_EQ(state.holder, -1);
  settle(state, 28 * kMs);
  EXPECT_EQ(state.holder, 0);
}

TEST(TurnState, PatienceEndsWithTheJobThatItIsFor) {
  TurnState state = with_shares({1, 1}, 1000 * kMs);
  ask(state, 0, 1 * kMs);
  give(state, 0, 10 * kMs);
  ask(state, 0, 20 * kMs);
  ASSERT_EQ(state.holder, -1);
  bury(state, 1, 30 * kMs);
  EXPECT_EQ(state.holder, 0);
  EXPECT_EQ(state.deaths, 1U);
}

TEST(TurnState, ThePlansOrderBreaksTies) {
  // b asks a little before a: within a's patience of 3 ms, a is still first.
  TurnState state = with_shares({1, 1}, 3 * kMs);
  ask(state, 1, 10 * kMs);
  EXPECT_EQ(state.holder, -1);
  EXPECT_EQ(kept_until(state, 10 * kMs), 13 * kMs);
  TurnState late = state;
  ask(state, 0, 12 * kMs);
  EXPECT_EQ(state.holder, 0);
  give(state, 0, 20 * kMs);
  EXPECT_EQ(state.holder, 1);
  settle(late, 13 * kMs);
  EXPECT_EQ(late.holder, 1);
}

TEST(TurnState, TiesInTheQueueAreBrokenToo) {
  TurnState state = with_shares({1, 1, 1}, 3 * kMs);
  ask(state, 0, 1 * kMs);
  ASSERT_EQ(state.holder, 0);
  give(state, 0, 2 * kMs);
  ask(state, 1, 3 * kMs);
  ASSERT_EQ(state.holder, 1);
  // The round ends with c. Then c asks before a, but not by more than a's patience.
  ask(state, 2, 4 * kMs);
  give(state, 1, 10 * kMs);
  ASSERT_EQ(state.holder, 2);
  give(state, 2, 20 * kMs);
  ask(state, 1, 20 * kMs);  // Kept for a until 23 ms.
  ask(state, 0, 22 * kMs);
  EXPECT_EQ(state.holder, 0);
}

TEST(TurnState, WhoLeavesOrDiesPassesTheTurnOn) {
  TurnState state = with_shares({1, 1, 1});
  ask(state, 0, 1 * kMs);
  ask(state, 1, 2 * kMs);
  ask(state, 2, 3 * kMs);
  bury(state, 1, 4 * kMs);  // The member waits.
  leave(state, 0, 5 * kMs);
  EXPECT_EQ(state.holder, 2);
  EXPECT_EQ(state.seats[0].held, 4 * kMs);
  EXPECT_EQ(state.seats[1].waited, 2 * kMs);
  EXPECT_EQ(state.deaths, 1U);
}

TEST(TurnState, OneThatWithdrawsLosesItsPlace) {
  TurnState state = with_shares({1, 1, 1});
  ask(state, 0, 1 * kMs);
  ask(state, 1, 2 * kMs);
  ask(state, 2, 3 * kMs);
  withdraw(state, 1, 4 * kMs);
  ask(state, 1, 5 * kMs);
  give(state, 0, 6 * kMs);
  EXPECT_EQ(state.holder, 2);
}

TEST(TurnState, AJobThatJoinsAgainGoesOnCounting) {
  TurnState state;
  ASSERT_EQ(join(state, job("a"), {}), 0);
  ASSERT_EQ(join(state, job("b"), {}), 1);
  ask(state, 0, 1 * kMs);
  bury(state, 0, 2 * kMs);
  EXPECT_EQ(join(state, job("a"), 3 * kMs), 0);
  EXPECT_EQ(state.seats[0].turns, 1U);
  // Two members may have the same name.
  EXPECT_EQ(join(state, job("a"), 4 * kMs), 2);
}

TEST(TurnState, SeatsAreUsedAgainWhenAllWereTakenAndTurnsStillAddUp) {
  TurnState state;
  for (int i = 0; i < kStintTurnMembersMax; ++i) {
    ASSERT_EQ(join(state, job("job" + std::to_string(i)), {}), i);
  }
  EXPECT_EQ(join(state, job("late"), {}), std::nullopt);
  ask(state, 7, 1 * kMs);
  leave(state, 7, 2 * kMs);
  EXPECT_EQ(join(state, job("late"), {}), 7);
  EXPECT_EQ(state.seats[7].turns, 0U);
  EXPECT_EQ(state.turns, 1U);
  EXPECT_EQ(state.turns_forgotten, 1U);
}

/// The invariants after any transition.
void expect_sound(const TurnState& state, Nanoseconds now) {
  EXPECT_TRUE(is_sound(state, now));
  std::uint64_t turns = state.turns_forgotten;
  for (int i = 0; i < static_cast<int>(state.seats_used); ++i) {
    const TurnSeat& seat = state.seats[static_cast<std::size_t>(i)];
    turns += seat.turns;
    EXPECT_LE(seat.left, seat.share);
    EXPECT_TRUE(seat.ticket == 0 || (seat.present != 0 && state.holder != i));
  }
  EXPECT_EQ(turns, state.turns);
  if (state.holder >= 0) {
    EXPECT_EQ(state.seats[static_cast<std::size_t>(state.holder)].present, 1U);
  }
  // A turn for which a member waits is held, or kept for a while.
  EXPECT_TRUE(state.holder >= 0 || next_in_line(state) < 0 || kept_until(state, now));
}

TEST(TurnState, AnySequenceOfChangesKeepsItSound) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    TurnState state;
    Nanoseconds now{};
    for (int step = 0; step < 300; ++step) {
      now += Nanoseconds(random() % 4'000'000);
      const int seat = static_cast<int>(random() % 5);
      const bool present = state.seats[static_cast<std::size_t>(seat)].present != 0;
      const std::uint64_t what = random() % 8;
      if (!present) {
        const std::string name(1, static_cast<char>('a' + random() % 7));
        const auto order = static_cast<std::uint32_t>(random() % 3);
        const auto share = static_cast<std::uint32_t>(1 + random() % 3);
        join(state, job(name, order, share, Nanoseconds(random() % 2 * 5'000'000)), now);
      } else if (what < 3) {
        ask(state, seat, now);
      } else if (what < 6 && state.holder >= 0) {
        give(state, state.holder, now);
      } else if (what == 6) {
        withdraw(state, seat, now);
      } else if (random() % 4 == 0) {
        bury(state, seat, now);
      } else {
        settle(state, now);
      }
      expect_sound(state, now);
    }
  }
}

// What no transition leads to, field by field.
TEST(TurnStates, AreNotSoundWithAFieldThatNoTransitionWrites) {
  const Nanoseconds now = std::chrono::hours(2);
  TurnState state = with_shares({1, 2});
  ask(state, 0, kMs);
  ask(state, 1, kMs);
  ASSERT_TRUE(is_sound(state, now));
  const auto sound_with = [&](auto change) {
    TurnState other = state;
    change(other);
    return is_sound(other, now);
  };
  EXPECT_FALSE(sound_with([](TurnState& it) { it.seats_used = 65; }));
  EXPECT_FALSE(sound_with([](TurnState& it) { it.holder = 2; }));
  EXPECT_FALSE(sound_with([](TurnState& it) { it.holder = -2; }));
  EXPECT_FALSE(sound_with([](TurnState& it) { it.seats[0].present = 0; }));  // The holder.
  EXPECT_FALSE(sound_with([](TurnState& it) { it.seats[1].present = 0; }));  // In the queue.
  EXPECT_FALSE(sound_with([](TurnState& it) { it.seats[1].present = 2; }));
  EXPECT_FALSE(sound_with([](TurnState& it) { it.seats[1].share = 0; }));
  EXPECT_FALSE(sound_with([](TurnState& it) { it.seats[1].left = 3; }));
  EXPECT_FALSE(sound_with([](TurnState& it) { it.seats[1].name.fill('x'); }));
  EXPECT_FALSE(sound_with([](TurnState& it) { it.seats[1].patience = std::chrono::hours(2); }));
  EXPECT_FALSE(sound_with([&](TurnState& it) { it.seats[1].asked = now + kMs; }));
  EXPECT_FALSE(sound_with([](TurnState& it) { it.seats[1].held = -kMs; }));
  EXPECT_FALSE(sound_with([](TurnState& it) { it.seats[1].waited = Nanoseconds::max(); }));
  EXPECT_FALSE(sound_with([](TurnState& it) { it.held_since = Nanoseconds::min(); }));
  EXPECT_FALSE(sound_with([&](TurnState& it) { it.free_since = now + kMs; }));
}

}  // namespace
}  // namespace stint
