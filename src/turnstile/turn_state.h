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

/// A job's seat at a turnstile. A vacant seat keeps the figures of its last job.
struct TurnSeat {
  std::array<char, kStintTurnNameSize> name{};
  std::uint64_t joined = 0;  // Number of the join at this turnstile; 0: the seat was never used.
  std::uint64_t process_start = 0;
  std::int32_t process = 0;
  std::uint32_t present = 0;
  std::uint32_t order = 0;
  std::uint32_t share = 1;
  std::uint32_t left = 0;  // Turns left in this round.
  std::uint32_t padding = 0;
  Nanoseconds patience{};
  std::uint64_t ticket = 0;  // Place in the queue; 0: not in it.
  Nanoseconds asked{};       // Time of asking, if in the queue.
  std::uint64_t turns = 0;
  Nanoseconds held{};    // Time of holding, in finished turns.
  Nanoseconds waited{};  // Time of waiting, in finished waits.
};

/// The member that takes a seat.
struct TurnNewcomer {
  std::array<char, kStintTurnNameSize> name{};
  std::int32_t process = 0;
  std::uint64_t process_start = 0;
  std::uint32_t order = 0;
  std::uint32_t share = 1;
  Nanoseconds patience{};
};

/// The whole state of a turnstile; turnstile.h describes the states and the rhythm. The functions
/// below are its only transitions: they are pure, and after each of them the turn is held by the
/// member that the rhythm selects, or none may have it now.
struct TurnState {
  std::int32_t holder = -1;  // A seat; -1: none.
  std::uint32_t seats_used = 0;
  Nanoseconds held_since{};
  Nanoseconds free_since{};
  std::uint64_t joins = 0;
  std::uint64_t tickets = 0;
  std::uint64_t turns = 0;
  std::uint64_t turns_forgotten = 0;  // Turns of jobs whose seats were given to others.
  std::uint64_t rounds = 0;
  std::uint64_t deaths = 0;
  std::array<TurnSeat, kStintTurnMembersMax> seats{};
};
static_assert(std::is_trivially_copyable_v<TurnState>);

/// The longest patience of a member.
inline constexpr Nanoseconds kTurnPatienceMax = std::chrono::hours(1);

/// Whether the transitions below can have led to the state by `now`. What other programs write into
/// the file of a turnstile is not: with it the transitions could go wrong or wait for ever.
bool is_sound(const TurnState& state, Nanoseconds now);

/// Takes a seat: the vacant seat of the same name, else one that was never used, else the vacant
/// one that was taken first. Nothing when all are taken.
std::optional<int> join(TurnState& state, const TurnNewcomer& newcomer, Nanoseconds now);

/// Leaves the seat, and with it the turn or the queue.
void leave(TurnState& state, int seat, Nanoseconds now);

/// As leave, for a member whose process has ended.
void bury(TurnState& state, int seat, Nanoseconds now);

/// Enters the queue, unless the member is in it or holds the turn.
void ask(TurnState& state, int seat, Nanoseconds now);

/// Leaves the queue.
void withdraw(TurnState& state, int seat, Nanoseconds now);

/// Gives up the turn. Requires that the seat holds it.
void give(TurnState& state, int seat, Nanoseconds now);

/// Gives a free turn to the member that the rhythm selects, if time alone has made that possible.
void settle(TurnState& state, Nanoseconds now);

/// The time until which a free turn with waiting members is kept for another; nothing where it is
/// not.
std::optional<Nanoseconds> kept_until(const TurnState& state, Nanoseconds now);

/// The next member in the queue to get a free turn; -1: none waits.
int next_in_line(const TurnState& state);

}  // namespace stint
