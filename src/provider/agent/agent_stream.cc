#include "provider/agent/agent_stream.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "base/text.h"

namespace stint {
namespace {

constexpr std::size_t kHeardMax = 4096;  // Bytes of the carrier's complaints that are kept.

Status make_non_blocking(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags >= 0 && ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0) return {};
  return failed("cannot prepare a pipe");
}

}  // namespace

Result<AgentStream> AgentStream::open(Command command, const Start& start) {
  auto in = make_pipe();
  auto out = make_pipe();
  auto errors = make_pipe();
  for (const auto* pipe : {&in, &out, &errors}) {
    if (!pipe->ok()) return pipe->error();
  }
  command.in = in->from.get();
  command.out = out->to.get();
  command.err = errors->to.get();
  for (const int ours : {in->to.get(), out->from.get(), errors->from.get()}) {
    const Status made = make_non_blocking(ours);
    if (!made.ok()) return made.error();
  }
  const auto carrier = start(std::move(command));
  if (!carrier.ok()) return carrier.error();
  AgentStream stream;
  stream.from_ = std::move(out->from);
  stream.to_ = std::move(in->to);
  stream.errors_ = std::move(errors->from);
  stream.carrier_ = *carrier;
  return stream;
}

AgentStream::AgentStream(AgentStream&& other) noexcept
    : from_(std::move(other.from_)),
      to_(std::move(other.to_)),
      errors_(std::move(other.errors_)),
      carrier_(std::exchange(other.carrier_, -1)),
      code_(std::exchange(other.code_, std::nullopt)),
      heard_(std::move(other.heard_)) {}

AgentStream& AgentStream::operator=(AgentStream&& other) noexcept {
  if (this == &other) return *this;
  end();
  from_ = std::move(other.from_);
  to_ = std::move(other.to_);
  errors_ = std::move(other.errors_);
  carrier_ = std::exchange(other.carrier_, -1);
  code_ = std::exchange(other.code_, std::nullopt);
  heard_ = std::move(other.heard_);
  return *this;
}

std::optional<int> AgentStream::ended() {
  if (carrier_ >= 0 && !code_) code_ = exit_code_if_ended(carrier_);
  return code_;
}

std::string AgentStream::complaint() {
  char bytes[1024];
  for (ssize_t got = 1; got > 0 && errors_.get() >= 0;) {
    got = ::read(errors_.get(), bytes, sizeof bytes);
    if (got < 0 && errno == EINTR)
      got = 1;
    else if (got > 0)
      heard_.append(bytes, static_cast<std::size_t>(got));
    if (heard_.size() > kHeardMax) heard_.erase(0, heard_.size() - kHeardMax);
  }
  std::string last;
  for (const std::string& line : split(heard_, '\n')) {
    if (!line.empty()) last = line;
  }
  return is_utf8(last) ? without_controls(last) : printable(last);
}

void AgentStream::end() {
  to_.close();
  from_.close();
  if (carrier_ < 0) return;
  if (!ended()) {
    kill_group(carrier_);
  } else {
    ::kill(-carrier_, SIGKILL);  // What it started.
  }
  carrier_ = -1;
}

}  // namespace stint
