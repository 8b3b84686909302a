#include "run/run_saves.h"

#include <utility>

namespace stint {

void RunSaves::ask(std::int64_t reached, Seconds now) {
  asked_ = now;
  asked_last_ = now;
  from_ = reached;
  settles_ = true;
}

void RunSaves::answer(std::int64_t step, bool further) {
  if (further) failures_ = 0;
  if (!asked_ || (step < from_ && !further)) return;
  if (settles_) unsettled_ = false;
  failures_ = 0;
  asked_.reset();
}

void RunSaves::fail(std::string reason, Seconds now) {
  if (!asked_) return;
  asked_.reset();
  failed_last_ = now;
  ++failures_;
  reason_ = std::move(reason);
}

void RunSaves::unsettle() {
  unsettled_ = true;
  settles_ = false;
}

}  // namespace stint
