// The observations of workers by the runner; its actions are in runner.cc, machines in
// runner_machines.cc.
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "base/text.h"
#include "run/run_folder.h"
#include "run/runner.h"
#include "run/worker_environment.h"

namespace stint {
namespace {

using Event = RunEventKind;

// For workers that lost the connection to a peer that is up.
constexpr Seconds kStuck = 3 * kSecond;
// After the first worker of a plain script fails, the others fail too; which of them was first is
// known when all have reported.
constexpr Seconds kOthersFail = 2 * kSecond;
constexpr std::size_t kLinesShown = 12;
constexpr Seconds kStepsTold = 200 * kMillisecond;  // Between events of steps for who listens.

}  // namespace

void Runner::keep_receivers() {
  for (auto& entry : machines_) {
    const int vm = entry.first;
    if (entry.second.gone || entry.second.address.empty() || crew_.has_receiver(vm)) continue;
    if (!entry.second.kind.receives) continue;
    crew_.start_receiver(
        vm,
        {.words = {"stint", "receive", "--folder", checkpoint_folder(setup_.folder), "--address",
                   entry.second.address, "--port", fmt::format("{}", receiver_port())}},
        setup_.record.secret);
  }
}

void Runner::hear(const CrewNews& news) {
  if (news.ended && news.reason) return on_worker_gone(news.worker, *news.reason);
  if (news.ended) return on_ended(news.worker, *news.ended);
  const auto* message = news.said ? news.said->as<Json::Object>() : nullptr;
  if (message == nullptr || message->size() != 1) return;
  const auto& [kind, facts] = message->front();
  hear_message(news.worker, kind, facts);
}

void Runner::hear_message(Seat seat, const std::string& kind, const Json& facts) {
  if (kind == "ready") return on_ready(seat, facts);
  if (kind == "out_of_memory") return on_out_of_memory(seat.vm, facts);
  if (kind == "counted" || kind == "wrote_checkpoint" || kind == "failed") {
    return hear_plain(seat, kind, facts);
  }
  if (kind == "lost_peer") {
    const Json* attempt = facts.find("attempt");
    const std::int64_t* its = attempt == nullptr ? nullptr : attempt->as<std::int64_t>();
    // A report of an earlier attempt is ignored.
    WorkerState& worker = workers_[seat];
    if (worker.seen_lost || its == nullptr || *its != gang_.attempt()) return;
    worker.seen_lost = true;
    worker.lost_at = now();
    return;
  }
  // Steps of the previous workers are recorded; the supervisor learns where the new ones begin.
  if (!ordered_ && kind == "step") on_step_before(before_.hear(seat, kind, facts));
  on_gang_news(gang_.hear(seat, kind, facts));
}

/// A message of the hook in a script; see stint/script.py.
void Runner::hear_plain(Seat seat, const std::string& kind, const Json& facts) {
  const auto attempt = integer_in(facts, "attempt");
  if (!gang_.has(seat) || attempt != gang_.attempt()) return;
  if (kind == "failed") {
    const Json* text = facts.find("text");
    const std::string* words = text == nullptr ? nullptr : text->as<std::string>();
    if (words == nullptr) return;
    workers_[seat].last_words = {.time = number_in(facts, "time").value_or(0), .text = *words};
    return;
  }
  if (script_ == Script::kUnknown) take_for_plain();
  if (kind == "counted") return on_gang_news(gang_.hear(seat, kind, facts));
  on_own_checkpoint(facts);
}

void Runner::take_for_plain() {
  script_ = Script::kPlain;
  if (listeners_.wish) {
    return happen({.kind = Event::kStop,
                   .code = 1,
                   .reason = "a search changes batch sizes, which needs a script that uses "
                             "stint.Job; run this one with 'stint run'"});
  }
  if (!supervisor_.plain()) happen({.kind = Event::kPlain, .attempt = gang_.attempt()});
}

void Runner::on_own_checkpoint(const Json& facts) {
  const auto step = integer_in(facts, "step");
  const Json* path = facts.find("path");
  const std::string* where = path == nullptr ? nullptr : path->as<std::string>();
  // Several files of one checkpoint count as one.
  if (!step || where == nullptr || *step <= own_checkpoint_) return;
  own_checkpoint_ = *step;
  happen({.kind = Event::kSaved, .attempt = gang_.attempt(), .step = step, .reason = *where});
}

void Runner::note_step(const GangNews& news) {
  if (!news.step || news.step->time <= Seconds{}) return;
  note({.iteration = IterationRecord{
            .number = news.step->number, .time = news.step->time, .loss = news.step->loss}});
}

/// A step of workers that continue until those of the next order are ready.
void Runner::on_step_before(const GangNews& news) {
  note_step(news);
  if (news.step && listeners_.trained_meanwhile) listeners_.trained_meanwhile(now());
}

void Runner::on_out_of_memory(int vm, const Json& facts) {
  const Json* samples = facts.find("samples");
  const std::int64_t* its = samples == nullptr ? nullptr : samples->as<std::int64_t>();
  if (its == nullptr || *its < 1 || *its > std::numeric_limits<int>::max()) return;
  const std::string type = machine_type(supervisor_.vms()[static_cast<std::size_t>(vm)]);
  happen({.kind = Event::kRemark,
          .reason = fmt::format("{} samples per micro-step are too many for the memory of {}.",
                                *its, type)});
  if (listeners_.out_of_memory) listeners_.out_of_memory(type, static_cast<int>(*its));
}

void Runner::on_ready(Seat seat, const Json& facts) {
  script_ = Script::kTakesOrders;
  if (supervisor_.plain()) happen({.kind = Event::kTakesOrders, .attempt = gang_.attempt()});
  const Json* batch = facts.find("batch");
  const std::int64_t* its = batch == nullptr ? nullptr : batch->as<std::int64_t>();
  if (its != nullptr && *its != setup_.record.global_batch) {
    happen({.kind = Event::kStop,
            .code = 1,
            .reason = fmt::format("the script trains with a batch of {} instead of the plan's {}; "
                                  "let it take its batch from stint.global_batch(), or plan for {}",
                                  *its, setup_.record.global_batch, *its)});
    return;
  }
  if (const auto wrong = wrong_steps(facts)) {
    return happen({.kind = Event::kStop, .code = 1, .reason = wrong});
  }
  workers_[seat].ready = true;
  order_training();
}

/// A script that ends before the run does must not be waited for.
std::optional<std::string> Runner::wrong_steps(const Json& facts) const {
  const Json* steps = facts.find("steps");
  const std::int64_t* its = steps == nullptr ? nullptr : steps->as<std::int64_t>();
  if (its == nullptr || plan_.training || *its >= setup_.record.steps) return std::nullopt;
  return fmt::format(
      "the script trains {} steps instead of the plan's {}; change the script, or run it with "
      "--steps {}",
      *its, setup_.record.steps, *its);
}

void Runner::on_gang_news(const GangNews& news) {
  const int attempt = gang_.attempt();
  if (news.complaint) happen({.kind = Event::kRemark, .reason = news.complaint});
  if (news.training_after) {
    happen({.kind = Event::kWorkersUp, .attempt = attempt, .step = news.training_after});
  }
  note_step(news);
  if (listeners_.trained && (news.step || news.training_after)) listeners_.trained(news);
  if (news.step) on_step(*news.step);
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
          .duration = now() - save_since_});
}

