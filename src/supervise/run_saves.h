#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/codec_fields.h"

namespace stint {

/// The checkpoints of a run: the one in progress, the failed ones, and whether the saved state is
/// where it should be.
class RunSaves {
 public:
  /// Registers a request made after `reached` steps and returns its number. A checkpoint of that
  /// step or a later one answers it.
  int ask(std::int64_t reached, Seconds now);

  /// The next request will have this number.
  void count_from(int number) { number_ = number - 1; }

  /// A checkpoint is safe; `further`: it is beyond all earlier ones. Only the requested one settles
  /// an unsettled state, because an earlier one may have been stored elsewhere.
  void answer(std::optional<int> number, std::int64_t step, bool further);

  /// Whether that was the answer to the pending request.
  bool fail(std::optional<int> number, std::string reason, Seconds now);

  /// The workers that were asked are lost, so that no answer is expected.
  void forget() { asked_.reset(); }

  /// Nobody listened for the time until now, so that it does not count as a wait for the answer.
  void excuse(Seconds time, Seconds now);

  /// The saved state may be lost with a machine that held it, or is stored where it should not
  /// stay.
  void unsettle();

  bool pending() const { return asked_.has_value(); }
  bool unsettled() const { return unsettled_; }
  int failures() const { return failures_; }  // Consecutive failures.
  const std::string& reason() const { return reason_; }
  std::int64_t from() const { return from_; }
  Seconds asked_last() const { return asked_last_; }
  Seconds failed_last() const { return failed_last_; }
  Seconds waited(Seconds now) const { return asked_ ? now - *asked_ : Seconds{}; }

 private:
  std::optional<Seconds> asked_;
  Seconds asked_last_;
  Seconds failed_last_;
  int number_ = 0;
  std::int64_t from_ = 0;
  bool unsettled_ = false;
  bool settles_ = false;  // The requested checkpoint will settle the state.
  int failures_ = 0;
  std::string reason_;

  template <class Walk>
  friend void describe(Walk& walk, Like<Walk, RunSaves>& it) {
    walk.number("asked_s", it.asked_, kSecond, "When the pending one was requested.");
    walk.number("asked_last_s", it.asked_last_, kSecond, "When one was last requested.");
    walk.number("failed_last_s", it.failed_last_, kSecond, "When one last failed.");
    walk.field("number", it.number_, "Number of the last request.");
    walk.field("from", it.from_, "Step that had been reached then.");
    walk.field("unsettled", it.unsettled_, "Whether the saved state is where it may be lost.");
    walk.field("settles", it.settles_, "Whether the requested one settles the state.");
    walk.field("failures", it.failures_, "Consecutive failures.");
    walk.field("reason", it.reason_, "Reason of the last failure.");
  }
};

}  // namespace stint
