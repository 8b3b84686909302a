#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "turnstile/turn_state.h"

namespace stint {

/// The reason of a refusal: what failed, and what to do.
struct TurnRefusal {
  StintTurnCode code = kStintTurnRefused;
  std::string reason;
};

template <class T>
using TurnResult = std::variant<T, TurnRefusal>;

/// The changes of a turnstile, and the points inside each at which tests kill processes.
enum class TurnChange { kMake, kJoin, kAsk, kGive, kOffer, kWithdraw, kSettle, kLeave, kBury };
enum class TurnMoment { kLocked, kHalfStored, kStored, kCounts, kUnlocked, kWoken };
using TurnWatch = std::function<void(TurnChange, TurnMoment)>;

/// The name of the point.
Nanoseconds turn_clock();

struct TurnLayout;  // Layout of the file.

/// A turnstile's state in shared memory, mapped by this process.
///
/// There are two copies of the state. A change is written into the copy that does not count, and
/// takes effect by one store to the file's sequence number, whose last bit selects the copy. A
/// process that is killed at any moment therefore never leaves half a change.
class TurnFile {
 public:
  /// Opens the file at `path`; makes it where there is none. No process ever sees half a file: it
  /// gets its name when it is complete. A kill may leave `path`.XXXXXX behind.
  static TurnResult<TurnFile> open(const std::string& path, TurnWatch watch = {});

  /// Opens it read-only, from any PID namespace.
  static TurnResult<TurnFile> look(const std::string& path);

  /// The state that counts, without waiting. Nothing where it changes too often to be read. A state
  /// that another program has damaged is empty: all its members have left.
  std::optional<TurnState> snapshot() const;

  /// Makes a change: `edit` changes the state, and returns whether it did. Wakes the members that
  /// the change concerns, except `self`. False if the lock was not free within its limit of 5
  /// seconds, because its owner is stopped: then nothing has changed.
  bool change(TurnChange kind, int self, const std::function<bool(TurnState&)>& edit);

  /// Sleeps until the seat is woken, or at most for `limit`; not at all if it was woken since
  /// wakes() was `seen`.
  void sleep(int seat, std::uint32_t seen, Nanoseconds limit);
  std::uint32_t wakes(int seat);

 private:
  using Mapping = std::unique_ptr<TurnLayout, void (*)(TurnLayout*)>;
  TurnFile(Mapping layout, TurnWatch watch)
      : layout_(std::move(layout)), watch_(std::move(watch)) {}

  static TurnResult<TurnFile> map(const std::string& path, bool to_look, TurnWatch watch);
  static std::optional<TurnRefusal> make(const std::string& path, const TurnWatch& watch);
  std::optional<TurnState> stored() const;  // As a snapshot, but damaged where it is.
  TurnState current() const;
  bool damaged() const;
  void store(const TurnState& state, TurnChange kind);
  void at(TurnChange kind, TurnMoment moment) const {
    if (watch_) watch_(kind, moment);
  }

  Mapping layout_;
  TurnWatch watch_;
};

/// The length of the file, for tests.
std::size_t turn_file_size();

}  // namespace stint
