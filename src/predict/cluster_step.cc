#include "predict/cluster_step.h"

#include <algorithm>
#include <cmath>

#include "predict/straggler.h"

namespace stint {
namespace {

/// Crowding with its straggling apart.
struct Slowdown {
  double crowding = 1;    // Of every worker, by the others.
  double straggling = 0;  // Of the slowest worker over that, as a fraction of it.

  double whole() const { return crowding * (1 + straggling); }
};

Slowdown slowdown_of(const FabricLaw& fabric, const JobLaw& own, const LawInput& input) {
  const Crowding parts = crowding_parts(fabric, own, input);
  if (parts.whole <= parts.together) return {.crowding = parts.whole};
  return {.crowding = parts.together, .straggling = parts.whole / parts.together - 1};
}

bool plays_buckets(const JobProfile& job, const Workers& cluster) {
  return cluster.plays_buckets && !job.buckets.empty();
}

StepGroup step_group(const JobProfile& job, const Workers& cluster, const FabricLaw& fabric,
                     const JobLaw& own, const WorkerGroup& group, const LawInput& input,
                     const Slowdown& slowdown) {
  const double batch = group.batch;
  const double stretch = group.times->scale * slowdown.crowding;
  const ComputeCurve& curve = group.times->curve;
  StepGroup step{.vms = group.vms,
                 .workers_per_vm = group.workers_per_vm,
                 .forward = stretch * curve.forward.at(batch),
                 .backward = stretch * curve.backward.at(batch),
                 // The update is not among what straggling stretches in step_parts.
                 .update = group.times->scale * slowdown.whole() * curve.update.at(batch),
                 .input = batch * std::max(job.input_per_sample.value_or(Seconds{}),
                                           group.times->input_per_sample),
                 .network = network_link(fabric, own, input),
                 .inside = inside_link(fabric, own, input)};
  // The law's latency is that of all buckets; each of the profile's own takes its part.
  if (plays_buckets(job, cluster) && input.servers == 0) {
    step.network.latency = step.network.latency / usual_bucket_count(job.gradient_bytes);
  }
  return step;
}

/// The law is always asked for one stream. The job and what the cluster refers to must outlive it.
LawQuestion question_of(const JobProfile& job, Workers cluster) {
  cluster.plays_buckets = false;
  LawQuestion question{.time =
                           [&job, cluster](const FabricLaw& fabric, const JobLaw& own) {
                             return total(step_parts(step_setup(job, cluster, fabric, own)));
                           },
                       .alone = alone_time(cluster),
                       .workers = cluster.workers()};
  for (const WorkerGroup& group : cluster.groups) {
    question.jitter = std::max(question.jitter, group.jitter);
    if (group.transfer == nullptr) continue;
    question.cost_deviation = std::max(question.cost_deviation, group.transfer->deviation);
    question.weight = std::min(question.weight, group.transfer->weight);
  }
  return question;
}

}  // namespace

StepSetup step_setup(const JobProfile& job, const Workers& cluster, const FabricLaw& fabric,
                     const JobLaw& own) {
  if (cluster.buckets != nullptr) return bucket_setup(job, cluster, *cluster.buckets);
  StepSetup setup{.buckets = {Bucket{.bytes = job.gradient_bytes, .ready = 0}},
                  .collective = cluster.collective,
                  .servers = std::max(1, cluster.servers),
                  .accumulation = cluster.accumulation,
                  .sharpness = 1 + std::exp(fabric.sharpness)};
  if (plays_buckets(job, cluster)) setup.buckets = job.buckets;
  setup.groups.reserve(cluster.groups.size());
  Seconds longest;  // Whoever computes longest decides how late the slowest worker is.
  double late = 0;
  for (const WorkerGroup& group : cluster.groups) {
    const FabricLaw here = law_on(fabric, group);
    const LawInput input = law_input(job, cluster, group, group.batch);
    const Slowdown slowdown = slowdown_of(here, own, input);
    setup.groups.push_back(step_group(job, cluster, here, own, group, input, slowdown));
    if (slowdown.whole() * input.alone <= longest) continue;
    longest = slowdown.whole() * input.alone;
    late = slowdown.straggling;
  }
  const int workers = cluster.workers();
  if (workers > 1) setup.jitter = late / expected_max_of_normals(workers);
  return setup;
}

double compute_deviation(const Workers& cluster, Seconds iteration) {
  double largest = 0;
  for (const WorkerGroup& group : cluster.groups) {
    const double batch = group.batch;
    const double deviation =
        std::hypot(group.times->deviation, group.times->curve.deviation(batch));
    const double share = cluster.accumulation * alone_time(*group.times, batch) / iteration;
    largest = std::max(largest, deviation * std::min(1.0, share));
  }
  return largest;
}

Seconds alone_time(const Workers& cluster) {
  Seconds alone;
  for (const WorkerGroup& group : cluster.groups) {
    const ComputeCurve& curve = group.times->curve;
    const double batch = group.batch;
    const Seconds step = cluster.accumulation * curve.passes(batch) + curve.update.at(batch);
    alone = std::max(alone, group.times->scale * step);
  }
  return alone;
}

double cost_deviation(const JobProfile& job, const CalibratedLaw& law, const KnownJob* known,
                      const Workers& cluster) {
  return cost_log_deviation(law, known, question_of(job, cluster));
}

LogSpread time_spread(const JobProfile& job, const CalibratedLaw& law, const KnownJob* known,
                      const Workers& cluster, Seconds mean) {
  const double compute = compute_deviation(cluster, mean);
  if (!law.buckets) return log_spread(law, known, question_of(job, cluster)).with(compute);
  const double of_law = std::hypot(bucket_log_deviation(job, cluster, *law.buckets), compute);
  return {.below = of_law, .above = of_law};
}

}  // namespace stint
