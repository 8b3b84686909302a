#include "run/runner.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fmt/format.h>

#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "cloud/exec_all.h"
#include "run/run_paths.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

constexpr Seconds kLook = 200 * kMillisecond;       // Between two looks at the cloud.
constexpr Seconds kFarewell = 30 * kSecond;         // For what scripts do after training.
constexpr Seconds kSilence = 15 * kSecond;          // After which a script takes no orders.
constexpr Seconds kStuck = 3 * kSecond;             // For workers that lost a peer who is there.
constexpr Seconds kSaveAhead = 300 * kMillisecond;  // For an order to reach all workers.
constexpr int kReceiverPort = 29400;
constexpr int kFirstPort = 29500;
constexpr int kPorts = 1000;

volatile std::sig_atomic_t told_to_stop = 0;  // NOLINT: signal handlers have nothing else.

/// While it lives, signals to end only set a flag.
class StopSignals {
 public:
  StopSignals() {
    told_to_stop = 0;
    struct sigaction action {};
    action.sa_handler = [](int /*signal*/) { told_to_stop = 1; };
    for (std::size_t i = 0; i < 3; ++i) ::sigaction(kSignals[i], &action, &before_[i]);
  }
  ~StopSignals() {
    for (std::size_t i = 0; i < 3; ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[3] = {};
};

/// The number of a machine by its name in the cluster; −1 when it is none of ours.
int number_of(const std::string& name) {
  if (!name.starts_with("vm")) return -1;
  return parse_int(name.substr(2)).value_or(0) - 1;
}

Json order(const char* kind, Json facts) {
  Json json;
  json.add(kind, std::move(facts));
  return json;
}

Json whole(std::int64_t number) { return Json(Json::Value{number}); }

}  // namespace

Runner::Runner(RunnerSetup setup, const LocalCluster& cluster, Supervisor& supervisor, RunPlan plan,
               RunJournal journal, RunListeners listeners)
    : setup_(std::move(setup)),
      cluster_(cluster),
      supervisor_(supervisor),
      plan_(std::move(plan)),
      journal_(std::move(journal)),
      listeners_(std::move(listeners)),
      crew_(cluster, log_folder(setup_.folder)) {}

Result<RunAction> Runner::run() {
  const StopSignals signals;
  while (!end_ && !failure_) {
    if (told_to_stop != 0) queue_.push_back({.kind = Event::kStop});
    told_to_stop = 0;
    if (now() - ticked_ >= std::min(setup_.record.tick, 1 * kSecond)) {
      ticked_ = now();
      queue_.push_back({.kind = Event::kTick});
    }
    if (now() - looked_ >= kLook) look_at_cloud();
    keep_receivers();
    for (const CrewNews& news : crew_.wait(kLook / 4)) hear(news);
    look_for_stuck();
    handle_queue();
  }
  if (failure_) return *failure_;
  return *end_;
}

Status Runner::take_over() {
  const auto status = cluster_.status();
  if (!status.ok()) return status.error();
  const auto found = latest(checkpoint_folder(setup_.folder));
  if (!found.ok()) return found.error();
  const std::int64_t saved = found->checkpoint ? found->checkpoint->step : 0;
  happen({.kind = Event::kResumed, .step = saved});
  for (const std::string& warning : found->warnings) {
    happen({.kind = Event::kRemark, .reason = warning});
  }
  std::set<int> there;
  for (const VmStatus& vm : status->vms) {
    const int number = number_of(vm.name);
    if (number < 0 || number >= static_cast<int>(supervisor_.vms().size())) continue;
    if (vm.phase == VmPhase::kTaken) continue;
    there.insert(number);
    machines_[number].address = vm.address;
    happen({.kind = Event::kVmUp, .vm = number});
  }
  for (int vm = 0; vm < static_cast<int>(supervisor_.vms().size()); ++vm) {
    const RunVm& known = supervisor_.vms()[static_cast<std::size_t>(vm)];
    if (known.phase != RunVmPhase::kGone && !there.contains(vm)) {
      happen({.kind = Event::kVmLost, .vm = vm, .reason = "it was gone after the restart"});
    }
  }
  handle_queue();
  return failure_ ? Status(*failure_) : Status();
}

// Events and actions.

void Runner::happen(RunEvent event) { queue_.push_back(std::move(event)); }

void Runner::handle_queue() {
  while (!queue_.empty() && !failure_) {
    RunEvent event = std::move(queue_.front());
    queue_.pop_front();
    event.at = now();
    const Status kept = journal_.append(event);
    if (!kept.ok()) return fail(kept.error());
    const bool was_over = supervisor_.finished();
    const std::vector<RunAction> actions = supervisor_.handle(event);
    if (listeners_.happened) listeners_.happened(event, actions);
    if (supervisor_.finished() && !was_over) farewell();
    for (const RunAction& action : actions) perform(action);
  }
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
      return;  // The listener has it.
    case Act::kFinish:
      end_ = action;
      return;
  }
}

