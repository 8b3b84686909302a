#include "turnstile/turn_member.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace stint {
namespace {

/// The interval at which a waiting member checks by itself: far less than the 100 ms within which
/// it must continue, and rare enough to cost nothing (a check takes some 20 us).
constexpr Nanoseconds kLookEvery = std::chrono::milliseconds(20);
constexpr std::uint32_t kShareMax = 1000000;

std::optional<TurnRefusal> wrong_with(const TurnTerms& terms) {
  const auto refused = [](std::string reason) {
    return TurnRefusal{kStintTurnRefused, std::move(reason)};
  };
  if (terms.name.empty()) return refused("a job at a turnstile needs a name");
  if (terms.name.size() >= kStintTurnNameSize) {
    return refused("the name " + terms.name + " is longer than " +
                   std::to_string(kStintTurnNameSize - 1) + " bytes");
  }
  if (terms.share < 1 || terms.share > kShareMax) {
    return refused("a job's share must be from 1 to " + std::to_string(kShareMax) + " turns");
  }
  if (terms.patience < Nanoseconds::zero() || terms.patience > kTurnPatienceMax) {
    return refused("the patience must be from 0 to 1 hour");
  }
  return std::nullopt;
}

TurnNewcomer newcomer(const TurnTerms& terms, const ProcessIdentity& process) {
  TurnNewcomer one{.process = process.process,
                   .process_start = process.start,
                   .order = terms.order,
                   .share = terms.share,
                   .patience = terms.patience};
  std::memcpy(one.name.data(), terms.name.data(), terms.name.size());
  return one;
}

/// Times far beyond any wait must not overflow.
Nanoseconds later(Nanoseconds now, Nanoseconds limit) {
  return limit > Nanoseconds::max() - now ? Nanoseconds::max() : now + limit;
}

}  // namespace

void bury_gone(TurnFile& file, int self) {
  const std::optional<TurnState> seen = file.snapshot();
  if (!seen) return;
  std::vector<std::size_t> gone;
  for (std::size_t i = 0; i < seen->seats_used; ++i) {
    const TurnSeat& seat = seen->seats[i];
    if (seat.present != 0 && is_gone({seat.process, seat.process_start})) gone.push_back(i);
  }
  if (gone.empty()) return;
  file.change(TurnChange::kBury, self, [&](TurnState& state) {
    bool buried = false;
    for (const std::size_t i : gone) {
      // Another member may have the seat by now.
      if (state.seats[i].present == 0 || state.seats[i].joined != seen->seats[i].joined) continue;
      bury(state, static_cast<int>(i), turn_clock());
      buried = true;
    }
    return buried;
  });
}

TurnResult<TurnMember> TurnMember::join(TurnFile& file, const TurnTerms& terms) {
  if (const std::optional<TurnRefusal> wrong = wrong_with(terms)) return *wrong;
  const std::optional<ProcessIdentity> own = own_identity();
  if (!own) return TurnRefusal{kStintTurnRefused, "/proc does not show this process"};
  bury_gone(file, -1);
  TurnMember member(file, *own);
  const bool changed = file.change(TurnChange::kJoin, -1, [&](TurnState& state) {
    const std::optional<int> seat = stint::join(state, newcomer(terms, *own), turn_clock());
    if (!seat) return false;
    member.seat_ = *seat;
    member.joined_ = state.joins;
    return true;
  });
  if (!changed) return TurnRefusal{kStintTurnTimedOut, "a stopped member holds the lock"};
  if (member.seat_ < 0) {
    return TurnRefusal{kStintTurnFull, "all " + std::to_string(kStintTurnMembersMax) +
                                           " places of the turnstile are in use"};
  }
  return member;
}

bool TurnMember::is_fork() const { return ::getpid() != process_.process; }

bool TurnMember::is_member(const TurnState& state) const {
  const TurnSeat& seat = state.seats[static_cast<std::size_t>(seat_)];
  return seat.present != 0 && seat.joined == joined_;
}

