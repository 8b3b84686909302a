#include "simulate/training_stretch.h"

#include <algorithm>

#include "base/check.h"

namespace stint {
namespace {

/// Training time until the next save, `now` after the start.
Seconds until_save(const SavedWork& job, const Progress& at, Seconds now) {
  const std::vector<Seconds>& begins = job.schedule.begins;
  if (begins.empty()) return (at.saves + 1.0) * job.schedule.interval - at.work;
  const auto index = static_cast<std::size_t>(at.saves);
  if (index < begins.size()) return begins[index] - now;
  const Seconds last = begins.size() > 1 ? begins.back() - begins[begins.size() - 2] : begins[0];
  const double more = static_cast<double>(index - begins.size()) + 1;
  return begins.back() + more * last - now;
}

}  // namespace

Stretch train(const SavedWork& job, const Progress& from, Seconds limit) {
  Stretch stretch{.end = from, .safe = from};
  Progress& at = stretch.end;
  Progress pending = from;  // Safe from `pending_safe` on.
  Seconds pending_safe;
  // What the end would overtake. A hair more, so that whole intervals of work do not gain a save.
  const Seconds overtaken = job.save.transfer + 1e-12 * job.work;
  Seconds& now = stretch.time;
  while (true) {
    const Seconds stall = std::min(at.stall_left, limit - now);
    now += stall;
    at.stalled += stall;
    at.stall_left -= stall;
    if (now >= limit) break;

    const Seconds to_end = job.work - at.work;
    const Seconds to_save = until_save(job, at, now);
    const bool saves = to_save < to_end - overtaken;
    const Seconds next = saves ? to_save : to_end;
    if (now + next > limit) {
      at.work += limit - now;
      now = limit;
      break;
    }
    now += next;
    at.work += next;
    if (!saves) {
      at.work = job.work;
      stretch.done = true;
      break;
    }
    CHECK(now >= pending_safe - 1e-9 * job.work);
    stretch.safe = pending;
    ++at.saves;
    at.stall_left = job.save.stall;
    pending = at;
    pending.stalled += job.save.stall;
    pending.stall_left = {};
    pending_safe = now + job.save.until_safe();
  }
  if (stretch.done) {
    stretch.safe = at;
  } else if (now >= pending_safe) {
    stretch.safe = pending;
  }
  return stretch;
}

}  // namespace stint