void Runner::launch(const RunAction& action) {
  const RunMachines& kind = machines_of(action.slot);
  const bool spot = action.market == Market::kSpot;
  VmSpec spec{.name = vm_name(action.vm),
              .type = kind.type,
              .market = action.market,
              .network = kind.network,
              .price = spot ? kind.spot : kind.on_demand};
  if (spot && setup_.record.life) {
    Random chance = Random(static_cast<std::uint64_t>(setup_.record.seed))
                        .fork(static_cast<std::uint64_t>(action.vm));
    spec.life = *setup_.record.life * chance.exponential();
  }
  const auto added = cluster_.add(spec);
  if (!added.ok()) {
    return happen(
        {.kind = Event::kLaunchRefused, .vm = action.vm, .reason = added.error().message});
  }
  const auto vm = find_vm(*added, vm_name(action.vm));
  machines_[action.vm].address = vm.ok() ? (*vm)->address : "";
  note({.vm_up = VmEvent{.vm = vm_name(action.vm), .reason = kind.type}});
  happen({.kind = Event::kVmUp, .vm = action.vm});
}

void Runner::release(int vm) {
  crew_.end_all_on(vm);
  machines_[vm].gone = true;
  const auto status = cluster_.release(vm_name(vm));
  if (!status.ok()) return;
  const auto found = find_vm(*status, vm_name(vm));
  if (found.ok()) look_at(**found);
}

/// The workers do what their scripts do after training, while the machines are still there.
void Runner::farewell() {
  for (const int vm : gang_.vms()) crew_.send(vm, order("end", Json(Json::Object{})));
  const Seconds until = now() + kFarewell;
  const auto any = [&] {
    return std::any_of(gang_.vms().begin(), gang_.vms().end(),
                       [&](int vm) { return crew_.has_worker(vm); });
  };
  while (any() && now() < until && !plain_) (void)crew_.wait(kLook / 4);
}

void Runner::train(const RunAction& action) {
  std::vector<int> slots;
  for (const int vm : action.vms) slots.push_back(slot_of(vm));
  gang_ = Gang(action.attempt, action.vms, shares_of(plan_, slots, setup_.record.global_batch));
  ordered_ = false;
  ended_well_.clear();
  gang_since_ = now();
  for (auto& entry : machines_) {
    entry.second.seen_lost = false;
    // Scripts that take no orders begin anew on all machines.
    if (!gang_.has(entry.first) || plain_) {
      crew_.end_worker(entry.first);
      entry.second.ready = false;
    }
  }
  for (std::size_t rank = 0; rank < action.vms.size(); ++rank) {
    const int vm = action.vms[rank];
    if (crew_.has_worker(vm)) continue;
    const Status started = start_worker(vm, rank);
    if (started.ok()) continue;
    happen({.kind = Event::kWorkerLost,
            .vm = vm,
            .attempt = action.attempt,
            .reason = started.error().message});
  }
  order_training();
}

Status Runner::start_worker(int vm, std::size_t rank) {
  const RunRecord& record = setup_.record;
  const RunMachines& kind = machines_of(slot_of(vm));
  const std::vector<int> shares = shares_of(plan_, gang_slots(), record.global_batch);
  std::vector<std::string> variables =
      rank_variables(static_cast<int>(rank), static_cast<int>(gang_.vms().size()),
                     machines_[gang_.vms()[0]].address, kFirstPort + gang_.attempt() % kPorts);
  variables.insert(variables.end(), setup_.variables.begin(), setup_.variables.end());
  variables.push_back("STINT_RUN=" + record.name);
  variables.push_back(fmt::format("STINT_BATCH_SIZE={}", shares[rank]));
  variables.push_back(fmt::format("STINT_GLOBAL_BATCH={}", record.global_batch));
  variables.push_back(fmt::format("STINT_STEPS={}", record.steps));
  if (record.compute == RunCompute::kPacedReal) {
    variables.push_back("STINT_PACE=" + job_path(setup_.folder));
    variables.push_back(fmt::format("STINT_PACE_DEVICE={}", kind.device.value_or("")));
    variables.push_back(fmt::format("STINT_PACE_SPEED={}", kind.speed));
  }
  machines_[vm].ready = false;
  return crew_.start_worker(
      vm, {.command = record.command, .variables = std::move(variables), .folder = record.folder});
}