/// Steps become events with the next one, at the latest with the next tick; sooner where somebody
/// may want another plan because of them.
void Runner::on_step(const GangStep& step) {
  const bool alone =
      steps_.add(gang_.attempt(), step.number, step.time, now(), supervisor_.terms().steps);
  if (!alone && (!listeners_.wish || now() - told_steps_ < kStepsTold)) return;
  told_steps_ = now();
  if (auto event = steps_.take()) queue_.push_back(std::move(*event));
}

void Runner::on_ended(Seat seat, int code) {
  workers_[seat].ready = false;
  if (!gang_.has(seat) || supervisor_.finished()) return;
  // The machine may have been lost with its worker, which the next list tells.
  unchecked_.push_back({.worker = seat, .code = code, .at = boot_time()});
}

/// A worker that could not start, or whose agent cannot be reached.
void Runner::on_worker_gone(Seat seat, const std::string& reason) {
  workers_[seat].ready = false;
  if (!gang_.has(seat) || supervisor_.finished()) return;
  happen({.kind = Event::kWorkerLost, .vm = seat.vm, .attempt = gang_.attempt(), .reason = reason});
}

void Runner::judge_ends(Seconds listed_at) {
  for (const Failure& end : std::exchange(unchecked_, {})) {
    if (end.at < listed_at) {
      judge_end(end.worker, end.code);
    } else {
      unchecked_.push_back(end);
    }
  }
}

