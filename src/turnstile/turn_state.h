#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "turnstile/turnstile.h"

namespace stint {

/// Time, and moments as the time since the zero of the monotonic clock.
using Nanoseconds = std::chrono::nanoseconds;

/// A job's place at a turnstile. A place that is vacant keeps the figures of the job that was
/// there.
struct TurnSeat {
  std::array<char, kStintTurnNameSize> name{};
  std::uint64_t joined = 0;  // Which of all joins at this turnstile; 0: nobody ever sat here.
  std::uint64_t process_start = 0;
  std::int32_t process = 0;
  std::uint32_t present = 0;
  std::uint32_t order = 0;
  std::uint32_t share = 1;
  std::uint32_t left = 0;  // Turns left in this round.
  std::uint32_t padding = 0;
  Nanoseconds patience{};
  std::uint64_t ticket = 0;  // Place in the queue; 0: not in it.
  Nanoseconds asked{};       // When, if in the queue.
  std::uint64_t turns = 0;
  Nanoseconds held{};    // By turns that are over.
  Nanoseconds waited{};  // By waits that are over.
};

/// Who takes a seat.
struct TurnNewcomer {
  std::array<char, kStintTurnNameSize> name{};
  std::int32_t process = 0;
  std::uint64_t process_start = 0;
  std::uint32_t order = 0;
  std::uint32_t share = 1;
  Nanoseconds patience{};
};

/// All that is known at a turnstile; turnstile.h describes the states and the rhythm. The functions
/// below are its only transitions: they are pure, and after each of them the turn is held by whom
/// the rhythm wants, or nobody may have it now.
struct TurnState {
  std::int32_t holder = -1;  // A seat; -1: nobody.
  std::uint32_t seats_used = 0;
  Nanoseconds held_since{};
  Nanoseconds free_since{};
  std::uint64_t joins = 0;
  std::uint64_t tickets = 0;
  std::uint64_t turns = 0;
  std::uint64_t turns_forgotten = 0;  // Of jobs whose seats were given to others.
  std::uint64_t rounds = 0;
  std::uint64_t deaths = 0;
  std::array<TurnSeat, kStintTurnMembersMax> seats{};
};
static_assert(std::is_trivially_copyable_v<TurnState>);

/// Sits down: on the vacant seat of the same name, else on one that nobody used, else on the vacant
/// one that was taken first. Nothing when all are taken.
std::optional<int> join(TurnState& state, const TurnNewcomer& newcomer, Nanoseconds now);

/// Stands up, with what it held or waited for.
void leave(TurnState& state, int seat, Nanoseconds now);

/// As leave, for one whose process is gone.
void bury(TurnState& state, int seat, Nanoseconds now);

/// Gets in the queue, unless it is there or holds the turn.
void ask(TurnState& state, int seat, Nanoseconds now);

/// Gets out of the queue.
void withdraw(TurnState& state, int seat, Nanoseconds now);

/// Gives the turn. Requires that the seat holds it.
void give(TurnState& state, int seat, Nanoseconds now);

/// Lets a free turn go to whom the rhythm wants, if time alone has made that possible.
void settle(TurnState& state, Nanoseconds now);

/// Until when a free turn that is wanted is kept for somebody else; nothing where it is not.
std::optional<Nanoseconds> kept_until(const TurnState& state, Nanoseconds now);

/// Who is to have a free turn next of those in the queue; -1: nobody waits.
int next_in_line(const TurnState& state);

}  // namespace stint
