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
  /// Asked for when `reached` steps were done; a checkpoint of that step or a later one answers it.
  void ask(std::int64_t reached, Seconds now);

  /// A checkpoint is safe; `further`: it is beyond all earlier ones.
  void answer(std::int64_t step, bool further);

  void fail(std::string reason, Seconds now);

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
  std::int64_t from_ = 0;
  bool unsettled_ = false;
  bool settles_ = false;  // The one that is asked for puts things right.
  int failures_ = 0;
  std::string reason_;
};

}  // namespace stint
