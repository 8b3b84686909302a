#include "turnstile/turn_state.h"

#include <algorithm>

namespace stint {
namespace {

TurnSeat& seat_at(TurnState& state, int seat) {
  return state.seats[static_cast<std::size_t>(seat)];
}

/// The decision of the rhythm about a free turn.
struct TurnChoice {
  int seat = -1;
  bool new_round = false;
  Nanoseconds kept_until{};  // The turn is not given before.
};

/// The seat in the queue that asked first, of those with turns left if `with_turns`; or -1.
int first_in_queue(const TurnState& state, bool with_turns) {
  int first = -1;
  for (int i = 0; i < static_cast<int>(state.seats_used); ++i) {
    const TurnSeat& seat = state.seats[static_cast<std::size_t>(i)];
    if (seat.ticket == 0 || (with_turns && seat.left == 0)) continue;
    if (first < 0 || seat.ticket < state.seats[static_cast<std::size_t>(first)].ticket) first = i;
  }
  return first;
}

/// Rule 3: of those in the queue that asked soon enough after `first`, the lowest in order.
int lowest_of_tie(const TurnState& state, int first, bool new_round) {
  const TurnSeat& leader = state.seats[static_cast<std::size_t>(first)];
  int lowest = first;
  for (int i = 0; i < static_cast<int>(state.seats_used); ++i) {
    const TurnSeat& seat = state.seats[static_cast<std::size_t>(i)];
    if (seat.ticket == 0 || (seat.left == 0 && !new_round)) continue;
    if (seat.asked > leader.asked + seat.patience) continue;
    if (seat.order < state.seats[static_cast<std::size_t>(lowest)].order) lowest = i;
  }
  return lowest;
}

/// Rules 3 and 4: until when `first` leaves the turn to those that have not asked.
Nanoseconds patience_end(const TurnState& state, const TurnSeat& first, bool new_round) {
  Nanoseconds end{};
  for (std::uint32_t i = 0; i < state.seats_used; ++i) {
    const TurnSeat& seat = state.seats[i];
    if (seat.present == 0 || seat.ticket != 0) continue;
    if (new_round && seat.left > 0) {
      end = std::max(end, std::max(state.free_since, first.asked) + seat.patience);
    }
    if (seat.order < first.order && (new_round || seat.left > 0)) {
      end = std::max(end, first.asked + seat.patience);
    }
  }
  return end;
}

/// Requires that no member holds the turn.
TurnChoice choose(const TurnState& state) {
  TurnChoice choice{.seat = first_in_queue(state, true)};
  choice.new_round = choice.seat < 0;
  if (choice.new_round) choice.seat = first_in_queue(state, false);
  if (choice.seat < 0) return choice;
  choice.seat = lowest_of_tie(state, choice.seat, choice.new_round);
  choice.kept_until =
      patience_end(state, state.seats[static_cast<std::size_t>(choice.seat)], choice.new_round);
  return choice;
}

void begin_round(TurnState& state) {
  ++state.rounds;
  for (std::uint32_t i = 0; i < state.seats_used; ++i) state.seats[i].left = state.seats[i].share;
}

void leave_queue(TurnSeat& seat, Nanoseconds now) {
  if (seat.ticket == 0) return;
  seat.ticket = 0;
  seat.waited += now - seat.asked;
}

void let_go(TurnState& state, Nanoseconds now) {
  seat_at(state, state.holder).held += now - state.held_since;
  state.holder = -1;
  state.free_since = now;
}

/// A vacant seat, by the preferences that join states; or -1.
int vacant_seat(const TurnState& state, const TurnNewcomer& newcomer) {
  int vacant = -1;
  for (int i = 0; i < kStintTurnMembersMax; ++i) {
    const TurnSeat& seat = state.seats[static_cast<std::size_t>(i)];
    if (seat.present != 0) continue;
    if (seat.joined != 0 && seat.name == newcomer.name) return i;
    if (vacant < 0 || seat.joined < state.seats[static_cast<std::size_t>(vacant)].joined) {
      vacant = i;
    }
  }
  return vacant;
}

bool is_past(Nanoseconds moment, Nanoseconds now) {
  return moment >= Nanoseconds::zero() && moment <= now;
}

bool is_sound(const TurnSeat& seat, Nanoseconds now) {
  const bool named = seat.name.back() == '\0';
  const bool counted = seat.share >= 1 && seat.left <= seat.share;
  const bool patient = is_past(seat.patience, kTurnPatienceMax);
  const bool timed =
      is_past(seat.asked, now) && is_past(seat.held, now) && is_past(seat.waited, now);
  // A member that left is not in the queue.
  const bool placed = seat.present <= 1 && (seat.ticket == 0 || seat.present == 1);
  return named && counted && patient && timed && placed;
}

}  // namespace

bool is_sound(const TurnState& state, Nanoseconds now) {
  if (state.seats_used > kStintTurnMembersMax) return false;
  if (state.holder < -1 || state.holder >= static_cast<int>(state.seats_used)) return false;
  if (!is_past(state.held_since, now) || !is_past(state.free_since, now)) return false;
  for (std::uint32_t i = 0; i < state.seats_used; ++i) {
    if (!is_sound(state.seats[i], now)) return false;
  }
  return state.holder < 0 || state.seats[static_cast<std::size_t>(state.holder)].present == 1;
}

std::optional<int> join(TurnState& state, const TurnNewcomer& newcomer, Nanoseconds now) {
  const int number = vacant_seat(state, newcomer);
  if (number < 0) return std::nullopt;
  TurnSeat& seat = seat_at(state, number);
  if (seat.name != newcomer.name) {
    state.turns_forgotten += seat.turns;
    seat = TurnSeat{.name = newcomer.name};
  }
  seat.joined = ++state.joins;
  seat.process = newcomer.process;
  seat.process_start = newcomer.process_start;
  seat.present = 1;
  seat.order = newcomer.order;
  seat.share = newcomer.share;
  seat.left = newcomer.share;
  seat.patience = newcomer.patience;
  state.seats_used = std::max(state.seats_used, static_cast<std::uint32_t>(number) + 1);
  settle(state, now);
  return number;
}

void leave(TurnState& state, int seat, Nanoseconds now) {
  if (state.holder == seat) let_go(state, now);
  leave_queue(seat_at(state, seat), now);
  seat_at(state, seat).present = 0;
  settle(state, now);
}

void bury(TurnState& state, int seat, Nanoseconds now) {
  ++state.deaths;
  leave(state, seat, now);
}

void ask(TurnState& state, int seat, Nanoseconds now) {
  if (state.holder != seat && seat_at(state, seat).ticket == 0) {
    seat_at(state, seat).ticket = ++state.tickets;
    seat_at(state, seat).asked = now;
  }
  settle(state, now);
}

void withdraw(TurnState& state, int seat, Nanoseconds now) {
  leave_queue(seat_at(state, seat), now);
  settle(state, now);
}

void give(TurnState& state, int seat, Nanoseconds now) {
  if (state.holder == seat) let_go(state, now);
  settle(state, now);
}

void settle(TurnState& state, Nanoseconds now) {
  if (state.holder >= 0) return;
  const TurnChoice choice = choose(state);
  if (choice.seat < 0 || choice.kept_until > now) return;
  if (choice.new_round) begin_round(state);
  TurnSeat& seat = seat_at(state, choice.seat);
  leave_queue(seat, now);
  --seat.left;
  ++seat.turns;
  ++state.turns;
  state.holder = choice.seat;
  state.held_since = now;
}

std::optional<Nanoseconds> kept_until(const TurnState& state, Nanoseconds now) {
  if (state.holder >= 0) return std::nullopt;
  const TurnChoice choice = choose(state);
  if (choice.seat < 0 || choice.kept_until <= now) return std::nullopt;
  return choice.kept_until;
}

int next_in_line(const TurnState& state) { return choose(state).seat; }

}  // namespace stint
