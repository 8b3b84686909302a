#include "run/runner.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/process.h"
#include "cloud/exec_all.h"
#include "run/run_folder.h"
#include "run/run_replay.h"
#include "run/worker_environment.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

constexpr Seconds kShutdownPatience = 30 * kSecond;  // For the work of scripts after training.
constexpr Seconds kTermination = 10 * kSecond;       // For plain scripts that are ordered to end.
// More than one round of the loop takes, even on a busy computer.
constexpr Seconds kAsleep = 5 * kSecond;
constexpr Seconds kMeasurementsPause = 1 * kMinute;  // After measurements could not be written.
constexpr int kFirstPort = 29500;
constexpr int kPorts = 1000;
constexpr int kReceiverPort = 29400;

int port_of(int member, int attempt) { return kFirstPort + member * kPorts + attempt % kPorts; }

}  // namespace

Runner::Runner(RunnerSetup setup, Provider& provider, Supervisor& supervisor, RunPlan plan,
               RunJournal journal, RunListeners listeners)
    : setup_(std::move(setup)),
      provider_(provider),
      supervisor_(supervisor),
      plan_(std::move(plan)),
      ledger_(supervisor, std::move(setup_.teller), std::move(journal), setup_.plans),
      listeners_(std::move(listeners)),
      crew_(provider, {.log_folder = log_folder(setup_.folder),
                       .program = setup_.program,
                       .run = setup_.record.name,
                       .secret = setup_.record.secret,
                       .attempt = setup_.attempt}),
      plans_(setup_.plans) {}

Result<RunAction> Runner::run() {
  const StopSignals signals;
  while (!end_ && !failure_) {
    if (StopSignals::take()) happen({.kind = Event::kStop});
    if (now() - ticked_ >= std::min(setup_.record.tick, 1 * kSecond)) {
      ticked_ = now();
      happen({.kind = Event::kTick});
    }
    observe();
    keep_receivers();
    for (const CrewNews& news : crew_.wait(kRound)) hear(news);
    look_for_stuck();
    handle_queue();
  }
  if (!failure_) settle();
  if (failure_) return *failure_;
  return *end_;
}

Status Runner::take_over() {
  const auto list = first_list();
  if (!list.ok()) return list.error();
  const auto found = latest(checkpoint_folder(setup_.folder));
  if (!found.ok()) return found.error();
  const std::int64_t saved = found->checkpoint ? found->checkpoint->step : 0;
  // Only a plain script itself knows whether its checkpoint still exists. Nothing may be decided
  // before this event, not even on remarks.
  queue_.push_front(
      {.kind = Event::kResumed, .step = supervisor_.plain() ? std::nullopt : std::optional(saved)});
  for (const std::string& warning : found->warnings) {
    happen({.kind = Event::kRemark, .reason = warning});
  }
  take_over_machines(*list);
  reconcile(*list);
  awake_ = now();  // The event of the new process comes before any other.
  handle_queue();
  return failure_ ? Status(*failure_) : Status();
}

// Events and actions.

void Runner::happen(RunEvent event) {
  // Steps that were done before come first, at the time of the last of them.
  if (auto steps = steps_.take()) queue_.push_back(std::move(*steps));
  queue_.push_back(std::move(event));
}

void Runner::handle_queue() {
  while (!queue_.empty() && !failure_) {
    note_sleep();
    RunEvent event = std::move(queue_.front());
    queue_.pop_front();
    if (event.kind != Event::kStepDone) event.at = awake_;
    if (event.kind == Event::kTerms && event.count) adopt(*event.count);
    const bool was_over = supervisor_.finished();
    const auto actions = ledger_.handle(event, plan_);
    if (!actions.ok()) return fail(actions.error());
    if (listeners_.happened) listeners_.happened(event, *actions);
    if (supervisor_.finished() && !was_over) end_workers();
    for (const RunAction& action : *actions) perform(action);
    ask_for_wishes();
    const Status shorter = ledger_.shorten();
    if (!shorter.ok()) happen({.kind = Event::kRemark, .reason = shorter.error().message});
  }
}

