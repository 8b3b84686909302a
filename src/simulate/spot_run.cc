#include "simulate/spot_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/normal.h"
#include "risk/checkpoint_schedule.h"

namespace stint {
namespace {

/// Training time until the next checkpoint, `now` after the start.
Seconds until_save(const SavedWork& job, const TrainedWork& at, Seconds now) {
  const std::vector<Seconds>& begins = job.schedule.begins;
  if (begins.empty()) return (at.saves + 1.0) * job.schedule.interval - at.work;
  const auto index = static_cast<std::size_t>(at.saves);
  if (index < begins.size()) return begins[index] - now;
  const Seconds last = begins.size() > 1 ? begins.back() - begins[begins.size() - 2] : begins[0];
  const double more = static_cast<double>(index - begins.size()) + 1;
  return begins.back() + more * last - now;
}

/// A slot of the gang, and its machine.
struct Place {
  std::size_t group = 0;
  int spot_place = 0;  // Number in the supply.
  bool on_demand = false;
  bool there = false;
  bool fresh = false;  // Launched in this wait.
  DollarsPerSecond price;
  Seconds lost = kNever;
  Seconds paid_from;  // While the gang waits.
  Seconds starting;   // Start-up as a part of this.
};

/// One run, simulated event by event.
class Run {
 public:
  Run(const RunSetup& setup, const SpotSupply& supply, Random random)
      : setup_(setup), supply_(supply), random_(random) {
    int spot = 0;
    for (std::size_t group = 0; group < setup.groups.size(); ++group) {
      const RunGroup& it = setup.groups[group];
      const bool on_demand = it.market == Market::kOnDemand;
      for (int i = 0; i < it.pool.count; ++i) {
        places_.push_back({.group = group,
                           .spot_place = on_demand ? 0 : spot++,
                           .on_demand = on_demand,
                           .price = it.price});
      }
    }
    CHECK(!places_.empty());
  }

  RunOutcome play() {
    wait_for_gang(Seconds());
    while (now_ < time_max_) {
      const Seconds loss = next_loss();
      const Stretch stretch = train(setup_.job, progress_, loss - now_);
      const bool kept = stretch.done || has_notice();
      charge(stretch, kept ? stretch.end : stretch.safe);
      now_ += stretch.time;
      if (stretch.done) return finish(true);
      go_back_to(kept ? stretch.end : stretch.safe);
      lose();
      wait_for_gang(setup_.job.save.restore);
    }
    return finish(false);
  }

 private:
  Seconds next_loss() const {
    Seconds first = kNever;
    for (const Place& place : places_) first = std::min(first, place.lost);
    return first;
  }

  bool has_notice() {
    return setup_.without_notice < 1 && random_.uniform() >= setup_.without_notice;
  }

  void go_back_to(const TrainedWork& progress) {
    progress_ = progress;
    if (setup_.job.schedule.begins.empty()) return;
    progress_.saves = 0;
    progress_.stall_left = {};
  }

  void charge(const Stretch& stretch, const TrainedWork& kept) {
    DollarsPerSecond rate;
    for (const Place& place : places_) rate += place.price;
    const Seconds work = kept.work - progress_.work;
    const Seconds stalled = kept.stalled - progress_.stalled;
    const double exposed = setup_.exposed_communication;
    outcome_.bill.compute += (1 - exposed) * (rate * work);
    outcome_.bill.exposed_communication += exposed * (rate * work);
    outcome_.bill.saving += rate * stalled;
    outcome_.bill.work_redone += rate * std::max(Seconds{}, stretch.time - work - stalled);
  }