/// Sends the order to train when all workers of the gang can hear it.
void Runner::order_training() {
  if (ordered_ || gang_.vms().empty()) return;
  for (const int vm : gang_.vms()) {
    if (!machines_[vm].ready || !crew_.has_worker(vm)) return;
  }
  ordered_ = true;
  const std::vector<int> slots = gang_slots();
  Json::Array shares;
  for (const int share : shares_of(plan_, slots, setup_.record.global_batch)) {
    shares.push_back(whole(share));
  }
  Json checkpoint;
  const auto found = latest(checkpoint_folder(setup_.folder));
  if (found.ok() && found->checkpoint) {
    checkpoint.add("step", whole(found->checkpoint->step));
    checkpoint.add("shards", whole(static_cast<std::int64_t>(found->checkpoint->shards.size())));
    checkpoint.add("place", place());
  }
  for (std::size_t rank = 0; rank < gang_.vms().size(); ++rank) {
    const int vm = gang_.vms()[rank];
    Json facts;
    facts.add("attempt", whole(gang_.attempt()));
    facts.add("rank", whole(static_cast<std::int64_t>(rank)));
    facts.add("world", whole(static_cast<std::int64_t>(gang_.vms().size())));
    facts.add("master", Json(machines_[gang_.vms()[0]].address));
    facts.add("port", whole(kFirstPort + gang_.attempt() % kPorts));
    facts.add("shares", Json(shares));
    facts.add("micro_batch", whole(machines_of(slots[rank]).micro_batch));
    if (found.ok() && found->checkpoint) facts.add("checkpoint", checkpoint);
    crew_.send(vm, order("train", std::move(facts)));
  }
}

void Runner::save(const RunAction& action) {
  if (action.attempt != gang_.attempt() || !gang_.training()) return;
  const Json where = place();
  if (where.find("receivers") != nullptr && where.find("receivers")->as<Json::Array>()->empty()) {
    return happen({.kind = Event::kSaveFailed,
                   .step = action.step,
                   .save = action.save,
                   .reason = "no machine that keeps checkpoints is there"});
  }
  // Far enough ahead that every worker hears of it before that step is done.
  const Seconds step = step_time_of(plan_, gang_slots()).mean;
  const auto ahead = static_cast<std::int64_t>(2 + std::ceil(kSaveAhead / step));
  const std::int64_t at = std::min(setup_.record.steps, gang_.reached() + ahead);
  // To write a checkpoint anew that counts already would put it at risk.
  if (at == supervisor_.saved()) {
    return happen(
        {.kind = Event::kSaved, .attempt = gang_.attempt(), .step = at, .save = action.save});
  }
  gang_.expect_save(at);
  save_ = action.save;
  Json facts;
  facts.add("attempt", whole(gang_.attempt()));
  facts.add("step", whole(at));
  facts.add("place", where);
  for (const int vm : gang_.vms()) crew_.send(vm, order("save", facts));
}

void Runner::replan(const std::string& reason) {
  if (!listeners_.replan) return;
  const Replanning thought = listeners_.replan(supervisor_, plan_, reason);
  RunEvent event{.kind = Event::kTerms, .reason = thought.reason};
  if (thought.plan) {
    const Status written =
        write_file(plan_path(setup_.folder, plans_ + 1), write_run_plan(*thought.plan));
    if (!written.ok()) return fail(written.error());
    event.count = ++plans_;
    plan_ = *thought.plan;
    supervisor_.change_terms(terms_of(setup_.record, plan_));
  }
  happen(std::move(event));
}

// What is seen.

void Runner::look_at_cloud() {
  looked_ = now();
  const auto status = cluster_.status();
  if (!status.ok()) return fail(status.error());
  for (const VmStatus& vm : status->vms) look_at(vm);
  if (status->spot_capacity != capacity_) {
    capacity_ = status->spot_capacity;
    happen({.kind = Event::kCapacity, .count = capacity_});
  }
  for (const VmStatus& vm : status->vms) look_at_price(vm);
}