/// Reports time in which this loop did not run, before any event of a later time.
void Runner::note_sleep() {
  const Seconds before = std::exchange(awake_, now());
  const Seconds time = awake_ - before;
  if (time < kAsleep || supervisor_.finished()) return;
  failed_at_ += time;
  for (auto& entry : workers_) entry.second.lost_at += time;
  queue_.push_front({.kind = Event::kSlept, .duration = time});
}

void Runner::perform(const RunAction& action) {
  switch (action.kind) {
    case Act::kLaunch:
      return launch(action);
    case Act::kRelease:
      return release(action.vm);
    case Act::kTrain:
      return train(action);
    case Act::kSave:
      return save(action);
    case Act::kReplan:
      return replan(action.reason);
    case Act::kSay:
      return;  // The listener has the plan.
    case Act::kFinish:
      end_ = action;
      return;
  }
}

void Runner::launch(const RunAction& action) {
  machines_[action.vm] = {.kind = machines_of(action.slot)};
  provider_.request(order_for(action.vm));
}

/// Lets the workers do their work after training while the machines are still up.
void Runner::end_workers() {
  const bool orders = script_ == Script::kTakesOrders;
  for (const Seat& seat : gang_.seats()) {
    if (orders) {
      crew_.send(seat, end_order());
    } else {
      crew_.terminate_worker(seat);
    }
  }
  const Deadline until(orders ? kShutdownPatience : kTermination);
  const auto any = [&] {
    return std::any_of(gang_.seats().begin(), gang_.seats().end(),
                       [&](const Seat& seat) { return crew_.has_worker(seat); });
  };
  while (any() && !until.passed()) (void)crew_.wait(kRound);
}

void Runner::train(const RunAction& action) {
  std::vector<int> slots;
  std::vector<Seat> seats;
  std::vector<int> micro_batches;
  for (const int vm : action.vms) {
    slots.push_back(slot_of(vm));
    const RunMachines& kind = machines_of(slots.back());
    for (int local = 0; local < workers_on(kind); ++local) seats.emplace_back(vm, local);
    micro_batches.resize(seats.size(), kind.micro_batch);
  }
  training_ = {.attempt = action.attempt,
               .master = machines_[action.vms[0]].address,
               .port = port_of(setup_.member, action.attempt),
               .shares = shares_of(plan_, slots, batch_of(setup_.record, plan_)),
               .micro_batches = std::move(micro_batches),
               .training = plan_.training};
  if (const auto layout = layout_of(seats.size())) {
    training_.shares = shares_of(*layout, batch_of(setup_.record, plan_));
  }
  step_time_ = step_time_of(plan_, slots).mean;
  // Until all new workers are ready, those that trained before continue.
  if (gang_.training()) before_ = std::move(gang_);
  gang_ = Gang(action.attempt, std::move(seats), training_.shares);
  ordered_ = false;
  ended_well_.clear();
  failures_.clear();
  unchecked_.clear();
  own_checkpoint_ = 0;
  for (const Seat& seat : crew_.seats()) {
    if (!gang_.has(seat) || restarts_all()) crew_.end_worker(seat);
  }
  std::erase_if(workers_, [&](const auto& entry) { return !crew_.has_worker(entry.first); });
  for (auto& entry : workers_) {
    entry.second.seen_lost = false;
    entry.second.last_words.reset();
  }
  for (std::size_t rank = 0; rank < gang_.seats().size(); ++rank) {
    if (!crew_.has_worker(gang_.seats()[rank])) start_worker(rank);
  }
  order_training();
}

/// The layout of the run for so many workers, which is a multiple of what one replica takes.
std::optional<WorkerLayout> Runner::layout_of(std::size_t workers) const {
  if (!setup_.record.layout) return std::nullopt;
  auto layout = parse_worker_layout(*setup_.record.layout);
  CHECK(layout.ok());  // The record was validated.
  return fitted(std::move(*layout), static_cast<int>(workers));
}

