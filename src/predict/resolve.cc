#include "predict/resolve.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "base/unit_text.h"

namespace stint {
namespace {

// The T4s that the link inside a VM was fitted on talk over PCIe 3.0 x16: 16 GB/s one way.
constexpr BytesPerSecond kReferenceInsideLink = 16 * kGB / kSecond;
// Single steps commonly vary by this much; only what goes beyond it is told to the law.
constexpr double kUsualJitter = 0.05;

/// How much single steps vary beyond what is usual, from the spreads in the profile.
double jitter_of(const JobProfile& job, const std::string& device) {
  double sum = 0;
  int count = 0;
  for (const ComputeSample& sample : job.compute) {
    const Seconds whole = sample.forward.median + sample.backward.median + sample.update.median;
    const bool spread = sample.forward.spread || sample.backward.spread || sample.update.spread;
    if (sample.device != device || !spread || whole <= Seconds{}) continue;
    const double forward = sample.forward.spread.value_or(Seconds{}) / whole;
    const double backward = sample.backward.spread.value_or(Seconds{}) / whole;
    const double update = sample.update.spread.value_or(Seconds{}) / whole;
    sum += forward * forward + backward * backward + update * update;
    ++count;
  }
  if (count == 0) return 0;
  return std::sqrt(std::max(0.0, sum / count - kUsualJitter * kUsualJitter));
}

Status check_place(const Cluster& cluster, const std::vector<const VmType*>& types) {
  const VmName& first = cluster.groups[0].vm;
  for (std::size_t i = 1; i < types.size(); ++i) {
    if (types[i]->provider != types[0]->provider) {
      return bad_usage(fmt::format("a cluster has one provider, but {} is of {} and {} of {}",
                                   types[0]->name, types[0]->provider, types[i]->name,
                                   types[i]->provider));
    }
    const VmName& other = cluster.groups[i].vm;
    const bool apart = first.region && other.region && *first.region != *other.region;
    if (apart) {
      return bad_usage(fmt::format("a cluster has one region, but {} and {} are given",
                                   *first.region, *other.region));
    }
  }
  return {};
}

Result<int> workers_per_vm(const VmType& type, const PredictOptions& options, std::size_t group) {
  const int accelerators = type.accelerator ? type.accelerator->count : 1;
  const auto& by_group = options.group_workers_per_vm;
  const int workers =
      by_group.empty() ? options.workers_per_vm.value_or(accelerators) : by_group[group];
  if (workers > accelerators) {
    return bad_usage(fmt::format(
        "{} has {}, so it runs at most {}, not {}", type.name,
        type.accelerator ? counted(static_cast<std::size_t>(accelerators), "accelerator")
                         : "no accelerator",
        counted(static_cast<std::size_t>(accelerators), "worker"), workers));
  }
  return workers;
}

Result<ResolvedGroup> resolve_group(const PredictContext& context, const VmType& type,
                                    const PredictOptions& options, ResolvedJob& resolved) {
  const auto workers = workers_per_vm(type, options, resolved.groups.size());
  if (!workers.ok()) return workers.error();
  auto times = device_times(context.job, context.catalog, type, context.devices);
  if (!times.ok()) return times.error();
  ResolvedGroup group{.type = type,
                      .workers_per_vm = *workers,
                      .times = std::move(*times),
                      .memory = accelerator_memory(context.catalog, type)};
  group.jitter = jitter_of(context.job, group.times.measured);
  if (group.times.carried_over()) {
    resolved.assumptions.push_back(
        fmt::format("The job was not measured on {}: its times are those of {} times {:.2f}, from "
                    "the data sheets of both.",
                    group.times.device, group.times.measured, group.times.scale));
  }
  if (group.times.predicted) {
    resolved.assumptions.push_back(
        fmt::format("Nobody measured the job on {}: its times are computed from the operators of "
                    "{}, within a factor of {:.2f} in 8 of 10 cases.",
                    group.times.device, context.job.work->model,
                    std::exp(kEightInTen * group.times.deviation)));
  }
  if (!group.times.validated) {
    resolved.assumptions.push_back(fmt::format(
        "Unvalidated: no measured row of {} is behind its times, which follow from its data sheet.",
        group.times.device));
  }
  const auto inside = inside_link(context.catalog, type);
  group.inside_link = inside ? inside->one_way / kReferenceInsideLink : 1;
  if (*workers > 1 && !inside) {
    resolved.assumptions.push_back(fmt::format(
        "The link between the accelerators of {} is unknown: PCIe 3.0 is assumed.", type.name));
  }
  return group;
}

/// What the answer says of a network unlike the calibration's.
void note_network(const PredictContext& context, const ResolvedGroup& group,
                  std::vector<std::string>& assumptions) {
  if (!group.transfer || !context.law.fitted || group.transfer->weight >= kFarWeight) return;
  const FabricFacts facts = fabric_facts(context.catalog, group.type);
  const auto transport = facts.transport.value_or(TransportFamily::kTcp);
  assumptions.push_back(fmt::format(
      "The network of {} ({}, {}) was not measured: its costs follow from its rate and transport, "
      "and {:.0f} % of what the calibration {} found on {} corrects them.",
      group.type.name, to_text(group.transfer->rate, "Gbit/s"),
      transport == TransportFamily::kTcp ? "TCP" : "RDMA", 100 * group.transfer->weight,
      context.law.name, to_text(context.law.reference_network, "Gbit/s")));
}

/// What the answer says of NICs that together carry more than was measured: an emulated network
/// then waits for the processors of its computer.
void note_total_rate(const CalibratedLaw& law, ResolvedJob& resolved) {
  if (!law.buckets || !law.buckets->total_rate) return;
  BytesPerSecond total;
  for (const ResolvedGroup& group : resolved.groups) {
    total += group.vms * group.network * resolved.reference_network;
  }
  constexpr double kRounding = 1 + 1e-9;
  if (total <= kRounding * *law.buckets->total_rate) return;
  resolved.assumptions.push_back(
      fmt::format("The NICs carry {} in total, more than the {} that the calibration {} was "
                  "measured up to: the predicted time may be too short.",
                  to_text(total, "Gbit/s"), to_text(*law.buckets->total_rate, "Gbit/s"), law.name));
}

/// From the calibration's network to that of each group.
void add_transfers(const PredictContext& context, ResolvedJob& resolved) {
  const CalibratedLaw& law = context.law;
  if (law.buckets || !law.networks) return;  // The costs of buckets follow the rate of the NIC.
  for (ResolvedGroup& group : resolved.groups) {
    const FabricFacts facts = fabric_facts(context.catalog, group.type);
    group.transfer = fabric_transfer(*law.networks, law.facts, facts);
  }
}

/// Network ratios, which only matter between VMs.
Status add_networks(const PredictContext& context, ResolvedJob& resolved) {
  add_transfers(context, resolved);
  if (resolved.vms() == 1) return {};
  for (ResolvedGroup& group : resolved.groups) {
    const auto rate = network_rate(group.type);
    if (!rate || *rate <= BytesPerSecond{}) {
      return bad_input(fmt::format(
          "{}/{} has no network figure in the catalogue, so several VMs cannot be predicted; add "
          "one with 'stint catalog import', or use one VM",
          group.type.provider, group.type.name));
    }
    group.network = *rate / resolved.reference_network;
    note_network(context, group, resolved.assumptions);
  }
  note_total_rate(context.law, resolved);
  return {};
}

/// The samples of one micro-step over all workers.
Result<int> micro_batch(const PredictContext& context, const ResolvedJob& resolved) {
  const PredictOptions& options = resolved.options;
  const int workers = resolved.workers();
  std::optional<int> whole = options.global_batch;
  if (!whole && !options.batch_per_worker && context.job.batch) {
    whole = context.job.batch->reference;
  }
  if (whole) {
    if (*whole % options.accumulation != 0) {
      return bad_usage(
          fmt::format("a global batch of {} cannot be split into {} equal micro-steps; change "
                      "--global-batch or --accumulation",
                      *whole, options.accumulation));
    }
    if (*whole / options.accumulation < workers) {
      return bad_usage(fmt::format(
          "a global batch of {} in {} is too small for {}: each needs at least one sample", *whole,
          counted(static_cast<std::size_t>(options.accumulation), "micro-step"),
          counted(static_cast<std::size_t>(workers), "worker")));
    }
    return *whole / options.accumulation;
  }
  if (!options.batch_per_worker) {
    return bad_usage(
        fmt::format("the job {} has no reference batch; add --batch-per-worker or --global-batch",
                    context.job.name));
  }
  const std::int64_t samples = std::int64_t{*options.batch_per_worker} * workers;
  if (samples * options.accumulation > kBatchMax) {
    return bad_usage(fmt::format(
        "a global batch of {} is too large: the maximum is {}; lower the batch per worker",
        samples * options.accumulation, kBatchMax));
  }
  return static_cast<int>(samples);
}

/// Gives each worker its part of the samples of a micro-step.
void share_out(const PredictContext& context, ResolvedJob& resolved, int samples) {
  const ClusterView view(resolved);
  std::vector<KindShare> shares(resolved.groups.size());
  share_out(context.job, context.law.fabric, law_of(context.known()), view.workers(), samples,
            shares);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    ResolvedGroup& group = resolved.groups[i];
    const auto busiest = static_cast<std::size_t>(shares[i].busiest);
    const auto workers =
        static_cast<std::size_t>(group.vms) * static_cast<std::size_t>(group.workers_per_vm);
    group.batches.assign(busiest, shares[i].largest);
    group.batches.insert(group.batches.end(), workers - busiest, shares[i].largest - 1);
  }
}

/// What the answer says of batches that nobody measured.
void add_batch_notes(ResolvedJob& resolved) {
  for (const ResolvedGroup& group : resolved.groups) {
    const ComputeCurve& curve = group.times.curve;
    const int batch = group.batch_max();
    if (curve.extrapolates(batch)) {
      resolved.warnings.push_back(
          fmt::format("a batch of {} per worker is more than twice the largest one measured on {} "
                      "({:.0f}); the times are an extrapolation",
                      batch, group.times.measured, curve.batch_max));
    }
    if (curve.below_measured(batch)) {
      resolved.assumptions.push_back(
          fmt::format("A batch of {} per worker is smaller than any measured on {} (the smallest "
                      "is {:.0f}): the time is extrapolated.",
                      batch, group.times.measured, curve.batch_min));
    }
    if (curve.one_batch() && batch != curve.batch_max && curve.share.mean > 0) {
      resolved.assumptions.push_back(fmt::format(
          "Only a batch of {:.0f} was measured on {}: {:.0f} ± {:.0f} % of its time is assumed not "
          "to depend on the batch.",
          curve.batch_max, group.times.measured, 100 * curve.share.mean,
          100 * curve.share.deviation));
    }
  }
}

/// What is not known of ways to sum gradients that hardly anybody measured.
void add_collective_assumptions(const PredictContext& context, ResolvedJob& resolved) {
  if (resolved.options.collective == Collective::kParameterServer) {
    if (!resolved.options.servers) {
      resolved.assumptions.emplace_back("Every VM also runs one parameter server.");
    }
    if (context.law.fitted && !context.law.servers_fitted) {
      resolved.assumptions.push_back(fmt::format(
          "The calibration {} does not identify the cost of parameter servers: it is the prior.",
          context.law.name));
    }
  }
  if (resolved.options.collective == Collective::kTopK) {
    resolved.assumptions.emplace_back(
        "Top-k sends 1 % of the gradients; the selection is assumed to take no time, and the "
        "effect on accuracy is not modelled.");
  }
}

void add_general_assumptions(const PredictContext& context, ResolvedJob& resolved) {
  if (context.known() != nullptr) {
    resolved.assumptions.push_back(
        fmt::format("The constants are those of the job {} in the calibration {}.",
                    context.job.name, context.law.name));
  }
  if (resolved.workers() == 1) return;
  if (!context.law.fitted) {
    resolved.assumptions.push_back(fmt::format(
        "Nothing was fitted for this network: its constants are priors (calibration {}).",
        context.law.name));
  }
  if (resolved.options.plays_buckets && context.job.buckets.empty()) {
    resolved.assumptions.emplace_back(
        "The profile has no buckets: gradients leave as one stream from the start of backward.");
  }
  add_collective_assumptions(context, resolved);
}

}  // namespace

