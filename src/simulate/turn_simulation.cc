#include "simulate/turn_simulation.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "base/check.h"
#include "simulate/reduction_flows.h"
#include "simulate/turn_giver.h"

namespace stint {
namespace {

constexpr Seconds kNever = std::numeric_limits<double>::infinity() * kSecond;
constexpr Seconds kDone = 1e-10 * kSecond;          // Rounding, far below any message or kernel.
constexpr std::int64_t kEventsMax = 1'000'000'000;  // Hours of slices; more is a bug.
constexpr Bytes kSegmentMax = 1 * kMiB;             // Gloo's, by default.

/// The work of a worker of a job in every iteration.
struct WorkerPlan {
  Seconds work;                // Computing.
  std::vector<Seconds> ready;  // Time within the work at which each bucket is ready.
};

WorkerPlan worker_plan(const StepSetup& setup, const StepGroup& group, bool overlap) {
  const bool slowed = overlap && workers(setup) > 1 && !setup.buckets.empty();
  const double late = 1 + straggling(setup);
  const double steps = setup.accumulation;
  const Seconds last_backward = (slowed ? 1 + setup.backward_slowdown : 1) * group.backward;
  const Seconds before = steps * group.forward + (steps - 1) * group.backward;
  WorkerPlan plan{.work = late * (before + last_backward)};
  if (workers(setup) == 1) return plan;
  for (const Bucket& bucket : setup.buckets) {
    const double ready = overlap ? bucket.ready : 1;
    plan.ready.push_back(late * (before + ready * last_backward));
  }
  return plan;
}

/// A worker of a job on the accelerator of a group.
struct Worker {
  WorkerPlan plan;
  Seconds done = {};        // Part of the work of this iteration.
  std::size_t buckets = 0;  // Number that are ready.
  int piece = 0;            // Number of the present piece of the work.
};

enum class Phase { kWaiting, kComputing, kSumming, kUpdating, kGone };

struct Job {
  Job(const SharedStepJob& job, bool overlap);

  bool communicates() const { return !workers.front().plan.ready.empty(); }
  /// Buckets that all groups have.
  std::size_t ready() const;
  bool computed(int pieces) const;
  void begin_iteration(Seconds now);

  const StepSetup& setup;
  int iterations;
  Seconds update;
  Seconds input;
  std::vector<Worker> workers;  // By group.
  ReductionFlows::JobId flows = 0;
  Phase phase = Phase::kWaiting;
  Seconds at = {};                 // The end of waiting or updating.
  Seconds begin = {};              // Start of the iteration.
  std::size_t queued = 0;          // Number of buckets that were handed to the network,
  std::size_t sent = 0;            // that were sent, and
  std::size_t arrived = 0;         // that arrived.
  std::vector<Seconds> left = {};  // Time at which each bucket was sent.
  std::vector<Seconds> ends = {};
};

Job::Job(const SharedStepJob& job, bool overlap) : setup(job.setup), iterations(job.iterations) {
  CHECK(!setup.groups.empty());
  CHECK(setup.accumulation >= 1);
  CHECK(setup.in_flight >= 1);
  CHECK(job.iterations >= 1);
  CHECK(job.start >= Seconds{});
  for (const StepGroup& group : setup.groups) {
    workers.push_back({.plan = worker_plan(setup, group, overlap)});
    CHECK(workers.back().plan.work > Seconds{});
    update = std::max(update, group.update);
    input = std::max(input, static_cast<double>(setup.accumulation) * group.input);
  }
  left.resize(setup.buckets.size());
  at = job.start;
}

std::size_t Job::ready() const {
  std::size_t least = setup.buckets.size();
  for (const Worker& worker : workers) least = std::min(least, worker.buckets);
  return least;
}

bool Job::computed(int pieces) const {
  return std::all_of(workers.begin(), workers.end(),
                     [&](const Worker& it) { return it.piece == pieces; });
}

void Job::begin_iteration(Seconds now) {
  phase = Phase::kComputing;
  begin = now;
  queued = sent = arrived = 0;
  for (Worker& worker : workers) {
    worker.done = {};
    worker.buckets = 0;
    worker.piece = 0;
  }
}

/// The accelerators of a group.
struct Accelerator {
  TurnGiver giver;
  std::optional<std::size_t> holder = {};  // The job that has the turn.
  std::optional<std::size_t> last = {};    // The previous holder.
  Seconds from = {};                       // Time at which the holder begins to compute.
  Seconds slice_end = {};
};

class Sharing {
 public:
  Sharing(std::span<const SharedStepJob> jobs, const TurnTerms& terms,
          const SharedRunOptions& options);