/// The place of a worker of the gang, in which those of one VM follow each other.
RankPlace Runner::place_of(std::size_t rank) const {
  const std::vector<Seat>& seats = gang_.seats();
  RankPlace at{.rank = static_cast<int>(rank),
               .ranks = static_cast<int>(seats.size()),
               .local_rank = seats[rank].local,
               .local_ranks = 0,
               .vm = -1,
               .vms = 0};
  for (std::size_t i = 0; i < seats.size(); ++i) {
    if (seats[i].vm == seats[rank].vm) ++at.local_ranks;
    if (seats[i].local != 0) continue;
    ++at.vms;
    if (i <= rank) ++at.vm;
  }
  return at;
}

void Runner::start_worker(std::size_t rank) {
  const RunRecord& record = setup_.record;
  const Seat seat = gang_.seats()[rank];
  std::vector<std::string> variables =
      rank_variables(place_of(rank), training_.master, training_.port);
  variables.insert(variables.end(), setup_.variables.begin(), setup_.variables.end());
  const std::vector<std::string> ordered =
      order_variables(record, machines_[seat.vm].kind, setup_.folder, training_.shares[rank]);
  variables.insert(variables.end(), ordered.begin(), ordered.end());
  const auto layout = layout_of(gang_.seats().size());
  if (layout) variables.push_back("STINT_LAYOUT=" + to_text(*layout));
  variables.push_back(fmt::format("STINT_ATTEMPT={}", gang_.attempt()));
  variables.push_back(fmt::format("TORCHELASTIC_RESTART_COUNT={}", gang_.attempt() - 1));
  variables.push_back("TORCHELASTIC_RUN_ID=" + record.name);
  workers_[seat] = {};
  const std::string mark = fmt::format(
      "attempt {}, rank {} of {}{}, {:.1f} s after the start of the run", gang_.attempt(), rank,
      gang_.seats().size(), layout ? ", layout " + to_text(*layout) : "", now().in(kSecond));
  for (std::string& own : own_values(record.environment)) variables.push_back(std::move(own));
  crew_.start_worker(seat,
                     {.words = record.command,
                      .variables = std::move(variables),
                      .folder = record.folder,
                      .rank = static_cast<int>(rank)},
                     mark);
}

/// Restarts scripts that take no orders on all machines, and scripts of which that is not yet
/// known.
bool Runner::restarts_all() const {
  return script_ == Script::kPlain || (script_ == Script::kUnknown && supervisor_.plain());
}

/// Sends the order to train when all workers of the gang are connected.
void Runner::order_training() {
  if (ordered_ || gang_.seats().empty()) return;
  for (const Seat& seat : gang_.seats()) {
    if (!workers_[seat].ready || !crew_.has_worker(seat)) return;
  }
  ordered_ = true;
  training_.checkpoint.reset();
  const auto found = latest(checkpoint_folder(setup_.folder));
  if (found.ok() && found->checkpoint) {
    training_.checkpoint = checkpoint_at(*found->checkpoint, place());
  }
  for (std::size_t rank = 0; rank < gang_.seats().size(); ++rank) {
    crew_.send(gang_.seats()[rank], train_order(training_, rank));
  }
}

void Runner::save(const RunAction& action) {
  if (action.attempt != gang_.attempt() || !gang_.training()) return;
  if (!keeps_in_folder() && receivers().empty()) {
    return happen({.kind = Event::kSaveFailed,
                   .step = action.step,
                   .save = action.save,
                   .reason = "no machine for checkpoints is up"});
  }
  // A new plan may have a different number of steps; workers follow the old plan until their next
  // order.
  const std::int64_t steps = training_.training ? training_.training->steps : setup_.record.steps;
  const std::int64_t last = std::max(steps, gang_.reached());
  const std::int64_t at = std::min(last, gang_.reached() + save_ahead(step_time_));
  // Rewriting a checkpoint that already counts would put it at risk.
  if (at == supervisor_.saved()) {
    return happen(
        {.kind = Event::kSaved, .attempt = gang_.attempt(), .step = at, .save = action.save});
  }
  gang_.expect_save(at);
  save_ = action.save;
  save_since_ = now();
  for (const Seat& seat : gang_.seats()) {
    crew_.send(seat, save_order(gang_.attempt(), at, place(), action.halt));
  }
}