void Runner::look_at_price(const VmStatus& vm) {
  const int number = number_of(vm.name);
  if (vm.market != Market::kSpot || vm.phase == VmPhase::kTaken || !machines_.contains(number)) {
    return;
  }
  const std::string& type = supervisor_.vms()[static_cast<std::size_t>(number)].type;
  const auto known = prices_.find(type);
  const RunMachines& planned = machines_of(slot_of(number));
  const DollarsPerSecond before = known == prices_.end() ? planned.spot : known->second;
  prices_[type] = vm.price;
  if (vm.price == before) return;
  happen({.kind = Event::kPrices, .type = type, .spot = vm.price});
}

void Runner::look_at(const VmStatus& vm) {
  const int number = number_of(vm.name);
  const auto found = machines_.find(number);
  if (found == machines_.end()) return;
  Machine& machine = found->second;
  if (vm.phase == VmPhase::kNoticed && !machine.noticed && !machine.gone) {
    machine.noticed = true;
    note({.notice = VmEvent{.vm = vm.name, .reason = {}, .grace = vm.takes_in}});
    happen({.kind = Event::kNotice, .vm = number, .duration = vm.takes_in});
  }
  if (vm.phase != VmPhase::kTaken) return;
  if (!machine.gone) {
    machine.gone = true;
    crew_.end_all_on(number);
    note({.vm_lost = VmEvent{.vm = vm.name, .reason = "taken back"}});
    happen({.kind = Event::kVmLost, .vm = number});
  }
  if (machine.billed) return;
  machine.billed = true;
  note({.charge = Charge{.amount = vm.cost, .reason = vm.name}});
  happen({.kind = Event::kBilled, .vm = number, .duration = vm.age, .cost = vm.cost});
}

void Runner::keep_receivers() {
  for (const auto& entry : machines_) {
    const int vm = entry.first;
    if (entry.second.gone || entry.second.address.empty() || crew_.has_receiver(vm)) continue;
    if (vm >= static_cast<int>(supervisor_.vms().size())) continue;
    if (!machines_of(slot_of(vm)).receives) continue;
    const Status started = crew_.start_receiver(
        vm,
        {.command = {setup_.program, "receive", "--folder", checkpoint_folder(setup_.folder),
                     "--port", fmt::format("{}", kReceiverPort)}},
        setup_.record.secret);
    if (!started.ok()) machines_[vm].address.clear();
  }
}

void Runner::hear(const CrewNews& news) {
  if (news.ended) return on_ended(news.vm, *news.ended);
  const auto* message = news.said ? news.said->as<Json::Object>() : nullptr;
  if (message == nullptr || message->size() != 1) return;
  const auto& [kind, facts] = message->front();
  hear_message(news.vm, kind, facts);
}

void Runner::hear_message(int vm, const std::string& kind, const Json& facts) {
  if (kind == "ready") return on_ready(vm, facts);
  if (kind == "lost_peer") {
    const Json* attempt = facts.find("attempt");
    const std::int64_t* its = attempt == nullptr ? nullptr : attempt->as<std::int64_t>();
    // Of an earlier attempt it is no news.
    if (machines_[vm].seen_lost || its == nullptr || *its != gang_.attempt()) return;
    machines_[vm].seen_lost = true;
    machines_[vm].lost_at = now();
    return;
  }
  on_gang_news(gang_.hear(vm, kind, facts));
}

void Runner::on_ready(int vm, const Json& facts) {
  const Json* batch = facts.find("batch");
  const std::int64_t* its = batch == nullptr ? nullptr : batch->as<std::int64_t>();
  if (its != nullptr && *its != setup_.record.global_batch) {
    happen({.kind = Event::kStop,
            .reason = fmt::format(
                "the script trains with a batch of {} and not with the {} of the plan; let it take "
                "its batch from stint.global_batch(), or plan for {}",
                *its, setup_.record.global_batch, *its)});
    return;
  }
  machines_[vm].ready = true;
  order_training();
}

