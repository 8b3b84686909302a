#include "predict/worker_group.h"

#include <array>
#include <vector>

#include "base/check.h"

namespace stint {
namespace {

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

LawInput law_input(const JobProfile& job, const Workers& cluster, const WorkerGroup& group,
                   double batch) {
  return {.alone = alone_time(*group.times, batch),
          .jitter = group.jitter,
          .batch_per_worker = batch,
          .gradients = job.gradient_bytes,
          .vms = cluster.vms(),
          .workers = cluster.workers(),
          .workers_on_fullest_vm = group.workers_per_vm,
          .servers = cluster.servers,
          .network = group.network,
          .reference = cluster.reference_network,
          .inside_link = group.inside_link};
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