void Runner::replan(const std::string& reason) {
  // Of two reasons at once the first is enough.
  if (!listeners_.replan || plan_pending()) return;
  follow(listeners_.replan(supervisor_, plan_, reason));
}

void Runner::ask_for_wishes() {
  if (!listeners_.wish || plan_pending() || supervisor_.finished()) return;
  if (const auto thought = listeners_.wish(supervisor_, plan_)) follow(*thought);
}

bool Runner::plan_pending() const {
  return std::any_of(queue_.begin(), queue_.end(), [](const RunEvent& event) {
    return event.kind == Event::kTerms && event.count;
  });
}

void Runner::follow(const Replanning& thought) {
  RunEvent event{.kind = Event::kTerms, .reason = thought.reason};
  if (thought.plan) {
    event.count = ++plans_;
    const Status written =
        write_file(plan_path(setup_.folder, plans_), write_run_plan(*thought.plan));
    if (!written.ok()) return fail(written.error());
    new_plans_[plans_] = *thought.plan;
  }
  happen(std::move(event));
}

/// The new plan takes effect with the event, as it does when the journal is replayed.
void Runner::adopt(int number) {
  plan_ = new_plans_[number];
  new_plans_.erase(number);
  supervisor_.change_terms(terms_of(setup_.record, plan_), make_policy(setup_.record, plan_));
  for (auto& entry : machines_) {
    const RunVm& vm = supervisor_.vms()[static_cast<std::size_t>(entry.first)];
    if (const RunMachines* kind = kind_of(plan_, vm)) entry.second.kind = *kind;
  }
}

// State.

int Runner::receiver_port() const { return kReceiverPort + setup_.member; }

bool Runner::keeps_in_folder() const {
  return setup_.record.checkpoint.place == CheckpointPlace::kObjectStore;
}

std::vector<ReceiverAddress> Runner::receivers() const {
  std::vector<ReceiverAddress> found;
  for (const auto& entry : machines_) {
    if (entry.second.gone || !crew_.has_receiver(entry.first)) continue;
    found.push_back({.address = entry.second.address, .port = receiver_port()});
  }
  return found;
}

Json Runner::place() const {
  return keeps_in_folder() ? folder_place(checkpoint_folder(setup_.folder))
                           : receivers_place(receivers(), setup_.record);
}

int Runner::slot_of(int vm) const { return supervisor_.vms()[static_cast<std::size_t>(vm)].slot; }

const RunMachines& Runner::machines_of(int slot) const {
  const std::vector<int> kinds = slot_kinds(plan_);
  return plan_.machines[static_cast<std::size_t>(kinds[static_cast<std::size_t>(slot)])];
}

Seconds Runner::now() const { return setup_.clock->now() - setup_.record.began; }

/// Measurements are for people: where they cannot be written, training goes on without them.
void Runner::note(Measurement measurement) {
  if (measure_again_ && now() < *measure_again_) return;
  measurement.run = setup_.record.name;
  measurement.at = setup_.clock->now();
  const Status kept = write(measurement);
  if (kept.ok()) return;
  if (!measure_again_) {
    happen({.kind = Event::kRemark,
            .reason = fmt::format("Measurements of the run are incomplete: {}; training continues.",
                                  kept.error().message)});
  }
  measure_again_ = now() + kMeasurementsPause;
  measurements_.reset();
  (void)LineLog::open(measurements_path(setup_.folder));  // Removes a part of a line.
}

Status Runner::write(const Measurement& measurement) {
  if (!measurements_) {
    auto log = LineLog::open(measurements_path(setup_.folder));
    if (!log.ok()) return log.error();
    measurements_ = std::move(*log);
  }
  const Durability when = measurement.iteration ? Durability::kLater : Durability::kNow;
  return measurements_->append(write_measurement(measurement), when);
}

void Runner::fail(const Error& error) {
  if (!failure_) failure_ = error;
}

}  // namespace stint
