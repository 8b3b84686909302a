#include "predict/fabric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "base/check.h"

namespace stint {
namespace {

using Field = double FabricLaw::*;

/// The constants that belong to the network between VMs.
constexpr std::array<Field, 9> kBetween = {
    &FabricLaw::two_vm_cost, &FabricLaw::two_vm_workers,  &FabricLaw::cost,
    &FabricLaw::cost_by_vms, &FabricLaw::cost_by_workers, &FabricLaw::depth_cost,
    &FabricLaw::latency,     &FabricLaw::server_cost,     &FabricLaw::server_latency};

/// The constants of a calibration by scope and name.
class Reader {
 public:
  explicit Reader(const Calibration& calibration) : calibration_(calibration) {}

  Believed believed(std::string_view scope, std::string_view name) {
    const Constant* found = find(scope, name);
    if (found == nullptr) return {};
    return {.mean = found->value, .deviation = found->deviation.value_or(0)};
  }

  double value(std::string_view scope, std::string_view name) { return believed(scope, name).mean; }

  const std::string& missing() const { return missing_; }

 private:
  const Constant* find(std::string_view scope, std::string_view name) {
    for (const Constant& constant : calibration_.constants) {
      if (constant.scope == scope && constant.name == name) return &constant;
    }
    if (missing_.empty()) missing_ = fmt::format("{} of {}", name, scope);
    return nullptr;
  }

