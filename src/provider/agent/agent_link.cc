#include "provider/agent/agent_link.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/text.h"
#include "checkpoint/secret.h"

namespace stint {
namespace {

constexpr std::size_t kOrdersMax = 16U << 20U;  // Bytes that wait for an agent.
constexpr Seconds kPauseLeast = 200 * kMillisecond;
constexpr Seconds kPauseMost = 10 * kSecond;
constexpr Seconds kCarrierTime = 1 * kSecond;   // For a carrier to end after its output.
constexpr Seconds kLook = 20 * kMillisecond;    // Between two looks whether it has.
constexpr Seconds kWelcomeTime = 30 * kSecond;  // For a slow network, and an agent to start.
constexpr Seconds kSilenceLeast = 15 * kSecond;
constexpr Seconds kRenewalMost = 5 * kSecond;
constexpr double kRenewalsOfLease = 4;
constexpr double kRenewalsOfSilence = 3;
constexpr std::size_t kSessionBytes = 8;
constexpr std::size_t kNonceBytes = 16;

}  // namespace

AgentLink::AgentLink(AgentCall call, Reach reach)
    : call_(std::move(call)), reach_(std::move(reach)), session_(random_hex(kSessionBytes)) {
  put_terms();
}

void AgentLink::put_terms() {
  AgentOrder order{.number = orders_.next(), .terms = call_.terms};
  orders_.add(to_line(order));
}

void AgentLink::put_leave() {
  orders_.add(to_line(AgentOrder{.number = orders_.next(), .leave = true}));
}

Status AgentLink::send(AgentOrder order) {
  if (order.leave) {
    leave_ordered_ = true;
    put_leave();
    return {};
  }
  order.number = orders_.next();
  std::string line = to_line(order);
  if (line.size() > kAgentLineMax) {
    return bad_usage(
        fmt::format("an order to {} has more than {} bytes", call_.machine, kAgentLineMax));
  }
  if (orders_.bytes() + line.size() > kOrdersMax) {
    return unavailable(fmt::format("the agent of {} takes no orders", call_.machine));
  }
  orders_.add(std::move(line));
  return {};
}

LinkNews AgentLink::turn(Seconds now) {
  now_ = now;
  LinkNews heard;
  if (state_ == LinkState::kRefused || state_ == LinkState::kLeft) return heard;
  if (state_ == LinkState::kAway && now >= call_at_) dial(now);
  if (state_ == LinkState::kAway) return heard;
  heard_any_ = false;
  const bool open = wire_.read([&](std::string_view line) { return hear(line, heard); });
  if (heard_any_) heard_at_ = now;
  if (!stream_.is_open()) return heard;
  if (!open || ending_) {
    await_carrier(now);
    return heard;
  }
  check_silence(now);
  if (stream_.is_open()) write();
  return heard;
}

void AgentLink::dial(Seconds now) {
  auto stream = reach_();
  if (!stream.ok()) {
    cut(stream.error().message);
    return;
  }
  stream_ = std::move(*stream);
  wire_ = AgentWire(stream_.from(), stream_.to());
  welcome_.reset();
  hello_ = {.version = call_.version,
            .run = call_.run,
            .machine = call_.machine,
            .attempt = call_.attempt,
            .session = session_,
            .nonce = random_hex(kNonceBytes),
            .agent = agent_,
            .heard = inbox_.heard()};
  if (call_.trusted) hello_.secret = call_.secret;
  wire_.put(to_line(AgentOrder{.hello = hello_}));
  state_ = LinkState::kCalling;
  heard_at_ = now;
}

bool AgentLink::hear(std::string_view line, LinkNews& heard) {
  auto news = read_news(line);
  if (!news.ok()) return cut("the agent's answer is none: " + news.error().message);
  heard_any_ = true;
  if (news->refused) return refuse(*news->refused);
  if (news->welcome) return on_welcome(*news->welcome);
  if (news->joined) return on_joined(*news->joined, heard);
  if (state_ != LinkState::kJoined) return cut("the agent spoke before it was asked");
  if (!news->heard) return on_numbered(std::move(*news), heard);
  return orders_.acknowledge(*news->heard) || cut("the agent has orders that were never given");
}

bool AgentLink::on_welcome(const AgentWelcome& welcome) {
  if (welcome_) return cut("the agent said welcome twice");
  if (welcome.protocol != kAgentProtocol) {
    return refuse({AgentRefusal::kProtocol,
                   fmt::format("the agent speaks {}, not {}; run the same stint on both sides",
                               printable(welcome.protocol), kAgentProtocol)});
  }
  const std::string proof = agent_proof(call_.secret, AgentSide::kAgent, hello_, welcome.nonce);
  if (!same_text(proof, welcome.proof)) {
    return refuse({AgentRefusal::kSecret, "the agent does not know the secret of the run"});
  }
  welcome_ = welcome;
  wire_.put(to_line(
      AgentOrder{.proof = agent_proof(call_.secret, AgentSide::kRunner, hello_, welcome.nonce)}));
  return true;
}

bool AgentLink::on_joined(const AgentJoined& joined, LinkNews& heard) {
  if (!welcome_ || state_ == LinkState::kJoined) return cut("the agent joined unasked");
  if (agent_ && *agent_ != welcome_->agent) {
    // Orders were for processes that ended with their agent.
    orders_.clear();
    put_terms();
    // It is not to stay because a cut hid that the other one left.
    if (leave_ordered_) put_leave();
    heard.replaced = true;
  }
  if (agent_ != welcome_->agent) inbox_.reset(joined.acknowledged);
  agent_ = welcome_->agent;
  if (!orders_.acknowledge(joined.heard)) {
    return cut("the agent has orders that were never given");
  }
  orders_.rewind();
  state_ = LinkState::kJoined;
  renew_at_ = now_;
  joined_at_ = now_;
  trouble_.clear();
  heard.joined = joined;
  return true;
}

bool AgentLink::on_numbered(AgentNews news, LinkNews& heard) {
  const auto verdict = inbox_.take(news.number);
  if (verdict == AgentInbox::Verdict::kGap) {
    return cut(fmt::format("news {} came after {}", news.number, inbox_.heard()));
  }
  heard_due_ = true;
  if (verdict == AgentInbox::Verdict::kSeen) return true;
  if (news.said && news.said->attempt < call_.attempt) {
    ++outdated_;
    return true;
  }
  leaving_ = leaving_ || news.leaving;
  heard.news.push_back(std::move(news));
  return true;
}

/// A carrier says why it ends after it closed its output.
void AgentLink::await_carrier(Seconds now) {
  if (!ending_) ending_ = now;
  if (stream_.ended() || now - *ending_ > kCarrierTime) cut("the stream ended");
}

void AgentLink::write() {
  const bool joined = state_ == LinkState::kJoined;
  if (joined && heard_due_ && wire_.has_room()) {
    wire_.put(to_line(AgentOrder{.heard = inbox_.heard()}));
    heard_due_ = false;
  }
  if (joined && now_ >= renew_at_ && wire_.has_room()) {
    wire_.put(to_line(AgentOrder{.renew = true}));
    renew_at_ = now_ + renewal();
  }
  bool open = wire_.flush();
  while (open && joined && wire_.has_room() && orders_.to_send() != nullptr) {
    wire_.put(*orders_.to_send());
    orders_.mark_sent();
    if (!wire_.has_room()) open = wire_.flush();
  }
  if (!open || !wire_.flush()) await_carrier(now_);
}

void AgentLink::check_silence(Seconds now) {
  const Seconds silence = state_ == LinkState::kJoined
                              ? std::max(kSilenceLeast, kRenewalsOfSilence * renewal())
                              : kWelcomeTime;
  if (now - heard_at_ > silence) cut(fmt::format("no answer for {:.0f} s", silence.in(kSecond)));
}

Seconds AgentLink::renewal() const {
  return std::min(kRenewalMost, call_.terms.lease / kRenewalsOfLease);
}

/// Ends the stream, and has the next one wait; always false.
bool AgentLink::cut(const std::string& why) {
  carrier_code_ = stream_.ended();
  const std::string complaint = stream_.complaint();
  trouble_ = complaint.empty() ? why : complaint;
  stream_.end();
  // One that ends each stream soon after it has joined is not called without end.
  if (state_ == LinkState::kJoined && now_ - joined_at_ > kPauseMost) pause_ = {};
  // A call would start another agent.
  state_ = leaving_ ? LinkState::kLeft : LinkState::kAway;
  ending_.reset();
  heard_due_ = false;
  call_at_ = now_ + pause_;
  pause_ = std::clamp(2 * pause_, kPauseLeast, kPauseMost);
  return false;
}

bool AgentLink::refuse(const AgentRefused& why) {
  cut(harmless(why.reason));
  if (why.cause == AgentRefusal::kMalformed) return false;
  state_ = LinkState::kRefused;
  refused_ = AgentRefused{why.cause, trouble_};
  return false;
}

void AgentLink::hang_up() {
  stream_.end();
  ending_.reset();
  const bool over = state_ == LinkState::kRefused || state_ == LinkState::kLeft;
  if (!over) state_ = LinkState::kAway;
}

void AgentLink::add_polls(std::vector<pollfd>& polls) const {
  if (!stream_.is_open() || ending_) return;
  polls.push_back({.fd = wire_.from(), .events = POLLIN, .revents = 0});
  if (!wire_.wants_to_write()) return;
  polls.push_back({.fd = wire_.to(), .events = POLLOUT, .revents = 0});
}

Seconds AgentLink::wakes_at() const {
  if (state_ == LinkState::kRefused || state_ == LinkState::kLeft) return now_ + kPauseMost;
  if (ending_) return now_ + kLook;
  if (state_ == LinkState::kJoined) return renew_at_;
  return state_ == LinkState::kAway ? call_at_ : heard_at_ + kWelcomeTime;
}

}  // namespace stint
