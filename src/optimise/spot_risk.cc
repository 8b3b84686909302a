#include "optimise/spot_risk.h"

#include <algorithm>
#include <cmath>

#include "risk/checkpoint_schedule.h"
#include "risk/group_loss.h"

namespace stint {
namespace {

// Optimizers that people use keep two numbers beside each parameter.
constexpr double kStatePerGradient = 3;

// List price of AWS S3, standard; the last two checkpoints are kept.
constexpr auto kStoragePrice = 0.023 * kDollar / kGB / (30 * kDay);
constexpr double kGenerations = 2;

constexpr Seconds kNetworkLatency = 1 * kMillisecond;

// More machines that only keep checkpoints than this are not considered.
constexpr int kReceiversMax = 16;

/// A wait that is needed only now and then, and then lasts an exponential time.
RandomTime wait_for_spot() {
  const double second = 2 * kSpotMissing;  // E X² over the square of the mean wait.
  return {.mean = kSpotMissing * kSpotMissingFor,
          .deviation = std::sqrt(second - kSpotMissing * kSpotMissing) * kSpotMissingFor};
}

RandomTime sum(const RandomTime& a, const RandomTime& b) {
  return {.mean = a.mean + b.mean,
          .deviation = std::hypot(a.deviation.in(kSecond), b.deviation.in(kSecond)) * kSecond};
}

}  // namespace

SpotRisk::SpotRisk(const PlanQuestion& question, const Space& space)
    : question_(question), space_(space) {
  const JobProfile& job = question.context.job;
  if (job.checkpoint) {
    bytes_ = job.checkpoint->bytes;
  } else if (job.parameter_bytes && job.optimizer_bytes) {
    bytes_ = *job.parameter_bytes + *job.optimizer_bytes;
  } else {
    bytes_ = kStatePerGradient * job.parameter_bytes.value_or(job.gradient_bytes);
    assumes_bytes_ = true;
  }
  bytes_ = std::max(bytes_, 1 * kByte);
  int vms_max = 0;
  for (const Rental& rental : space.rentals) {
    if (rental.spot) vms_max = std::max(vms_max, rental.vms_max);
    Floor& floor = floors_.emplace_back();
    if (!rental.spot) continue;
    const PerSecond one = rental.spot->loss_rates[static_cast<std::size_t>(LossBelief::kTypical)];
    floor.spot = true;
    floor.dearer = dearer(rental, one);
    floor.recovery = recovery_min(rental);
    floor.losses = one;
  }
  for (int vms = 0; vms <= vms_max; ++vms) {
    const PerSecond one = 1 / kSecond;
    events_.push_back(events_rate(question.outlook.spot.group, vms, one) / one);
  }
}

bool SpotRisk::has_spot(const Config& config) const {
  return std::any_of(config.used().begin(), config.used().end(),
                     [&](const Part& part) { return rental(part).spot.has_value(); });
}

BytesPerSecond SpotRisk::network(const Part& part) const {
  const Machine& machine = space_.machine_of(part.rental);
  // A VM whose network is not known is not thought to be slower than the store.
  if (machine.vms_max == 1 && machine.figures.network <= 0) return kObjectStoreMeasured.rate;
  return machine.figures.network * question_.context.law.reference_network;
}

SaveChoices SpotRisk::choices(const Config& config) const {
  SaveChoices choices;
  choices.add({});
  if (!has_spot(config)) return choices;
  int senders = 0;
  const Receiver* receiver = nullptr;
  DollarsPerSecond rate;
  BytesPerSecond slowest = network(config.parts[0]);
  for (const Part& part : config.used()) {
    const Rental& own = rental(part);
    senders += part.vms;
    rate += part.vms * own.price;
    slowest = std::min(slowest, network(part));
    if (own.receiver) receiver = &*own.receiver;
    if (!own.spot) choices.add({.place = CheckpointPlace::kAnchor});
  }
  if (receiver == nullptr) return choices;
  const auto add_tier = [&](int receivers) {
    constexpr double kRounding = 1 + 1e-12;
    const auto& most = question_.constraints.rate_max;
    if (most && rate + receivers * receiver->price > *most * kRounding) return;
    choices.add({.place = CheckpointPlace::kTier, .receivers = receivers});
  };
  const int needed = receivers_needed(senders, slowest, receiver->network);
  add_tier(1);
  if (needed > 1) add_tier(std::min(kReceiversMax, needed));
  return choices;
}

SaveSetup SpotRisk::setup(const Config& config) const {
  SaveSetup setup{.bytes = bytes_,
                  .senders = 0,
                  .workers = 0,
                  .sender_nic = network(config.parts[0]),
                  .place = config.save.place,
                  .sharded = true,
                  .copy_line = space_.machine_of(config.parts[0].rental).copy,
                  .receivers = std::max(1, config.save.receivers),
                  .network_latency = kNetworkLatency};
  for (const Part& part : config.used()) {
    setup.senders += part.vms;
    setup.workers += part.vms * part.workers_per_vm;
    setup.sender_nic = std::min(setup.sender_nic, network(part));
    const SaveLine& copy = space_.machine_of(part.rental).copy;
    if (copy.rate < setup.copy_line.rate) setup.copy_line = copy;
    const Rental& own = rental(part);
    const bool tier = config.save.place == CheckpointPlace::kTier;
    if (tier && own.receiver) setup.receiver_nic = own.receiver->network;
    if (!tier && !own.spot) setup.receiver_nic = network(part);
  }
  if (question_.context.job.checkpoint) setup.copy = question_.context.job.checkpoint->save_time;
  return setup;
}

/// What on-demand machines in place of a lost one cost more, per second of work.
DollarsPerSecond SpotRisk::dearer(const Rental& rental, PerSecond loss_rate) const {
  if (!rental.spot->on_demand) return {};
  const double replaced = std::min(1.0, loss_rate * kSpotMissing * kSpotMissingFor);
  return replaced * std::max(DollarsPerSecond{}, *rental.spot->on_demand - rental.price);
}

Seconds SpotRisk::recovery_min(const Rental& rental) const {
  const Seconds start = question_.outlook.spot_start_up.mean;
  return rental.spot->on_demand ? start : start + wait_for_spot().mean;
}

LeastRun SpotRisk::least(std::span<const Part> parts, DollarsPerSecond rate, Seconds work) const {
  const Outlook& outlook = question_.outlook;
  PerSecond losses;
  DollarsPerSecond more;
  Seconds recovery;
  bool spot = false;
  for (const Part& part : parts) {
    const Floor& floor = floors_[static_cast<std::size_t>(part.rental)];
    if (!floor.spot) continue;
    spot = true;
    losses += events_[static_cast<std::size_t>(part.vms)] * floor.losses;
    more += part.vms * floor.dearer;
    recovery = std::max(recovery, floor.recovery);
  }
  const Seconds start = spot ? outlook.spot_start_up.mean : outlook.on_demand_start_up.mean;
  const Seconds time = start + work * (1 + losses * recovery);
  // A hair less, because the same is computed in another order elsewhere.
  constexpr double kRounding = 1 - 1e-9;
  return {work, rate * work, kRounding * time, kRounding * (rate * time + more * work)};
}

DollarsPerSecond SpotRisk::price_floor(int index) const {
  const Rental& own = space_.rentals[static_cast<std::size_t>(index)];
  if (!own.spot) return own.price;
  const PerSecond one = own.spot->loss_rates[static_cast<std::size_t>(LossBelief::kTypical)];
  return own.price * (1 + one * recovery_min(own)) + dearer(own, one);
}

std::optional<RiskedRun> SpotRisk::run(const Config& config, Seconds work,
                                       LossBelief belief) const {
  SpotRun spot{.work = work, .start_up = question_.outlook.on_demand_start_up};
  if (!has_spot(config)) return RiskedRun{.time = spot_time(spot, work)};
  RiskedRun run{.save = save_cost(setup(config))};
  spot.start_up = question_.outlook.spot_start_up;
  spot.recovery = question_.outlook.spot_start_up;
  spot.recovery.mean += run.save->restore;
  spot.stall = run.save->stall;
  spot.transfer = run.save->transfer;
  bool announced = true;
  bool waits = false;
  DollarsPerSecond more;  // For on-demand machines in place of lost ones.
  for (const Part& part : config.used()) {
    const Rental& own = rental(part);
    if (own.receiver && config.save.place == CheckpointPlace::kTier) {
      run.anchors = config.save.receivers * own.receiver->price;
    }
    if (!own.spot) continue;
    const PerSecond rate = own.spot->loss_rates[static_cast<std::size_t>(belief)];
    spot.loss_rate += events_rate(question_.outlook.spot.group, part.vms, rate);
    announced = announced && own.spot->notice && fits_in_notice(*run.save, *own.spot->notice);
    waits = waits || !own.spot->on_demand;
    more += part.vms * dearer(own, rate);
  }
  if (announced) spot.without_notice = kLossesUnannounced;
  if (waits) spot.recovery = sum(spot.recovery, wait_for_spot());
  run.without_notice = spot.without_notice;
  run.time = best_spot_time(spot);
  if (!(run.time.mean <= kWorkTimesMax * work)) return std::nullopt;
  if (spot.loss_rate > PerSecond{}) {
    run.replacements = run.time.losses / spot.loss_rate * more;
  }
  const bool saves = run.time.interval < run.time.useful;
  if (saves && config.save.place == CheckpointPlace::kObjectStore) {
    run.storage = kGenerations * bytes_ * kStoragePrice;
  }
  return run;
}

}  // namespace stint