  /// Removes the machines that are lost now, and those lost with them.
  void lose() {
    ++outcome_.losses;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].lost > now_) continue;
      take(places_[i]);
      const double chance = supply_.taken_along(places_[i].spot_place, random_);
      if (chance <= 0) continue;
      for (Place& other : places_) {
        const bool spot = other.there && !other.on_demand && other.paid_from <= now_;
        const bool exposed = spot && other.group == places_[i].group && other.lost > now_;
        if (exposed && random_.uniform() < chance) take(other);
      }
    }
  }

  void take(Place& place) {
    place.there = false;
    place.lost = kNever;
    ++outcome_.machines_lost;
  }

  /// Fills all slots and advances `now_` to the moment when training continues. Machines that are
  /// already up are paid from now.
  void wait_for_gang(Seconds restore) {
    const Seconds begin = now_;
    for (Place& place : places_) {
      place.fresh = false;
      place.paid_from = now_;
      place.starting = {};
    }
    Seconds ready = hire(now_);
    while (setup_.lost_while_waiting && ready < time_max_ && next_loss() < ready + restore) {
      now_ = next_loss();
      lose();
      for (const Place& place : places_) {
        if (!place.there) outcome_.bill.idle += place.price * (now_ - place.paid_from);
      }
      ready = hire(std::max(ready, now_));
    }
    for (const Place& place : places_) {
      outcome_.bill.set_up += place.price * (place.starting + restore);
      outcome_.bill.idle +=
          place.price * std::max(Seconds{}, ready - place.paid_from - place.starting);
    }
    now_ = ready + restore;
    if (setup_.lost_while_waiting) return;
    for (Place& place : places_) place.lost += place.fresh ? restore : now_ - begin;
  }

  /// Requests all missing machines, and returns when the last has started up, `earliest` at the
  /// earliest.
  Seconds hire(Seconds earliest) {
    const Seconds start_up =
        random_.lognormal(setup_.start_up.mean.in(kSecond), setup_.start_up.deviation.in(kSecond)) *
        kSecond;
    Seconds ready = earliest;
    for (Place& place : places_) {
      if (place.there) continue;
      grant(place);
      place.starting = start_up;
      ready = std::max(ready, place.paid_from + start_up);
    }
    for (Place& place : places_) {
      if (place.there) continue;
      place.there = true;
      place.fresh = true;
      if (place.on_demand) continue;
      place.lost = supply_.lost(place.spot_place, place.paid_from, ready, random_);
    }
    return ready;
  }

  void grant(Place& place) {
    place.paid_from = now_;
    if (place.on_demand) return;
    const Seconds granted = supply_.granted(place.spot_place, now_, random_);
    if (setup_.patience && granted > now_ + *setup_.patience) {
      place.on_demand = true;
      place.price = setup_.groups[place.group].price_on_demand;
      place.paid_from = now_ + *setup_.patience;
    } else {
      // A machine that is never available is waited for until the run is given up.
      place.paid_from = std::min(granted, std::max(now_, time_max_));
    }
  }

  RunOutcome finish(bool finished) {
    outcome_.finished = finished;
    outcome_.time = now_;
    outcome_.bill.anchors = setup_.anchors * now_;
    outcome_.bill.storage = setup_.storage * now_;
    return outcome_;
  }

  const RunSetup& setup_;
  const SpotSupply& supply_;
  Random random_;
  const Seconds time_max_ = kWorkTimesMax * setup_.job.work;
  std::vector<Place> places_;
  Seconds now_;
  TrainedWork progress_;
  RunOutcome outcome_;
};

SampledSupply supply_of(const RunSetup& setup) {
  std::vector<SpotPool> pools;
  for (const RunGroup& group : setup.groups) {
    if (group.market == Market::kSpot) pools.push_back(group.pool);
  }
  return SampledSupply(std::move(pools));
}

template <class Quantity>
RunSpread<Quantity> spread_of(std::vector<Quantity> values, Quantity unit) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  Quantity sum;
  for (const Quantity value : values) sum += value;
  const Quantity mean = sum / n;
  double square = 0;
  for (const Quantity value : values) square += std::pow((value - mean).in(unit), 2);
  return {.mean = mean,
          .p10 = sorted_quantile(values, 0.1),
          .p50 = sorted_quantile(values, 0.5),
          .p90 = sorted_quantile(values, 0.9),
          .standard_error = std::sqrt(square) / n * unit};
}