StintTurnCode TurnMember::edit(TurnChange kind,
                               const std::function<StintTurnCode(TurnState&)>& what) {
  if (is_fork()) return kStintTurnNotMember;
  StintTurnCode code = kStintTurnNotMember;
  const bool locked = file_->change(kind, seat_, [&](TurnState& state) {
    if (!is_member(state)) return false;
    code = what(state);
    return code != kStintTurnNotHolder;
  });
  return locked ? code : kStintTurnTimedOut;
}

StintTurnCode TurnMember::state_now(const TurnState& state) const {
  if (!is_member(state)) return kStintTurnNotMember;
  if (state.holder == seat_) return kStintTurnOk;
  const bool waits = state.seats[static_cast<std::size_t>(seat_)].ticket != 0;
  return waits ? kStintTurnWaiting : kStintTurnNotHolder;
}

StintTurnCode TurnMember::leave() {
  return edit(TurnChange::kLeave, [&](TurnState& state) {
    stint::leave(state, seat_, turn_clock());
    return kStintTurnOk;
  });
}

StintTurnCode TurnMember::ask() {
  return edit(TurnChange::kAsk, [&](TurnState& state) {
    stint::ask(state, seat_, turn_clock());
    return state_now(state);
  });
}

StintTurnCode TurnMember::give() {
  return edit(TurnChange::kGive, [&](TurnState& state) {
    if (state.holder != seat_) return kStintTurnNotHolder;
    stint::give(state, seat_, turn_clock());
    return kStintTurnOk;
  });
}

StintTurnCode TurnMember::withdraw() {
  return edit(TurnChange::kWithdraw, [&](TurnState& state) {
    if (state.holder == seat_) return kStintTurnOk;
    stint::withdraw(state, seat_, turn_clock());
    return kStintTurnTimedOut;
  });
}

StintTurnCode TurnMember::take(Nanoseconds limit) {
  StintTurnCode code = ask();
  if (code == kStintTurnWaiting) code = wait(limit);
  return code == kStintTurnWaiting ? withdraw() : code;
}

StintTurnCode TurnMember::offer(Nanoseconds quantum, Nanoseconds limit) {
  if (const std::optional<TurnState> state = file_->snapshot()) {
    const StintTurnCode code = state_now(*state);
    if (code != kStintTurnOk) return code == kStintTurnWaiting ? kStintTurnNotHolder : code;
    const bool wanted = next_in_line(*state) >= 0;
    if (!wanted || turn_clock() - state->held_since < quantum) return kStintTurnOk;
  }
  StintTurnCode code = edit(TurnChange::kOffer, [&](TurnState& state) {
    if (state.holder != seat_) return kStintTurnNotHolder;
    stint::give(state, seat_, turn_clock());
    stint::ask(state, seat_, turn_clock());
    return state_now(state);
  });
  if (code == kStintTurnWaiting) code = wait(limit);
  return code == kStintTurnWaiting ? withdraw() : code;
}

StintTurnCode TurnMember::wait(Nanoseconds limit) {
  if (is_fork()) return kStintTurnNotMember;
  const Nanoseconds deadline = later(turn_clock(), limit);
  Nanoseconds look_next = turn_clock() + kLookEvery;
  while (true) {
    const std::uint32_t wakes = file_->wakes(seat_);
    const std::optional<TurnState> state = file_->snapshot();
    if (state && state_now(*state) != kStintTurnWaiting) return state_now(*state);
    const Nanoseconds now = turn_clock();
    if (now >= deadline) return kStintTurnWaiting;
    if (now >= look_next) {
      bury_gone(*file_, seat_);
      look_next = now + kLookEvery;
      continue;
    }
    Nanoseconds end = std::min(deadline, look_next);
    if (state && state->holder < 0) {
      const std::optional<Nanoseconds> kept = kept_until(*state, now);
      if (!kept) {
        // The turn has become available with time.
        edit(TurnChange::kSettle, [&](TurnState& free) {
          stint::settle(free, turn_clock());
          return kStintTurnOk;
        });
        continue;
      }
      end = std::min(end, *kept);
    }
    file_->sleep(seat_, wakes, end - now);
  }
}

}  // namespace stint
