#include "provider/agent/agent.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <utility>

#include "base/text.h"
#include "checkpoint/secret.h"
#include "provider/agent/machine_scout.h"

namespace stint {
namespace {

constexpr std::size_t kLogRoom = 4U << 20U;      // Bytes of news beyond which logs are dropped,
constexpr std::size_t kMessageRoom = 8U << 20U;  // beyond which workers wait,
constexpr std::size_t kNewsMax = 32U << 20U;     // and beyond which no orders are taken.
constexpr std::size_t kCallersMax = 8;
constexpr Seconds kPatience = 10 * kSecond;  // For a caller to prove itself or to go.
constexpr Seconds kLongestSleep = 1 * kSecond;
constexpr Seconds kReleaseTime = 60 * kSecond;  // For the release command.
constexpr Seconds kPartingTime = 5 * kSecond;   // For the runner to hear the last news.
constexpr std::size_t kNonceBytes = 16;
constexpr std::size_t kNameBytes = 8;

void make_non_blocking(int descriptor) {
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

}  // namespace

Agent::Agent(AgentSettings settings, std::optional<AgentGuard> guard)
    : settings_(std::move(settings)),
      door_(random_hex(kNameBytes), settings_.version, settings_.secret),
      processes_(settings_.processes, std::move(guard)),
      renewed_(steady_now()) {}

void Agent::add_stream(Descriptor from, Descriptor to) {
  make_non_blocking(from.get());
  if (to.get() >= 0) make_non_blocking(to.get());
  if (callers_.size() >= kCallersMax) {
    // The oldest stranger makes room.
    const auto stranger = std::find_if(callers_.begin(), callers_.end(),
                                       [](const auto& caller) { return !caller->proven; });
    if (stranger != callers_.end()) callers_.erase(stranger);
  }
  auto caller = std::make_unique<Caller>(Caller{.from = std::move(from),
                                                .to = std::move(to),
                                                .nonce = random_hex(kNonceBytes),
                                                .patience = Deadline(kPatience)});
  const int out = caller->to.get() >= 0 ? caller->to.get() : caller->from.get();
  caller->wire = AgentWire(caller->from.get(), out);
  callers_.push_back(std::move(caller));
}

void Agent::work(const Listener* listener) {
  const StopSignals signals;
  const auto parted = [&] {
    return phase_ == Phase::kParting &&
           (callers_.empty() || outbox_.empty() || steady_now() > until_);
  };
  // Nobody can come back to one that has no listener, and nothing would be saved.
  const auto stranded = [&] {
    return listener == nullptr && callers_.empty() && processes_.standing().empty();
  };
  while (!parted() && !stranded()) turn(listener);
  write_callers();
  processes_.end_all();
  if (scout_.pid > 0) kill_group(scout_.pid);
}

void Agent::turn(const Listener* listener) {
  std::vector<pollfd> waiting = polls(listener);
  ::poll(waiting.data(), waiting.size(), poll_milliseconds(kLongestSleep));
  const bool called = listener != nullptr && waiting.front().revents != 0;
  if (called) {
    Descriptor caller = listener->try_accept();
    if (caller.get() >= 0) add_stream(std::move(caller), Descriptor());
  }
  take_signal();
  hear_scout();
  processes_.collect([&] { return takes_messages(); },
                     [&](AgentNews news) { tell(std::move(news)); });
  read_callers();
  write_callers();
  drop_callers();
  follow_lease();
}

std::vector<pollfd> Agent::polls(const Listener* listener) const {
  std::vector<pollfd> waiting;
  const auto add = [&](int descriptor, short events) {
    waiting.push_back({.fd = descriptor, .events = events, .revents = 0});
  };
  if (listener != nullptr) add(listener->descriptor(), POLLIN);
  if (scout_report_.open()) add(scout_report_.descriptor(), POLLIN);
  for (const auto& caller : callers_) {
    if (!caller->closing) add(caller->wire.from(), POLLIN);
    if (caller->wire.wants_to_write()) add(caller->wire.to(), POLLOUT);
  }
  processes_.add_polls(waiting, takes_messages());
  return waiting;
}

bool Agent::takes_messages() const { return outbox_.bytes() < kMessageRoom; }

void Agent::read_callers() {
  for (std::size_t i = 0; i < callers_.size(); ++i) {
    Caller& caller = *callers_[i];
    if (caller.closing) continue;
    const bool open = caller.wire.read([&](std::string_view line) { return hear(caller, line); });
    if (!open && !caller.closing) {
      caller.closing = true;
      caller.patience = Deadline(Seconds{});
    }
  }
}

bool Agent::hear(Caller& caller, std::string_view line) {
  const auto order = read_order(line);
  if (!order.ok()) {
    const auto other = other_protocol(line);
    if (!other) return refuse(caller, AgentRefusal::kMalformed, order.error().message);
    return refuse(caller, AgentRefusal::kProtocol,
                  fmt::format("stint {} speaks {}, not {}; run the same stint on both sides",
                              settings_.version, kAgentProtocol, printable(*other)));
  }
  if (order->hello) return greet(caller, *order->hello);
  if (order->proof) return prove(caller, *order->proof);
  if (!caller.proven) return refuse(caller, AgentRefusal::kSecret, "orders come after a proof");
  return obey(caller, *order);
}

bool Agent::greet(Caller& caller, const AgentHello& hello) {
  if (caller.hello) return refuse(caller, AgentRefusal::kMalformed, "a second hello");
  const AgentNews answer = door_.greet(hello, caller.nonce);
  if (answer.refused) return refuse(caller, answer.refused->cause, answer.refused->reason);
  caller.hello = hello;
  caller.wire.put(to_line(answer));
  return true;
}

bool Agent::prove(Caller& caller, const std::string& proof) {
  const bool asked = caller.hello && !caller.proven;
  const auto entry = asked ? door_.prove(*caller.hello, caller.nonce, proof) : std::nullopt;
  if (!entry)
    return refuse(caller, AgentRefusal::kSecret, "the proof of the run's secret is wrong");
  for (const auto& other : callers_) {
    if (other->proven) other->closing = true;
  }
  caller.proven = true;
  renewed_ = steady_now();
  if (!entry->renewed) inbox_.reset();
  if (caller.hello->agent == door_.agent()) outbox_.acknowledge(caller.hello->heard);
  outbox_.rewind();
  caller.wire.put(to_line(AgentNews{.joined = AgentJoined{.heard = inbox_.heard(),
                                                          .acknowledged = outbox_.acknowledged(),
                                                          .processes = processes_.standing()}}));
  if (entry->renewed) return true;
  // Another runner knows nothing yet.
  if (facts_) add_news({.facts = facts_});
  if (notice_) add_news({.notice = notice_});
  return true;
}

bool Agent::refuse(Caller& caller, AgentRefusal cause, std::string reason) {
  caller.wire.put(to_line(AgentNews{.refused = AgentRefused{cause, std::move(reason)}}));
  caller.closing = true;
  caller.patience = Deadline(kPatience);
  return false;
}

bool Agent::obey(Caller& caller, const AgentOrder& order) {
  if (order.renew) {
    renewed_ = steady_now();
    heard_due_ = true;
    return true;
  }
  if (order.heard) {
    if (outbox_.acknowledge(*order.heard)) return true;
    return refuse(caller, AgentRefusal::kMalformed, "it heard news that were never told");
  }
  if (outbox_.bytes() > kNewsMax) {
    return refuse(caller, AgentRefusal::kMalformed, "orders while too much news is not heard");
  }
  heard_due_ = true;
  const auto verdict = inbox_.take(order.number);
  if (verdict == AgentInbox::Verdict::kNew) act(order);
  if (verdict != AgentInbox::Verdict::kGap) return true;
  return refuse(caller, AgentRefusal::kMalformed,
                fmt::format("order {} came after order {}", order.number, inbox_.heard()));
}

void Agent::act(const AgentOrder& order) {
  Status done;
  if (order.terms) set_terms(*order.terms);
  if (order.start) start(*order.start);
  if (order.tell) done = processes_.tell(*order.tell);
  if (order.signal) done = processes_.signal(*order.signal);
  if (order.end) done = processes_.end(*order.end);
  if (order.leave) leave("the runner releases the machine", false);
  if (!done.ok()) add_news({.problem = done.error().message});
}

void Agent::start(const ProcessStart& order) {
  const auto failed_with = [&](std::string reason) {
    constexpr int kNotStarted = 127;  // As in shells.
    add_news({.ended = ProcessEnded{.process = order.process,
                                    .attempt = order.attempt,
                                    .code = kNotStarted,
                                    .reason = std::move(reason)}});
  };
  if (door_.is_outdated(order.attempt)) {
    return failed_with(fmt::format("attempt {} has taken over", door_.attempt()));
  }
  if (phase_ != Phase::kWorking) return failed_with("the agent ends its work");
  auto started = processes_.start(order);
  if (!started.ok()) return failed_with(started.error().message);
  add_news({.started = std::move(*started)});
}

void Agent::set_terms(const AgentTerms& terms) {
  const bool same = terms.metadata == terms_.metadata && terms.interpreter == terms_.interpreter;
  terms_ = terms;
  if (same && (scout_.pid > 0 || facts_)) return;
  if (scout_.pid > 0) kill_group(scout_.pid);
  scout_ = {};
  auto scout = start_scout(terms_);
  if (!scout.ok()) return add_news({.problem = scout.error().message});
  scout_ = std::move(*scout);
  scout_report_ = LineStream(std::move(scout_.report));
}

void Agent::hear_scout() {
  scout_report_.read([&](std::string_view line) {
    auto news = read_news(line);
    if (!news.ok()) return;
    if (news->facts) facts_ = news->facts;
    if (news->notice) notice_ = news->notice;
    add_news(std::move(*news));
  });
  if (scout_.pid > 0 && exit_code_if_ended(scout_.pid)) scout_.pid = -1;
}

/// Logs give way when the runner does not keep up.
void Agent::tell(AgentNews news) {
  if (news.log) {
    std::int64_t& lost = lost_[news.log->process];
    if (outbox_.bytes() > kLogRoom) {
      ++lost;
      return;
    }
    news.log->lost = std::exchange(lost, 0);
  }
  if (news.ended) {
    const auto lost = lost_.find(news.ended->process);
    if (lost != lost_.end() && lost->second > 0) {
      add_news({.log = ProcessLog{.process = news.ended->process,
                                  .attempt = news.ended->attempt,
                                  .lost = lost->second}});
    }
    if (lost != lost_.end()) lost_.erase(lost);
  }
  add_news(std::move(news));
}

void Agent::add_news(AgentNews news) {
  news.number = outbox_.next();
  outbox_.add(to_line(news));
}

void Agent::write_callers() {
  for (const auto& caller : callers_) {
    AgentWire& wire = caller->wire;
    const bool joined = caller->proven && !caller->closing;
    if (joined && heard_due_ && wire.has_room()) {
      wire.put(to_line(AgentNews{.heard = inbox_.heard()}));
      heard_due_ = false;
    }
    bool open = wire.flush();
    while (open && joined && wire.has_room() && outbox_.to_send() != nullptr) {
      wire.put(*outbox_.to_send());
      outbox_.mark_sent();
      if (!wire.has_room()) open = wire.flush();
    }
    open = open && wire.flush();
    if (open) continue;
    caller->closing = true;
    caller->patience = Deadline(Seconds{});
  }
}

void Agent::drop_callers() {
  std::erase_if(callers_, [](const auto& caller) {
    const bool told = caller->closing && !caller->wire.wants_to_write();
    const bool waits = !caller->proven || caller->closing;
    return told || (waits && caller->patience.passed());
  });
}

void Agent::take_signal() {
  const int signal = StopSignals::take();
  if (signal == SIGINT) leave("it was interrupted", true);
  if (signal != SIGTERM) return;
  notice_ = MachineNotice{.source = "signal"};
  add_news({.notice = notice_});
}

void Agent::leave(const std::string& why, bool save) {
  if (phase_ != Phase::kWorking) return;
  add_news({.leaving = why});
  phase_ = Phase::kSaving;
  until_ = steady_now() + (save ? terms_.grace : Seconds{});
  if (save) processes_.signal_workers(SIGTERM);
}

void Agent::follow_lease() {
  const Seconds now = steady_now();
  if (phase_ == Phase::kWorking && now - renewed_ > terms_.lease) {
    gives_back_ = true;
    leave(fmt::format("no runner renewed the lease for {:.0f} s", terms_.lease.in(kSecond)), true);
  }
  if (phase_ == Phase::kSaving && (now > until_ || !processes_.has_workers())) {
    processes_.end_all();
    release();
  }
  if (phase_ != Phase::kReleasing) return;
  const bool ended = releasing_ < 0 || exit_code_if_ended(releasing_).has_value();
  if (!ended && now < until_) return;
  if (!ended) kill_group(releasing_);
  phase_ = Phase::kParting;
  until_ = now + kPartingTime;
}

void Agent::release() {
  phase_ = Phase::kReleasing;
  until_ = steady_now() + kReleaseTime;
  if (!gives_back_ || terms_.release.empty()) return;
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const auto started = start_process({.words = terms_.release,
                                      .in = nothing.get(),
                                      .out = nothing.get(),
                                      .err = nothing.get(),
                                      .kept = std::vector<int>{}});
  if (started.ok()) releasing_ = *started;
  if (!started.ok()) add_news({.problem = started.error().message});
}

}  // namespace stint