FabricFacts fabric_facts(const Catalog& catalog, const VmType& type) {
  FabricFacts facts{.network = fabric_rate(type)};
  if (const auto transport = transport_of(type)) facts.transport = family_of(*transport);
  // Bytes that go through the memory of the host cost what they cost over TCP, and training
  // frameworks use sockets there unless they are told otherwise.
  const bool staged = type.network && !type.network->gpu_direct.value_or(true);
  if (staged) facts.transport = TransportFamily::kTcp;
  facts.workers_per_vm = type.accelerator ? type.accelerator->count : 1;
  if (const auto inside = inside_link(catalog, type)) {
    facts.inside = inside->kind;
    facts.inside_rate = inside->one_way;
  }
  return facts;
}

WorkerMemory memory_of(const ResolvedGroup& group) {
  return {.device = group.times.measured,
          .measured_there = !group.times.carried_over() && !group.times.predicted,
          .memory = group.memory};
}

ClusterView::ClusterView(const ResolvedJob& resolved) {
  groups_.reserve(resolved.groups.size());
  for (const ResolvedGroup& group : resolved.groups) {
    groups_.push_back({.times = &group.times,
                       .jitter = group.jitter,
                       .network = group.network,
                       .inside_link = group.inside_link,
                       .transfer = group.transfer ? &*group.transfer : nullptr,
                       .vms = group.vms,
                       .workers_per_vm = group.workers_per_vm,
                       .batch = group.batches.empty() ? 1 : group.batch_max()});
  }
  workers_ = {.groups = groups_,
              .collective = resolved.options.collective,
              .servers = resolved.servers(),
              .accumulation = resolved.options.accumulation,
              .plays_buckets = resolved.options.plays_buckets,
              .reference_network = resolved.reference_network,
              .buckets = resolved.buckets ? &*resolved.buckets : nullptr};
}

