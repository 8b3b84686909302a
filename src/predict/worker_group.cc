#include "predict/worker_group.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

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

/// How fast a worker of the group is, with the others beside it.
WorkerSpeed speed_of(const JobProfile& job, const FabricLaw& fabric, const JobLaw& own,
                     const Workers& cluster, const WorkerGroup& group, double batch) {
  const ComputeCurve& curve = group.times->curve;
  const double stretch =
      group.times->scale * crowding(fabric, own, law_input(job, cluster, group, batch));
  WorkerSpeed speed{
      .fixed = stretch * (curve.forward.floor() + curve.backward.floor() + curve.update.floor()),
      .per_sample = stretch * (curve.forward.per_sample() + curve.backward.per_sample() +
                               curve.update.per_sample())};
  // A time that does not grow with the batch says nothing of speed: take it as proportional.
  if (speed.per_sample <= Seconds{}) {
    speed = {{}, stretch / group.times->scale * alone_time(*group.times, batch) / batch};
  }
  return speed;
}

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

int Workers::vms() const {
  int sum = 0;
  for (const WorkerGroup& group : groups) sum += group.vms;
  return sum;
}

int Workers::workers() const {
  int sum = 0;
  for (const WorkerGroup& group : groups) sum += group.workers();
  return sum;
}

Seconds alone_time(const DeviceTimes& times, double batch) {
  const ComputeCurve& curve = times.curve;
  return times.scale *
         (curve.forward.at(batch) + curve.backward.at(batch) + curve.update.at(batch));
}

FabricLaw law_on(const FabricLaw& fabric, const WorkerGroup& group) {
  return group.transfer == nullptr ? fabric : transferred(fabric, *group.transfer);
}

LawInput law_input(const JobProfile& job, const Workers& cluster, const WorkerGroup& group,
                   double batch) {
  // A law on the group's own network is stated for its rate and its link.
  const bool own = group.transfer != nullptr;
  return {.alone = alone_time(*group.times, batch),
          .jitter = group.jitter,
          .batch_per_worker = batch,
          .gradients = job.gradient_bytes,
          .vms = cluster.vms(),
          .workers = cluster.workers(),
          .workers_on_fullest_vm = group.workers_per_vm,
          .servers = cluster.servers,
          .network = own ? 1 : group.network,
          .reference = own ? group.transfer->rate : cluster.reference_network,
          .inside_link = own ? 1 : group.inside_link};
}

void share_out(const JobProfile& job, const FabricLaw& fabric, const JobLaw& own,
               const Workers& cluster, int samples, std::span<KindShare> shares) {
  CHECK(shares.size() == cluster.groups.size());
  const int workers = cluster.workers();
  if (cluster.groups.size() == 1) {
    const int rest = samples % workers;
    shares[0] = {.largest = samples / workers + (rest > 0 ? 1 : 0),
                 .busiest = rest > 0 ? rest : workers};
    cluster.groups[0].batch = shares[0].largest;
    return;
  }
  const double average = static_cast<double>(samples) / workers;
  std::vector<WorkerKind> kinds;
  kinds.reserve(cluster.groups.size());
  for (const WorkerGroup& group : cluster.groups) {
    kinds.push_back({group.workers(), speed_of(job, fabric, own, cluster, group, average)});
  }
  split_batch(samples, kinds, shares);
  for (std::size_t i = 0; i < shares.size(); ++i) cluster.groups[i].batch = shares[i].largest;
}

}  // namespace stint