void add_share(Bill& sum, const Bill& bill, double share) {
  sum.compute += share * bill.compute;
  sum.exposed_communication += share * bill.exposed_communication;
  sum.work_redone += share * bill.work_redone;
  sum.saving += share * bill.saving;
  sum.set_up += share * bill.set_up;
  sum.idle += share * bill.idle;
  sum.anchors += share * bill.anchors;
  sum.storage += share * bill.storage;
  sum.egress += share * bill.egress;
}

}  // namespace

Stretch train(const SavedWork& job, const TrainedWork& from, Seconds limit) {
  Stretch stretch{.end = from, .safe = from};
  TrainedWork& at = stretch.end;
  TrainedWork pending = from;  // Safe from `pending_safe` on.
  Seconds pending_safe;
  // Checkpoints that the end would overtake. Slightly more, so that whole intervals of work do not
  // gain one by rounding.
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

RunOutcome play_run(const RunSetup& setup, const SpotSupply& supply, Random random) {
  CHECK(setup.job.work > Seconds());
  return Run(setup, supply, random).play();
}

RunOutcome simulate_run(const RunSetup& setup, Random random) {
  return play_run(setup, supply_of(setup), random);
}

RunOutcome replay_run(const RunSetup& setup, const AvailabilityTrace& trace, Seconds start,
                      Random random) {
  CHECK(std::count_if(setup.groups.begin(), setup.groups.end(),
                      [](const RunGroup& group) { return group.market == Market::kSpot; }) <= 1);
  CHECK(setup.lost_while_waiting);  // The trace is independent of the gang's waiting.
  return play_run(setup, TraceSupply(trace, start), random);
}

RunSummary summary_of(const std::vector<RunOutcome>& outcomes, std::optional<Seconds> deadline) {
  CHECK(!outcomes.empty());
  const double runs = static_cast<double>(outcomes.size());
  RunSummary summary{.runs = static_cast<int>(outcomes.size())};
  std::vector<Seconds> times;
  std::vector<Dollars> costs;
  double losses = 0;
  double finished = 0;
  double in_time = 0;
  for (const RunOutcome& outcome : outcomes) {
    times.push_back(outcome.time);
    costs.push_back(total(outcome.bill));
    add_share(summary.bill, outcome.bill, 1 / runs);
    losses += outcome.losses;
    finished += outcome.finished ? 1 : 0;
    in_time += outcome.finished && deadline && outcome.time <= *deadline ? 1 : 0;
  }
  summary.time = spread_of(std::move(times), kSecond);
  summary.cost = spread_of(std::move(costs), kDollar);
  summary.losses = losses / runs;
  summary.finished = finished / runs;
  if (deadline) summary.p_deadline = in_time / runs;
  return summary;
}

std::vector<RunOutcome> simulate_runs(const RunSetup& setup, int runs, std::uint64_t seed) {
  CHECK(runs >= 1);
  const SampledSupply supply = supply_of(setup);
  const Random streams(seed);
  std::vector<RunOutcome> outcomes;
  for (int i = 0; i < runs; ++i) {
    outcomes.push_back(play_run(setup, supply, streams.fork(static_cast<std::uint64_t>(i))));
  }
  return outcomes;
}

std::vector<RunOutcome> replay_runs(const RunSetup& setup, const AvailabilityTrace& trace, int runs,
                                    std::uint64_t seed) {
  CHECK(runs >= 1);
  const Random streams(seed);
  const Seconds length = static_cast<double>(trace.counts.size()) * trace.gap;
  std::vector<RunOutcome> outcomes;
  for (int i = 0; i < runs; ++i) {
    Random random = streams.fork(static_cast<std::uint64_t>(i));
    const Seconds start = random.uniform() * length;
    outcomes.push_back(replay_run(setup, trace, start, random));
  }
  return outcomes;
}

}  // namespace stint