  const Calibration& calibration_;
  std::string missing_;
};

/// Nanoseconds for a byte at a rate.
double ns_per_byte(BytesPerSecond rate) { return (1 * kByte / rate).in(kSecond)*1e9; }

void set(FabricPrior& prior, Field field, Believed belief) {
  prior.mean.*field = belief.mean;
  prior.deviation.*field = belief.deviation;
}

/// Growth with the workers of a VM. A ring of several also goes through the link inside: where that
/// is the slower one, full VMs cost what it takes.
Believed growth(const TransportLaw& law, const FabricPrior& prior, double byte,
                const FabricFacts& facts) {
  Believed growth = law.by_workers;
  const int workers = facts.workers_per_vm.value_or(1);
  if (facts.inside && workers > 1) {
    const double inside = prior.mean.inside_cost - std::log(byte);
    growth.mean = std::max(growth.mean, inside / std::log(workers));
  }
  return growth;
}

/// The prior between VMs for one transport. Requires a network.
FabricPrior of_transport(const TransportLaw& law, FabricPrior prior, const FabricFacts& facts) {
  const double byte = ns_per_byte(law.efficiency.mean * *facts.network) + law.host;
  const double deviation = law.efficiency.deviation;
  const Believed by_workers = growth(law, prior, byte, facts);
  set(prior, &FabricLaw::two_vm_cost, {std::log(byte), deviation});
  set(prior, &FabricLaw::cost, {std::log(byte), deviation});
  set(prior, &FabricLaw::two_vm_workers, by_workers);
  set(prior, &FabricLaw::cost_by_workers, by_workers);
  set(prior, &FabricLaw::cost_by_vms, law.by_vms);
  set(prior, &FabricLaw::depth_cost, {std::log(byte) + law.depth.mean, law.depth.deviation});
  set(prior, &FabricLaw::latency, law.latency);
  set(prior, &FabricLaw::server_cost, {std::log(byte + law.server), deviation});
  return prior;
}

/// The first two moments of a mixture with equal weights.
FabricPrior mixture(const std::vector<FabricPrior>& priors) {
  FabricPrior mixed = priors.front();
  const auto count = static_cast<double>(priors.size());
  for (const Field field : kBetween) {
    double mean = 0;
    double square = 0;
    for (const FabricPrior& prior : priors) {
      mean += prior.mean.*field / count;
      square += (std::pow(prior.mean.*field, 2) + std::pow(prior.deviation.*field, 2)) / count;
    }
    set(mixed, field, {mean, std::sqrt(std::max(0.0, square - mean * mean))});
  }
  return mixed;
}

double doublings(BytesPerSecond a, BytesPerSecond b) { return std::abs(std::log2(a / b)); }

/// The rate of the link inside. Requires its kind.
BytesPerSecond inside_rate(const FabricPhysics& physics, const FabricFacts& facts) {
  return facts.inside_rate.value_or(physics.insides.at(*facts.inside).rate * kGB / kSecond);
}

void set_inside(const FabricPhysics& physics, const FabricFacts& facts, FabricPrior& prior) {
  if (!facts.inside) return;
  const Believed efficiency = physics.insides.at(*facts.inside).efficiency;
  set(prior, &FabricLaw::inside_cost,
      {std::log(ns_per_byte(efficiency.mean * inside_rate(physics, facts))), efficiency.deviation});
}

/// Whether two kinds of machines have the same link inside.
bool same_inside(const FabricPhysics& physics, const FabricFacts& a, const FabricFacts& b) {
  constexpr double kSameRate = 0.2;  // Doublings; data sheets round.
  if (a.inside != b.inside) return false;
  return !a.inside || doublings(inside_rate(physics, a), inside_rate(physics, b)) < kSameRate;
}

/// The share of the nominal rate that a link has inside a step.
Believed inside_steps(const LinkLaw& link, const Believed& share) {
  return {.mean = link.efficiency * share.mean,
          .deviation = std::hypot(link.efficiency_deviation, share.deviation)};
}

/// NVLink is a mesh in old machines only, and the two differ little.
InsideTopology usual_topology(InsideLinkKind kind) {
  switch (kind) {
    case InsideLinkKind::kNvlink:
      return InsideTopology::kSwitched;
    case InsideLinkKind::kPcie:
      return InsideTopology::kPcie;
    case InsideLinkKind::kOther:
      return InsideTopology::kMesh;
  }
  CHECK(false);
}

/// Weights by the distance between two networks, of which all facts are known.
void set_weights(const FabricPhysics& physics, const FabricFacts& from, const FabricFacts& to,
                 FabricTransfer& transfer) {
  const FabricDistance& distance = physics.distance;
  double far = 0;
  if (from.transport != to.transport) far += distance.transport;
  if (from.network && to.network) far += distance.rate * doublings(*from.network, *to.network);
  if (from.workers_per_vm && to.workers_per_vm) {
    const double more = static_cast<double>(*to.workers_per_vm) / *from.workers_per_vm;
    far += distance.workers * std::max(0.0, std::log2(more));
  }
  transfer.inside_weight = same_inside(physics, from, to) ? 1 : std::exp(-distance.inside);
  transfer.weight = transfer.inside_weight * std::exp(-far);
}

}  // namespace

Result<FabricPhysics> fabric_physics(const Calibration& calibration, const CollectiveLaw& law) {
  Reader reader(calibration);
  FabricPhysics physics;
  for (const auto& [transport, name] : names_of(TransportFamily{})) {
    const LinkLaw& link = between_law(law, transport);
    const Believed share = reader.believed(name, "step_share");
    const double latency_share = reader.value(name, "latency_share");
    physics.transports[transport] = {
        .efficiency = inside_steps(link, share),
        .host = link.host / share.mean + reader.value(name, "step_cost"),
        .step_share = share,
        .latency_share = latency_share,
        .by_vms = reader.believed(name, "cost_by_vms"),
        .by_workers = reader.believed(name, "cost_by_workers"),
        .depth = reader.believed(name, "depth_share"),
        .latency = {std::log(2 * latency_share * link.latency.in(kSecond)), link.latency_deviation},
        .server = reader.value(name, "server_cost")};
  }
  for (const auto& [inside, name] : names_of(InsideLinkKind{})) {
    const LinkLaw& link = inside_law(law, usual_topology(inside));
    physics.insides[inside] = {
        .efficiency = inside_steps(link, reader.believed(name, "step_share")),
        .rate = reader.value(name, "rate")};
  }
  physics.distance = {.rate = reader.value("distance", "rate"),
                      .workers = reader.value("distance", "workers"),
                      .transport = reader.value("distance", "transport"),
                      .inside = reader.value("distance", "inside"),
                      .cluster = reader.value("distance", "cluster")};
  if (reader.missing().empty()) return physics;
  return bad_input(
      fmt::format("the calibration {} lacks the constant {}", calibration.name, reader.missing()));
}

FabricPrior fabric_prior(const NetworkKnowledge& knowledge, const FabricFacts& facts) {
  FabricPrior prior = knowledge.unknown;
  set_inside(knowledge.physics, facts, prior);
  if (facts.network) {
    std::vector<FabricPrior> priors;
    for (const auto& [transport, law] : knowledge.physics.transports) {
      if (facts.transport.value_or(transport) != transport) continue;
      priors.push_back(of_transport(law, prior, facts));
    }
    prior = mixture(priors);
  }
  return prior;
}

FabricTransfer fabric_transfer(const NetworkKnowledge& knowledge, const FabricFacts& from,
                               const FabricFacts& to, double further) {
  FabricFacts source = from;
  FabricFacts target = to;
  if (!target.transport) target.transport = source.transport.value_or(TransportFamily::kTcp);
  if (!source.transport) source.transport = target.transport;
  if (!source.network) source.network = target.network;
  if (!source.inside) {
    source.inside = target.inside;
    source.inside_rate = target.inside_rate;
  }
  FabricTransfer transfer{.rate = target.network.value_or(kReferenceNetwork)};
  set_weights(knowledge.physics, source, target, transfer);
  transfer.weight *= std::exp(-further);
  const FabricPrior before = fabric_prior(knowledge, source);
  const FabricPrior after = fabric_prior(knowledge, target);
  for (const Field field : kBetween) {
    transfer.offset.*field = after.mean.*field - transfer.weight * before.mean.*field;
  }
  transfer.offset.inside_cost =
      after.mean.inside_cost - transfer.inside_weight * before.mean.inside_cost;
  transfer.deviation =
      std::sqrt(1 - transfer.weight * transfer.weight) * after.deviation.two_vm_cost;
  return transfer;
}

std::optional<double> weight_of(const FabricTransfer& transfer, double FabricLaw::*constant) {
  if (constant == &FabricLaw::inside_cost) return transfer.inside_weight;
  const bool between = std::find(kBetween.begin(), kBetween.end(), constant) != kBetween.end();
  return between ? std::optional(transfer.weight) : std::nullopt;
}

FabricLaw transferred(const FabricLaw& fabric, const FabricTransfer& transfer) {
  FabricLaw other = fabric;
  for (const Field field : kBetween) {
    other.*field = transfer.offset.*field + transfer.weight * fabric.*field;
  }
  other.inside_cost = transfer.offset.inside_cost + transfer.inside_weight * fabric.inside_cost;
  return other;
}

}  // namespace stint