  SharedRun run();

 private:
  Seconds now() const { return flows_.now(); }
  /// The spacing of floating-point times grows during a run.
  Seconds rounding() const { return std::max(kDone, 1e-14 * now()); }
  bool finished() const;
  void settle();
  bool step(std::size_t index);
  bool step(Accelerator& it, std::size_t group);
  bool end_piece(Accelerator& it, std::size_t group);
  bool end_slice(Accelerator& it, std::size_t group);
  void release(Accelerator& it, std::size_t group);
  bool give_turn(Accelerator& it);
  bool queue_buckets();
  bool send_buckets();
  bool send_first_come();
  void send(std::size_t index);
  void finish_iteration(std::size_t index);
  double stretch(std::size_t index) const;
  bool others_send(std::size_t index) const;
  Seconds piece_end(const Worker& worker) const;
  Seconds next_event();
  Seconds next_of(const Accelerator& it, std::size_t group) const;
  void move_on(Seconds time);
  void record(const TurnEvent& event);

  TurnTerms terms_;
  SharedRunOptions options_;
  ReductionFlows flows_;
  std::vector<StepSetup> setups_;  // Setups of all jobs, for their links.
  std::vector<Job> jobs_;
  std::vector<std::size_t> by_flow_;       // The jobs that communicate, in the order of flows_.
  std::vector<Accelerator> accelerators_;  // By group.
  std::deque<std::size_t> queue_;          // Jobs of waiting buckets, first come first served.
  SharedRun result_;
};

Sharing::Sharing(std::span<const SharedStepJob> jobs, const TurnTerms& terms,
                 const SharedRunOptions& options)
    : terms_(terms), options_(options) {
  CHECK(terms.pieces >= 1);
  CHECK(terms.slice > Seconds{});
  CHECK(terms.hand_over >= Seconds{});
  CHECK(terms.compute_slowdown >= 0);
  std::vector<int> turns;
  for (const SharedStepJob& job : jobs) {
    setups_.push_back(job.setup);
    turns.push_back(job.turns);
    jobs_.emplace_back(job, terms.overlap);
  }
  const auto links = add_shared_links(flows_.network(), setups_);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (!jobs_[i].communicates()) continue;
    jobs_[i].flows = flows_.add_job(collective_flows(flows_.network(), setups_[i], links[i]));
    by_flow_.push_back(i);
  }
  for (std::size_t g = 0; g < setups_.front().groups.size(); ++g) {
    accelerators_.push_back({.giver = TurnGiver(terms.order, turns)});
  }
}

SharedRun Sharing::run() {
  std::int64_t events = 0;
  for (settle(); !finished(); settle()) {
    CHECK(++events < kEventsMax);
    move_on(next_event());
  }
  for (Job& job : jobs_) result_.ends.push_back(std::move(job.ends));
  return std::move(result_);
}

bool Sharing::finished() const {
  return std::all_of(jobs_.begin(), jobs_.end(), [](const Job& job) {
    return job.ends.size() >= static_cast<std::size_t>(job.iterations);
  });
}

/// Handles all events that are due now.
void Sharing::settle() {
  for (bool changed = true; changed && !finished();) {
    changed = false;
    for (std::size_t g = 0; g < accelerators_.size(); ++g) {
      while (step(accelerators_[g], g)) changed = true;
    }
    if (queue_buckets()) changed = true;
    if (send_buckets()) changed = true;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      while (step(i)) changed = true;
    }
  }
}

/// Whether the job had an event.
bool Sharing::step(std::size_t index) {
  Job& job = jobs_[index];
  switch (job.phase) {
    case Phase::kWaiting:
      if (job.at > now()) return false;
      job.begin_iteration(now());
      for (Accelerator& it : accelerators_) it.giver.want(index);
      return true;
    case Phase::kComputing:
      if (!job.computed(terms_.pieces)) return false;
      job.phase = Phase::kSumming;
      return true;
    case Phase::kSumming:
      if (job.communicates() && job.arrived < job.setup.buckets.size()) return false;
      job.phase = Phase::kUpdating;
      job.at = now() + job.update;
      return true;
    case Phase::kUpdating:
      if (job.at > now()) return false;
      finish_iteration(index);
      return true;
    case Phase::kGone:
      return false;
  }
  CHECK(false);
}

