#include "supervise/run_saves.h"

#include <algorithm>
#include <utility>

namespace stint {

int RunSaves::ask(std::int64_t reached, Seconds now) {
  asked_ = now;
  asked_last_ = now;
  from_ = reached;
  settles_ = true;
  return ++number_;
}

void RunSaves::answer(std::optional<int> number, std::int64_t step, bool further) {
  const bool mine = number == number_;
  if (mine && settles_) unsettled_ = false;
  if (further || mine) failures_ = 0;
  if (mine || (!number && step >= from_)) asked_.reset();
}

bool RunSaves::fail(std::optional<int> number, std::string reason, Seconds now) {
  if (!asked_ || (number && number != number_)) return false;
  asked_.reset();
  failed_last_ = now;
  ++failures_;
  reason_ = std::move(reason);
  return true;
}

void RunSaves::excuse(Seconds time, Seconds now) {
  if (asked_) asked_ = std::min(now, *asked_ + time);
}

void RunSaves::unsettle() {
  unsettled_ = true;
  settles_ = false;
}

}  // namespace stint