int ResolvedJob::vms() const {
  return std::accumulate(groups.begin(), groups.end(), 0,
                         [](int sum, const ResolvedGroup& group) { return sum + group.vms; });
}

int ResolvedJob::workers() const {
  return std::accumulate(groups.begin(), groups.end(), 0, [](int sum, const ResolvedGroup& group) {
    return sum + group.vms * group.workers_per_vm;
  });
}

int ResolvedJob::servers() const {
  if (options.collective != Collective::kParameterServer) return 0;
  return options.servers.value_or(vms());
}

std::int64_t ResolvedJob::global_batch() const {
  std::int64_t samples = 0;
  for (const ResolvedGroup& group : groups) {
    samples = std::accumulate(group.batches.begin(), group.batches.end(), samples);
  }
  return samples * options.accumulation;
}

Result<ResolvedJob> resolve(const PredictContext& context, const Cluster& cluster,
                            const PredictOptions& options) {
  ResolvedJob resolved{
      .cluster = cluster, .options = options, .reference_network = context.law.reference_network};
  if (context.law.buckets) resolved.buckets = context.law.buckets->law;
  std::vector<const VmType*> types;
  for (const VmGroup& group : cluster.groups) {
    const auto type = find_type(context.catalog, group.vm);
    if (!type.ok()) return type.error();
    types.push_back(*type);
  }
  const Status place = check_place(cluster, types);
  if (!place.ok()) return place.error();
  std::int64_t vms = 0;
  for (const VmGroup& group : cluster.groups) vms += group.count;
  constexpr std::int64_t kMostVms = 100000;  // More than anybody trains one model on.
  if (vms > kMostVms) return bad_usage(fmt::format("a cluster has at most {} VMs", kMostVms));
  for (std::size_t i = 0; i < types.size(); ++i) {
    auto group = resolve_group(context, *types[i], options, resolved);
    if (!group.ok()) return group.error();
    group->vms = cluster.groups[i].count;
    resolved.groups.push_back(std::move(*group));
  }
  const Status networks = add_networks(context, resolved);
  if (!networks.ok()) return networks.error();
  const auto samples = micro_batch(context, resolved);
  if (!samples.ok()) return samples.error();
  share_out(context, resolved, *samples);
  add_batch_notes(resolved);
  add_general_assumptions(context, resolved);
  return resolved;
}

Layout layout_of(const ResolvedJob& resolved) {
  Layout layout{.cluster = resolved.cluster,
                .collective = resolved.options.collective,
                .accumulation = resolved.options.accumulation};
  for (const ResolvedGroup& group : resolved.groups) {
    layout.setups.push_back(
        {.workers_per_vm = group.workers_per_vm, .batch_per_worker = group.batch_max()});
  }
  return layout;
}

}  // namespace stint
