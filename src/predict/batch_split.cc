#include "predict/batch_split.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/check.h"

namespace stint {
namespace {

Seconds time_of(const WorkerSpeed& speed, std::int64_t batch) {
  return speed.fixed + static_cast<double>(batch) * speed.per_sample;
}

/// The largest batch ≤ `most` that is done by `time`, or strictly before it; at least one, because
/// the first sample is everybody's. Division may round to a neighbour, which the loops mend.
std::int64_t batch_within(const WorkerSpeed& speed, Seconds time, bool strictly,
                          std::int64_t most) {
  const auto in_time = [&](std::int64_t batch) {
    return strictly ? time_of(speed, batch) < time : time_of(speed, batch) <= time;
  };
  const double guess = std::floor((time - speed.fixed) / speed.per_sample);
  auto batch = static_cast<std::int64_t>(std::clamp(guess, 1.0, static_cast<double>(most)));
  while (batch > 1 && !in_time(batch)) --batch;
  while (batch < most && in_time(batch + 1)) ++batch;
  return batch;
}

/// Who gets a sample before whom.
class Queue {
 public:
  Queue(int batch, std::span<const WorkerKind> kinds) : kinds_(kinds), extra_(batch) {
    for (const WorkerKind& kind : kinds) extra_ -= kind.workers;
  }

  /// Samples beyond everybody's first.
  std::int64_t extra() const { return extra_; }

  /// How many of these were handed out before the first worker of `kind` gets its `batch`-th.
  std::int64_t before(std::size_t kind, std::int64_t batch) const {
    const Seconds done = time_of(kinds_[kind].speed, batch);
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      const std::int64_t had =
          k == kind ? batch - 1 : batch_within(kinds_[k].speed, done, k > kind, extra_ + 1);
      sum += kinds_[k].workers * (had - 1);
    }
    return sum;
  }

 private:
  std::span<const WorkerKind> kinds_;
  std::int64_t extra_;
};

}  // namespace

void split_batch(int batch, std::span<const WorkerKind> kinds, std::span<KindShare> shares) {
  CHECK(!kinds.empty() && kinds.size() == shares.size());
  for (const WorkerKind& kind : kinds) {
    CHECK(kind.workers >= 1);
    CHECK(kind.speed.per_sample > Seconds{});
  }
  const Queue queue(batch, kinds);
  CHECK(queue.extra() >= 0);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    // The largest batch that the first worker of the kind gets.
    std::int64_t low = 1;
    std::int64_t high = queue.extra() + 1;
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      if (queue.before(k, middle) < queue.extra()) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    const std::int64_t workers = kinds[k].workers;
    const std::int64_t left = low == 1 ? workers : queue.extra() - queue.before(k, low);
    shares[k] = {.largest = static_cast<int>(low),
                 .busiest = static_cast<int>(std::min(workers, left))};
  }
}

}  // namespace stint
