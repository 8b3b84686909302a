#include "run/crew.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <poll.h>
#include <utility>

#include "base/descriptor.h"
#include "run/worker_environment.h"

namespace stint {
namespace {

// A worker whose agent cannot be reached for so long is lost, although its machine is there.
constexpr Seconds kSilence = 2 * kMinute;

/// A line of output, after a word about lines that the agent had no room for.
std::string text_of(const ProcessLog& log) {
  if (log.lost == 0) return log.line;
  return fmt::format("({} {} of output lost here: more was printed than the stream carries)\n{}",
                     log.lost, log.lost == 1 ? "line" : "lines", log.line);
}

}  // namespace

Crew::Crew(Provider& provider, CrewSetup setup)
    : provider_(provider), setup_(std::move(setup)), output_(setup_.log_folder) {}

Crew::~Crew() = default;  // Streams close, and an agent without one ends what it started.

Crew::Post& Crew::post(int vm) {
  Post& post = posts_[vm];
  if (post.link) return post;
  const std::string machine = vm_name(vm);
  const auto reach = [this, machine]() -> Result<AgentStream> {
    return AgentStream::open(
        {.words = {setup_.program, "agent"}, .inherits = is_usual_variable},
        [&](Command command) { return provider_.spawn(machine, std::move(command)); });
  };
  post.link = std::make_unique<AgentLink>(AgentCall{.run = setup_.run,
                                                    .machine = machine,
                                                    .attempt = setup_.attempt,
                                                    .secret = setup_.secret,
                                                    .trusted = true,
                                                    .terms = setup_.terms},
                                          reach);
  return post;
}

void Crew::give(Post& post, AgentOrder order) {
  // An agent that takes no orders for so long is not there; that is news of its own.
  (void)post.link->send(std::move(order));
}

int Crew::start(Post& post, ProcessRole role, const CrewStart& start,
                std::optional<std::string> input) {
  const int number = ++post.starts;
  give(post, {.start = ProcessStart{.process = number,
                                    .role = role,
                                    .attempt = setup_.attempt,
                                    .rank = start.rank,
                                    .words = start.words,
                                    .variables = start.variables,
                                    .folder = start.folder,
                                    .input = std::move(input)}});
  return number;
}

void Crew::start_worker(Seat seat, const CrewStart& start, const std::string& mark) {
  Post& there = post(seat.vm);
  output_.append_worker(seat, kLogMark + mark);
  there.workers[seat.local] = this->start(there, ProcessRole::kWorker, start, {});
  there.away_since.reset();
}

void Crew::start_receiver(int vm, const CrewStart& start, const std::string& input) {
  Post& there = post(vm);
  if (there.receiver) give(there, {.end = *there.receiver});
  there.receiver = this->start(there, ProcessRole::kReceiver, start, input);
}

std::optional<int> Crew::worker_in(Seat seat) const {
  const auto found = posts_.find(seat.vm);
  if (found == posts_.end()) return std::nullopt;
  const auto worker = found->second.workers.find(seat.local);
  if (worker == found->second.workers.end()) return std::nullopt;
  return worker->second;
}

bool Crew::has_worker(Seat seat) const { return worker_in(seat).has_value(); }

bool Crew::has_receiver(int vm) const {
  const auto found = posts_.find(vm);
  return found != posts_.end() && found->second.receiver;
}

std::vector<Seat> Crew::seats() const {
  std::vector<Seat> found;
  for (const auto& [vm, post] : posts_) {
    for (const auto& worker : post.workers) found.emplace_back(vm, worker.first);
  }
  return found;
}

void Crew::send(Seat seat, const Json& order) {
  if (const auto worker = worker_in(seat)) {
    give(posts_[seat.vm], {.tell = ProcessTell{.process = *worker, .message = order}});
  }
}

void Crew::end_worker(Seat seat) {
  const auto worker = worker_in(seat);
  if (!worker) return;
  Post& there = posts_[seat.vm];
  there.workers.erase(seat.local);
  give(there, {.end = *worker});
}

void Crew::terminate_worker(Seat seat) {
  if (const auto worker = worker_in(seat)) {
    give(posts_[seat.vm], {.signal = ProcessSignal{.process = *worker, .signal = SIGTERM}});
  }
}

void Crew::end_all_on(int vm) { posts_.erase(vm); }

std::vector<CrewNews> Crew::wait(Seconds limit) {
  std::vector<CrewNews> news;
  for (auto& [vm, post] : posts_) turn(vm, post, news);  // Sends what was ordered.
  if (news.empty()) {
    std::vector<pollfd> waiting;
    Seconds wake = steady_now() + limit;
    for (const auto& entry : posts_) {
      if (!entry.second.link) continue;
      entry.second.link->add_polls(waiting);
      wake = std::min(wake, entry.second.link->wakes_at());
    }
    waiting.push_back({.fd = provider_.descriptor(), .events = POLLIN, .revents = 0});
    const Seconds left = std::max(Seconds{}, wake - steady_now());
    ::poll(waiting.data(), waiting.size(), poll_milliseconds(left));
    for (auto& [vm, post] : posts_) turn(vm, post, news);
  }
  return news;
}

void Crew::turn(int vm, Post& post, std::vector<CrewNews>& news) {
  if (!post.link) return;
  const LinkNews heard = post.link->turn(steady_now());
  // What the agent before ran has ended with it.
  if (heard.replaced) lose_workers(vm, post, {}, news);
  for (const AgentNews& one : heard.news) hear(vm, post, one, news);
  look_for_silence(vm, post, news);
}

void Crew::hear(int vm, Post& post, const AgentNews& heard, std::vector<CrewNews>& news) {
  const auto seat_of = [&](int process) -> std::optional<Seat> {
    for (const auto& [local, worker] : post.workers) {
      if (worker == process) return Seat(vm, local);
    }
    return std::nullopt;
  };
  if (heard.said) {
    if (const auto seat = seat_of(heard.said->process)) {
      news.push_back({.worker = *seat, .said = heard.said->message});
    }
  }
  if (heard.log) {
    const std::string text = text_of(*heard.log);
    if (heard.log->process == post.receiver) output_.append_receiver(vm, text);
    if (const auto seat = seat_of(heard.log->process)) output_.append_worker(*seat, text);
  }
  if (!heard.ended) return;
  if (heard.ended->process == post.receiver) post.receiver.reset();
  if (const auto seat = seat_of(heard.ended->process)) {
    post.workers.erase(seat->local);
    news.push_back({.worker = *seat, .ended = heard.ended->code, .reason = heard.ended->reason});
  }
}

void Crew::lose_workers(int vm, Post& post, const std::optional<std::string>& reason,
                        std::vector<CrewNews>& news) {
  post.receiver.reset();
  for (const auto& worker : std::exchange(post.workers, {})) {
    news.push_back({.worker = {vm, worker.first}, .ended = 128 + SIGKILL, .reason = reason});
  }
}

/// A machine that is there without its agent is as good as none.
void Crew::look_for_silence(int vm, Post& post, std::vector<CrewNews>& news) {
  const LinkState state = post.link->state();
  const bool used = !post.workers.empty() || post.receiver;
  if (state == LinkState::kJoined || !used) return post.away_since.reset();
  if (!post.away_since) post.away_since = steady_now();
  const bool over = state == LinkState::kRefused || state == LinkState::kLeft;
  if (!over && steady_now() - *post.away_since < kSilence) return;
  const auto& refused = post.link->refused();
  lose_workers(vm, post,
               fmt::format("the agent on {} cannot be reached: {}", vm_name(vm),
                           refused ? refused->reason : post.link->trouble()),
               news);
  if (state == LinkState::kLeft) post.link.reset();  // The next start has another agent.
}

std::vector<std::string> Crew::last_lines(Seat seat, std::size_t most) const {
  return output_.last_lines(seat, most);
}

}  // namespace stint