void Sharing::finish_iteration(std::size_t index) {
  Job& job = jobs_[index];
  record({.kind = TurnEvent::Kind::kUpdate,
          .job = index,
          .number = job.ends.size(),
          .start = now() - job.update,
          .end = now()});
  job.ends.push_back(now());
  const bool done = job.ends.size() >= static_cast<std::size_t>(job.iterations);
  if (done && options_.length == RunLength::kUntilDone) {
    job.phase = Phase::kGone;
    for (Accelerator& it : accelerators_) it.giver.leave(index);
    return;
  }
  job.phase = Phase::kWaiting;
  job.at = std::max(now(), job.begin + job.input);
}

/// Whether the accelerators of a group had an event.
bool Sharing::step(Accelerator& it, std::size_t group) {
  if (!it.holder) return give_turn(it);
  if (now() < it.from) return false;
  Worker& worker = jobs_[*it.holder].workers[group];
  const auto& ready = worker.plan.ready;
  while (worker.buckets < ready.size() && worker.done + rounding() >= ready[worker.buckets]) {
    ++worker.buckets;
  }
  return end_piece(it, group) || end_slice(it, group);
}

Seconds Sharing::piece_end(const Worker& worker) const {
  const int next = worker.piece + 1;
  if (next == terms_.pieces) return worker.plan.work;
  return worker.plan.work * next / terms_.pieces;
}

bool Sharing::end_piece(Accelerator& it, std::size_t group) {
  const std::size_t holder = *it.holder;
  Worker& worker = jobs_[holder].workers[group];
  if (worker.done + rounding() < piece_end(worker)) return false;
  worker.done = piece_end(worker);
  ++worker.piece;
  release(it, group);
  if (worker.piece < terms_.pieces) it.giver.want(holder);
  return true;
}

bool Sharing::end_slice(Accelerator& it, std::size_t group) {
  if (terms_.order != TurnOrder::kSlices || now() < it.slice_end) return false;
  const std::size_t holder = *it.holder;
  if (it.giver.wanted()) {
    release(it, group);
    it.giver.want(holder);
  } else {
    it.slice_end = now() + terms_.slice;
  }
  return true;
}

void Sharing::release(Accelerator& it, std::size_t group) {
  record({.kind = TurnEvent::Kind::kTurn,
          .job = *it.holder,
          .group = group,
          .number = jobs_[*it.holder].ends.size(),
          .start = it.from,
          .end = now()});
  it.holder.reset();
}

bool Sharing::give_turn(Accelerator& it) {
  it.holder = it.giver.next();
  if (!it.holder) return false;
  const bool changes = it.last && it.last != it.holder;
  it.from = changes ? now() + terms_.hand_over : now();
  it.slice_end = it.from + terms_.slice;
  it.last = it.holder;
  return true;
}

/// Hands buckets that became ready to the network.
bool Sharing::queue_buckets() {
  bool changed = false;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    Job& job = jobs_[i];
    for (; job.queued < job.ready(); ++job.queued) {
      if (terms_.sharing == LinkSharing::kFirstCome) queue_.push_back(i);
      changed = true;
    }
  }
  return changed;
}

bool Sharing::send_buckets() {
  if (terms_.sharing == LinkSharing::kFirstCome) return send_first_come();
  bool changed = false;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    Job& job = jobs_[i];
    while (job.sent < job.queued && flows_.flying(job.flows) < job.setup.in_flight) {
      send(i);
      changed = true;
    }
  }
  return changed;
}

bool Sharing::send_first_come() {
  const auto busy = [&](std::size_t i) { return flows_.flying(jobs_[i].flows) > 0; };
  if (queue_.empty() || std::any_of(by_flow_.begin(), by_flow_.end(), busy)) return false;
  send(queue_.front());
  queue_.pop_front();
  return true;
}

void Sharing::send(std::size_t index) {
  Job& job = jobs_[index];
  job.left[job.sent] = now();
  const Bytes bytes = job.setup.buckets[job.sent].bytes;
  const bool windows = terms_.sharing == LinkSharing::kWindows && bytes > Bytes{};
  const double weight = windows ? ring_segment(bytes, workers(job.setup)) / kSegmentMax : 1;
  flows_.start(job.flows, job.sent, bytes, weight);
  ++job.sent;
}

/// The time of computing relative to computing without communication of other jobs.
double Sharing::stretch(std::size_t index) const {
  if (terms_.compute_slowdown == 0) return 1;
  return others_send(index) ? 1 + terms_.compute_slowdown : 1;
}

