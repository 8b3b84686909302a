#pragma once

#include <string>

#include "turnstile/process_life.h"
#include "turnstile/turn_file.h"

namespace stint {

/// How a job takes part; see StintTurnOptions.
struct TurnTerms {
  std::string name;
  std::uint32_t order = 0;
  std::uint32_t share = 1;
  Nanoseconds patience{};
};

/// A member of a turnstile: the C interface wraps it, with limits as durations. `file` outlives it,
/// and may have several members, such as the threads of one process.
class TurnMember {
 public:
  static TurnResult<TurnMember> join(TurnFile& file, const TurnTerms& terms);

  StintTurnCode leave();
  StintTurnCode take(Nanoseconds limit);
  StintTurnCode give();
  StintTurnCode offer(Nanoseconds quantum, Nanoseconds limit);
  StintTurnCode ask();
  StintTurnCode wait(Nanoseconds limit);
  StintTurnCode withdraw();

 private:
  TurnMember(TurnFile& file, ProcessIdentity process) : file_(&file), process_(process) {}

  bool is_fork() const;
  bool is_member(const TurnState& state) const;
  StintTurnCode edit(TurnChange kind, const std::function<StintTurnCode(TurnState&)>& what);
  StintTurnCode state_now(const TurnState& state) const;

  TurnFile* file_;
  ProcessIdentity process_;
  int seat_ = -1;
  std::uint64_t joined_ = 0;  // A seat with another number belongs to another member.
};

/// Makes members absent whose processes have ended.
void bury_gone(TurnFile& file, int self);

}  // namespace stint
