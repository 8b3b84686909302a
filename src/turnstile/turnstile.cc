#include "turnstile/turnstile.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "turnstile/turn_member.h"

/// The handle that C code holds.
struct StintTurnMember {
  stint::TurnFile file;
  std::optional<stint::TurnMember> member;
};

namespace stint {
namespace {

int refuse(const TurnRefusal& refusal, char* reason, std::size_t size) {
  if (reason != nullptr && size > 0) {
    const std::size_t length = std::min(refusal.reason.size(), size - 1);
    std::memcpy(reason, refusal.reason.data(), length);
    reason[length] = '\0';
  }
  return refusal.code;
}

StintTurnFigures figures(const TurnState& state, std::size_t number, Nanoseconds now) {
  const TurnSeat& seat = state.seats[number];
  const bool holds = state.holder == static_cast<int>(number);
  const Nanoseconds held = holds ? now - state.held_since : Nanoseconds{};
  const Nanoseconds waits = seat.ticket != 0 ? now - seat.asked : Nanoseconds{};
  StintTurnFigures one{};
  std::copy(seat.name.begin(), seat.name.end(), one.name);
  one.process = seat.process;
  one.state = kStintTurnAbsent;
  if (seat.present != 0) one.state = kStintTurnIdle;
  if (seat.ticket != 0) one.state = kStintTurnInQueue;
  if (holds) one.state = kStintTurnHolding;
  one.order = seat.order;
  one.share = seat.share;
  one.since_ns = (held + waits).count();
  one.turns = seat.turns;
  one.held_ns = (seat.held + held).count();
  one.waited_ns = (seat.waited + waits).count();
  return one;
}

}  // namespace
}  // namespace stint

int stint_turn_join(const char* path, const StintTurnOptions* options, StintTurnMember** member,
                    char* reason, size_t reason_size) {
  *member = nullptr;
  auto file = stint::TurnFile::open(path);
  if (const auto* refusal = std::get_if<stint::TurnRefusal>(&file)) {
    return stint::refuse(*refusal, reason, reason_size);
  }
  auto handle = std::make_unique<StintTurnMember>(
      StintTurnMember{std::move(std::get<stint::TurnFile>(file)), std::nullopt});
  const stint::TurnTerms terms{.name = options->name != nullptr ? options->name : "",
                               .order = options->order,
                               .share = options->share,
                               .patience = stint::Nanoseconds(options->patience_ns)};
  auto joined = stint::TurnMember::join(handle->file, terms);
  if (const auto* refusal = std::get_if<stint::TurnRefusal>(&joined)) {
    return stint::refuse(*refusal, reason, reason_size);
  }
  handle->member = std::get<stint::TurnMember>(joined);
  *member = handle.release();
  return kStintTurnOk;
}

int stint_turn_leave(StintTurnMember* member) {
  const std::unique_ptr<StintTurnMember> owned(member);
  return owned->member->leave();
}

int stint_turn_take(StintTurnMember* member, int64_t limit_ns) {
  return member->member->take(stint::Nanoseconds(limit_ns));
}

int stint_turn_give(StintTurnMember* member) { return member->member->give(); }

int stint_turn_offer(StintTurnMember* member, int64_t quantum_ns, int64_t limit_ns) {
  return member->member->offer(stint::Nanoseconds(quantum_ns), stint::Nanoseconds(limit_ns));
}

int stint_turn_ask(StintTurnMember* member) { return member->member->ask(); }

int stint_turn_wait(StintTurnMember* member, int64_t limit_ns) {
  return member->member->wait(stint::Nanoseconds(limit_ns));
}

int stint_turn_withdraw(StintTurnMember* member) { return member->member->withdraw(); }

int stint_turn_status(const char* path, StintTurnStatus* status, char* reason, size_t reason_size) {
  const auto file = stint::TurnFile::look(path);
  if (const auto* refusal = std::get_if<stint::TurnRefusal>(&file)) {
    return stint::refuse(*refusal, reason, reason_size);
  }
  const auto state = std::get<stint::TurnFile>(file).snapshot();
  if (!state) {
    return stint::refuse({kStintTurnTimedOut, "the turnstile changes too often to be read"}, reason,
                         reason_size);
  }
  const stint::Nanoseconds now = stint::turn_clock();
  *status = {.version = kStintTurnVersion,
             .count = state->seats_used,
             .turns = state->turns,
             .turns_forgotten = state->turns_forgotten,
             .rounds = state->rounds,
             .deaths = state->deaths};
  for (std::size_t i = 0; i < state->seats_used; ++i) {
    status->members[i] = stint::figures(*state, i, now);
  }
  return kStintTurnOk;
}