void Runner::on_gang_news(const GangNews& news) {
  const int attempt = gang_.attempt();
  if (news.complaint) happen({.kind = Event::kRemark, .reason = news.complaint});
  if (news.training_after) {
    happen({.kind = Event::kWorkersUp, .attempt = attempt, .step = news.training_after});
  }
  if (news.step) {
    note({.iteration = IterationRecord{
              .number = news.step->number, .time = news.step->time, .loss = news.step->loss}});
    happen({.kind = Event::kStepDone,
            .attempt = attempt,
            .step = news.step->number,
            .duration = news.step->time});
  }
  if (news.save_failed) {
    happen({.kind = Event::kSaveFailed, .save = save_, .reason = news.save_failed});
  }
  if (!news.saved) return;
  const Checkpoint& checkpoint = news.saved->checkpoint;
  const Status kept = acknowledge(checkpoint_folder(setup_.folder), checkpoint);
  if (!kept.ok()) {
    return happen({.kind = Event::kSaveFailed, .save = save_, .reason = kept.error().message});
  }
  note({.checkpoint = CheckpointRecord{.iteration = checkpoint.step,
                                       .bytes = static_cast<double>(checkpoint.bytes) * kByte,
                                       .stall = news.saved->stall,
                                       .transfer = news.saved->transfer}});
  happen({.kind = Event::kSaved,
          .attempt = attempt,
          .step = checkpoint.step,
          .save = save_,
          .duration = news.saved->stall + news.saved->transfer});
}

void Runner::on_ended(int vm, int code) {
  machines_[vm].ready = false;
  if (!gang_.has(vm) || supervisor_.finished()) return;
  look_at_cloud();  // The machine may be gone with it.
  if (machines_[vm].gone) return;
  if (code == 0) {
    ended_well_.insert(vm);
    if (ended_well_.size() == gang_.vms().size()) {
      happen({.kind = Event::kWorkersDone, .attempt = gang_.attempt()});
    }
    return;
  }
  happen({.kind = Event::kWorkerLost,
          .vm = vm,
          .attempt = gang_.attempt(),
          .code = code,
          .reason = crew_.last_words(vm)});
}

/// Workers that wait for somebody who is there, and scripts that never speak.
void Runner::look_for_stuck() {
  if (gang_.vms().empty() || supervisor_.finished()) return;
  const bool any_ready = std::any_of(gang_.vms().begin(), gang_.vms().end(),
                                     [&](int vm) { return machines_[vm].ready; });
  if (!any_ready && !ordered_ && now() - gang_since_ > kSilence &&
      crew_.has_worker(gang_.vms()[0])) {
    plain_ = true;
    ordered_ = true;
    happen({.kind = Event::kWorkersUp, .attempt = gang_.attempt(), .step = supervisor_.saved()});
  }
  for (const int vm : gang_.vms()) {
    Machine& machine = machines_[vm];
    if (!machine.seen_lost || now() - machine.lost_at < kStuck) continue;
    machine.seen_lost = false;
    happen({.kind = Event::kWorkerLost,
            .vm = vm,
            .attempt = gang_.attempt(),
            .reason = "it lost the connection to another worker"});
  }
}

// What is known.

Json Runner::place() const {
  Json json;
  if (setup_.record.checkpoint.place == CheckpointPlace::kObjectStore) {
    json.add("folder", Json(checkpoint_folder(setup_.folder)));
    return json;
  }
  Json::Array receivers;
  for (const auto& entry : machines_) {
    if (entry.second.gone || !crew_.has_receiver(entry.first)) continue;
    receivers.emplace_back(Json::Array{Json(entry.second.address), whole(kReceiverPort)});
  }
  json.add("receivers", Json(std::move(receivers)));
  json.add("secret", Json(setup_.record.secret));
  json.add("run", Json(setup_.record.name));
  return json;
}

std::vector<int> Runner::gang_slots() const {
  std::vector<int> slots;
  for (const int vm : gang_.vms()) slots.push_back(slot_of(vm));
  return slots;
}

int Runner::slot_of(int vm) const { return supervisor_.vms()[static_cast<std::size_t>(vm)].slot; }

const RunMachines& Runner::machines_of(int slot) const {
  const std::vector<int> kinds = slot_kinds(plan_);
  return plan_.machines[static_cast<std::size_t>(kinds[static_cast<std::size_t>(slot)])];
}

Seconds Runner::now() const { return setup_.clock->now() - setup_.record.began; }

void Runner::note(Measurement measurement) {
  measurement.run = setup_.record.name;
  measurement.at = setup_.clock->now();
  const Status kept = append_file(measurements_path(setup_.folder), write_measurement(measurement));
  if (!kept.ok()) fail(kept.error());
}

void Runner::fail(const Error& error) {
  if (!failure_) failure_ = error;
}

}  // namespace stint