/// The end of a worker of the gang whose machine was looked at since.
void Runner::judge_end(Seat seat, int code) {
  if (machines_[seat.vm].gone) return;
  if (code == 0) {
    ended_well_.insert(seat);
    if (ended_well_.size() < gang_.seats().size()) return;
    // A script that never sent a message has finished its work.
    if (script_ == Script::kUnknown) take_for_plain();
    return happen({.kind = Event::kWorkersDone, .attempt = gang_.attempt()});
  }
  if (script_ != Script::kTakesOrders) {
    if (failures_.empty()) failed_at_ = now();
    return failures_.push_back({.worker = seat, .code = code});
  }
  happen({.kind = Event::kWorkerLost,
          .vm = seat.vm,
          .attempt = gang_.attempt(),
          .code = code,
          .reason = last_words_of(seat)});
}

/// Reports the worker of a plain script that failed first, and ends the others.
void Runner::look_for_failure() {
  if (failures_.empty()) return;
  const bool all = std::none_of(gang_.seats().begin(), gang_.seats().end(),
                                [&](const Seat& seat) { return crew_.has_worker(seat); });
  if (!all && now() - failed_at_ < kOthersFail) return;
  const auto said_at = [&](const Failure& it) {
    const auto& words = workers_[it.worker].last_words;
    return words ? words->time : std::numeric_limits<double>::infinity();
  };
  const Failure first = *std::min_element(
      failures_.begin(), failures_.end(),
      [&](const Failure& a, const Failure& b) { return said_at(a) < said_at(b); });
  failures_.clear();
  for (const Seat& seat : gang_.seats()) crew_.end_worker(seat);
  happen({.kind = Event::kWorkerLost,
          .vm = first.worker.vm,
          .attempt = gang_.attempt(),
          .code = first.code,
          .reason = last_words_of(first.worker)});
}

/// The last lines of a worker, indented, and the command that shows all.
std::string Runner::last_words_of(Seat seat) const {
  const auto known = workers_.find(seat);
  const auto words = known == workers_.end() ? std::nullopt : known->second.last_words;
  std::vector<std::string> lines =
      words ? split(words->text, '\n') : crew_.last_lines(seat, kLinesShown);
  const auto found = std::find(gang_.seats().begin(), gang_.seats().end(), seat);
  std::string text;
  for (const std::string& line : lines) text += fmt::format("  {}\n", without_controls(line));
  return text + fmt::format("All of its output: stint logs {} --rank {}",
                            shell_quoted(setup_.record.name), found - gang_.seats().begin());
}

/// Reports workers that lost the connection to a peer that is up.
void Runner::look_for_stuck() {
  if (gang_.seats().empty() || supervisor_.finished() || !unchecked_.empty()) return;
  look_for_failure();
  for (const Seat& seat : gang_.seats()) {
    WorkerState& worker = workers_[seat];
    if (!worker.seen_lost || now() - worker.lost_at < kStuck) continue;
    worker.seen_lost = false;
    happen({.kind = Event::kWorkerLost,
            .vm = seat.vm,
            .attempt = gang_.attempt(),
            .reason = "connection to another worker lost"});
  }
}

}  // namespace stint
