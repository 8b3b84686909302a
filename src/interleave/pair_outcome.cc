#include "interleave/pair_outcome.h"

#include <algorithm>

#include "base/check.h"

namespace stint {
namespace {

Seconds end_of(const SharedWork& job, Seconds together) {
  const double left = std::max(0.0, job.iterations - together / job.shared);
  return std::min(together, job.iterations * job.shared) + left * job.alone;
}

double slowdown_of(const SharedWork& job, Seconds end) {
  const Seconds alone = job.iterations * job.alone;
  return alone > Seconds{} ? end / alone : 1;
}

void check(const SharedWork& job) {
  CHECK(job.iterations >= 0);
  CHECK(job.alone > Seconds{});
  CHECK(job.shared > Seconds{});
}

}  // namespace

PairOutcome pair_outcome(const SharedWork& first, const SharedWork& second) {
  check(first);
  check(second);
  PairOutcome it;
  it.together = std::min(first.iterations * first.shared, second.iterations * second.shared);
  it.end = {end_of(first, it.together), end_of(second, it.together)};
  it.slowdown = {slowdown_of(first, it.end[0]), slowdown_of(second, it.end[1])};
  it.makespan = std::max(it.end[0], it.end[1]);
  it.separate = first.iterations * first.alone + second.iterations * second.alone;
  return it;
}

}  // namespace stint
