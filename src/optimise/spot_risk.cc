#include "optimise/spot_risk.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

double square(double x) { return x * x; }

/// The share of exponential waits, in number and in length, that fall within a run of so much time,
/// for waits that begin at any time of it alike.
double share_within(Seconds time) {
  const double waits = time / kSpotMissing.mean;
  return 1 + std::expm1(-waits) / waits;
}

/// At most that, as bounds ask for it millions of times.
double share_within_min(Seconds time) { return time / (time + 2 * kSpotMissing.mean); }

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
    floor.spot = true;
    floor.losses = losses(rental, LossBelief::kTypical).rate_min();
    floor.dearer = dearer(rental, 0);
    floor.filling = dearer(rental, 1) - floor.dearer;
    floor.starting = starting(rental);
    floor.waits = !rental.spot->on_demand;
  }
  while (static_cast<int>(together_.size()) <= vms_max) {
    together_.push_back(together(static_cast<int>(together_.size())));
  }
}

/// How the losses of so many VMs of a pool come together.
SpotRisk::Together SpotRisk::together(int vms) const {
  if (static_cast<std::size_t>(vms) < together_.size()) {
    return together_[static_cast<std::size_t>(vms)];
  }
  if (vms == 0) return {};
  const GroupLoss& group = question_.outlook.spot.group;
  const PerSecond one = 1 / kSecond;
  return {.events = events_rate(group, vms, one) / one, .all = all_lost_share(group, vms)};
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
  const ReceiverChoice* receiver = nullptr;
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

/// What replacing a machine costs more than its time in the cluster does: the start during the
/// notice and, while spot has none, an on-demand machine, beside which its successor starts.
Dollars SpotRisk::dearer(const Rental& rental, double within) const {
  const Seconds start = question_.outlook.spot_start_up.mean;
  const Dollars early = rental.price * (start - starting(rental));
  if (!rental.spot->on_demand) return early;
  const auto more = std::max(DollarsPerSecond{}, *rental.spot->on_demand - rental.price);
  const Dollars filled = kSpotMissing.mean * more + start * rental.price;
  return early + kSpotMissing.share * within * filled;
}

/// The time for which the place of a lost machine is empty although there is a replacement.
Seconds SpotRisk::starting(const Rental& rental) const {
  const Seconds start = question_.outlook.spot_start_up.mean;
  const Seconds ahead = (1 - kLossesUnannounced) * rental.spot->notice.value_or(Seconds{});
  return std::max(kLossesUnannounced * start, start - ahead);
}

LeastRun SpotRisk::least(std::span<const Part> parts, DollarsPerSecond rate, Seconds work) const {
  const Outlook& outlook = question_.outlook;
  constexpr Seconds kUnset = std::numeric_limits<double>::infinity() * kSecond;
  Seconds lost = kUnset;  // At least; all machines' losses are in proportion to their number.
  Dollars more;
  bool spot = false;
  const double within = share_within_min(work);
  const Seconds wait = kSpotMissing.share * within * kSpotMissing.mean;
  for (const Part& part : parts) {
    const Floor& floor = floors_[static_cast<std::size_t>(part.rental)];
    const double losses = floor.losses * work;
    spot = spot || floor.spot;
    more += part.vms * losses * (floor.dearer + within * floor.filling);
    lost = std::min(lost, losses * (floor.starting + (floor.waits ? wait : Seconds{})));
  }
  const Seconds start = spot ? outlook.spot_start_up.mean : outlook.on_demand_start_up.mean;
  // A hair less, because the same is computed in another order elsewhere.
  constexpr double kRounding = 1 - 1e-9;
  return {work, rate * work, kRounding * (start + work + lost),
          kRounding * (rate * (start + work) + more)};
}

DollarsPerSecond SpotRisk::price_floor(int index) const {
  const Rental& own = space_.rentals[static_cast<std::size_t>(index)];
  if (!own.spot) return own.price;
  return own.price + losses(own, LossBelief::kTypical).rate_min() * dearer(own, 0);
}

/// Adds the interruptions of the spot machines of a part.
void SpotRisk::interrupt(const Config& config, const Part& part, const SaveCost& save,
                         Interruptions& sum, LossBelief belief, Seconds time) const {
  const Rental& own = rental(part);
  int all = 0;
  for (const Part& it : config.used()) all += it.vms;
  const bool split = space_.machine_of(config.parts[0].rental).sharded.has_value();
  const double losses = this->losses(own, belief).in(time);  // Of one machine.
  if (losses <= 0) return;
  const Together together = this->together(part.vms);
  const double events = together.events * losses;
  const double share = losses * part.vms / (events * all);  // Of the machines, lost at once.
  const RandomTime& start = question_.outlook.spot_start_up;
  // Where others go on, a place may stay empty until the end.
  const bool alone = split || all == 1;
  const double within = share_within(time);
  const double missing = kSpotMissing.share * (alone && !own.spot->on_demand ? 1 : within);
  const Seconds wait = own.spot->on_demand ? Seconds{} : missing * kSpotMissing.mean;
  const Seconds empty = starting(own) + wait;
  // Nobody may be left with the state.
  double returns = 1;
  if (!alone) {
    const double soon = -std::expm1(-losses * (empty / time));
    const double at_once = part.vms == all ? together.all : 0;
    returns = at_once + (1 - at_once) * std::pow(soon, all - 1);
  }
  const Seconds regroup = question_.outlook.regroup;
  // An on-demand machine hands over to a spot machine later; one alone must save for that.
  const Seconds swap =
      all == 1 ? save.until_safe() + start.mean + save.restore : regroup + save.restore;
  const Seconds again = own.spot->on_demand ? missing * swap : Seconds{};
  // An exponential time in some cases, and none in the others.
  const double variance = square(start.deviation.in(kSecond)) +
                          wait.in(kSecond) * (2 * kSpotMissing.mean - wait).in(kSecond);
  const auto add = [&](double count, double lost, Seconds pause) {
    const Seconds mean = lost * empty + pause + save.restore + again;
    sum.recovery += count * mean;
    sum.waiting += count * lost * wait;
    sum.recovery_square += count * (square(mean.in(kSecond)) + lost * lost * variance);
  };
  add(events * returns, 1, {});
  add(events * (1 - returns), share, 2 * regroup);
  const bool fits = own.spot->notice && fits_in_notice(save, *own.spot->notice);
  sum.count += events;
  sum.returns += events * returns * (fits ? kLossesUnannounced : 1);
  sum.unpaid += events * share * wait;
  sum.replacements += part.vms * losses * dearer(own, within);
}

std::optional<RiskedRun> SpotRisk::run(const Config& config, Seconds work,
                                       LossBelief belief) const {
  SpotRun spot{.work = work, .start_up = question_.outlook.on_demand_start_up};
  if (!has_spot(config)) return RiskedRun{.time = spot_time(spot, work)};
  RiskedRun run{.save = save_cost(setup(config)), .fits_in_notice = true};
  spot.start_up = question_.outlook.spot_start_up;
  spot.stall = run.save->stall;
  spot.transfer = run.save->transfer;
  for (const Part& part : config.used()) {
    const Rental& own = rental(part);
    if (own.receiver && config.save.place == CheckpointPlace::kTier) {
      run.anchors = config.save.receivers * own.receiver->price;
    }
    if (!own.spot) continue;
    const auto& notice = own.spot->notice;
    run.fits_in_notice = run.fits_in_notice && notice && fits_in_notice(*run.save, *notice);
  }
  // Machines are lost in recoveries, too, which then begin again: with x of the time lost to single
  // ones the work takes e^x as long, as under losses at a constant rate. Waits go on instead, and
  // leave 1 − x of the speed.
  Interruptions sum;
  Seconds time = work;
  Seconds least = work;
  constexpr int kPasses = 3;
  for (int pass = 0; pass < kPasses; ++pass) {
    sum = {};
    for (const Part& part : config.used()) {
      if (rental(part).spot) interrupt(config, part, *run.save, sum, belief, time);
    }
    if (pass == 0) least = work + sum.recovery;
    constexpr double kWaitingMax = 0.99;  // Such a run is refused below.
    const double waiting = std::min(kWaitingMax, sum.waiting / time);
    const double begun_again = std::exp((sum.recovery - sum.waiting) / time);
    time = std::max(least, begun_again / (1 - waiting) * work);
  }
  double more = 1;    // Losses in work that is redone.
  double merged = 1;  // Recoveries that others interrupt.
  if (sum.count > 0) {
    spot.loss_rate = sum.count / work;
    run.returns = sum.returns / sum.count;
    spot.without_notice = run.returns;
    const Seconds mean = sum.recovery / sum.count;
    const double variance = sum.recovery_square / sum.count - square(mean.in(kSecond));
    if (sum.recovery > Seconds{}) merged = (time - work) / sum.recovery;
    spot.recovery = {merged * mean, merged * std::sqrt(std::max(0.0, variance)) * kSecond};
    run.time = best_spot_time(spot);
    more = run.time.losses / sum.count;
  } else {
    run.time = best_spot_time(spot);
  }
  if (!(run.time.mean <= kWorkTimesMax * work)) return std::nullopt;
  run.unpaid = more * merged * sum.unpaid;
  run.replacements = more * sum.replacements;
  const bool saves = run.time.interval < run.time.useful;
  if (saves && config.save.place == CheckpointPlace::kObjectStore) {
    run.storage = kGenerations * bytes_ * kStoragePrice;
  }
  return run;
}

}  // namespace stint