bool Sharing::others_send(std::size_t index) const {
  return std::any_of(by_flow_.begin(), by_flow_.end(), [&](std::size_t other) {
    return other != index && flows_.flying(jobs_[other].flows) > 0;
  });
}

Seconds Sharing::next_of(const Accelerator& it, std::size_t group) const {
  if (!it.holder) return kNever;
  const Worker& worker = jobs_[*it.holder].workers[group];
  Seconds target = piece_end(worker);
  const auto& ready = worker.plan.ready;
  if (worker.buckets < ready.size()) target = std::min(target, ready[worker.buckets]);
  const Seconds left = std::max(Seconds{}, target - worker.done);
  const Seconds time = std::max(now(), it.from) + stretch(*it.holder) * left;
  return terms_.order == TurnOrder::kSlices ? std::min(time, it.slice_end) : time;
}

Seconds Sharing::next_event() {
  Seconds next = flows_.next_change();
  for (const Job& job : jobs_) {
    const bool timed = job.phase == Phase::kWaiting || job.phase == Phase::kUpdating;
    if (timed) next = std::min(next, job.at);
  }
  for (std::size_t g = 0; g < accelerators_.size(); ++g) {
    next = std::min(next, next_of(accelerators_[g], g));
  }
  CHECK(next < kNever);
  return std::max(next, now());
}

void Sharing::move_on(Seconds time) {
  for (std::size_t g = 0; g < accelerators_.size(); ++g) {
    const Accelerator& it = accelerators_[g];
    if (!it.holder) continue;
    const Seconds active = std::max(Seconds{}, time - std::max(now(), it.from));
    jobs_[*it.holder].workers[g].done += active / stretch(*it.holder);
  }
  for (const ReductionFlows::Arrival& arrival : flows_.advance(time)) {
    const std::size_t index = by_flow_[arrival.job];
    Job& job = jobs_[index];
    ++job.arrived;
    record({.kind = TurnEvent::Kind::kBucket,
            .job = index,
            .number = arrival.bucket,
            .start = job.left[arrival.bucket],
            .end = now()});
  }
}

void Sharing::record(const TurnEvent& event) {
  if (options_.events) result_.events.push_back(event);
}

/// The mean time between the ends of iterations from `start` on, over whole rounds of `turns`.
Seconds mean_time(const std::vector<Seconds>& ends, Seconds start, int turns) {
  const auto first = std::lower_bound(ends.begin(), ends.end(), start);
  const auto round = static_cast<std::ptrdiff_t>(turns);
  const std::ptrdiff_t count = (ends.end() - first - 1) / round * round;
  CHECK(count > 0);
  return (first[count] - first[0]) / static_cast<double>(count);
}

}  // namespace

Bytes ring_segment(Bytes payload, int workers) {
  CHECK(payload > Bytes{});
  CHECK(workers >= 1);
  const double least = std::max(std::ceil(payload / kSegmentMax), 2.0 * workers);
  return payload / (std::ceil(least / workers) * workers);
}

Seconds SharedRun::makespan() const {
  Seconds last;
  for (const auto& job : ends) last = std::max(last, job.empty() ? Seconds{} : job.back());
  return last;
}

SharedRun simulate_sharing(std::span<const SharedStepJob> jobs, const TurnTerms& terms,
                           const SharedRunOptions& options) {
  return jobs.empty() ? SharedRun{} : Sharing(jobs, terms, options).run();
}

std::vector<Seconds> shared_iteration_times(std::span<const SharedStepJob> jobs,
                                            const TurnTerms& terms, int rounds) {
  constexpr int kWarmUp = 8;
  CHECK(rounds >= 1);
  std::vector<SharedStepJob> lasting(jobs.begin(), jobs.end());
  for (SharedStepJob& job : lasting) job.iterations = (kWarmUp + rounds + 1) * job.turns;
  const SharedRun run = simulate_sharing(lasting, terms, {.length = RunLength::kTogether});
  Seconds start;
  for (std::size_t i = 0; i < lasting.size(); ++i) {
    const std::size_t warm = std::size_t{kWarmUp} * static_cast<std::size_t>(lasting[i].turns);
    start = std::max(start, run.ends[i][warm - 1]);
  }
  std::vector<Seconds> times;
  for (std::size_t i = 0; i < lasting.size(); ++i) {
    times.push_back(mean_time(run.ends[i], start, lasting[i].turns));
  }
  return times;
}

}  // namespace stint
