#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"

namespace stint {

/// The saves of a run: which one is on its way, which failed, and whether what is saved is where it
/// should be.
class RunSaves {
 public:
  /// One is asked for when `reached` steps were done: its number. A checkpoint of that step or a
  /// later one answers it.
  int ask(std::int64_t reached, Seconds now);

  /// A checkpoint is safe; `further`: it is beyond all earlier ones. Only the very one that was
  /// asked for settles what was unsettled, because an earlier one may have gone elsewhere.
  void answer(std::optional<int> number, std::int64_t step, bool further);

  /// Whether that was the answer to the one that is pending.
  bool fail(std::optional<int> number, std::string reason, Seconds now);

  /// The workers that were asked are gone, and no answer is waited for.
  void forget() { asked_.reset(); }

  /// What is saved may be lost with a machine that held it, or lies where it should not stay.
  void unsettle();

  bool pending() const { return asked_.has_value(); }
  bool unsettled() const { return unsettled_; }
  int failures() const { return failures_; }  // In a row.
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
  bool settles_ = false;  // The one that is asked for puts things right.
  int failures_ = 0;
  std::string reason_;
};

}  // namespace stint
