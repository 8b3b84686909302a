#include "provider/agent/agent_wire.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>
#include <vector>

#include "provider/agent/agent_protocol.h"

namespace stint {
namespace {

// Sockets that keep the boundaries of messages cut what does not fit a read: pieces of one size.
constexpr std::size_t kPiece = 65536;
constexpr std::size_t kReadMax = 4 * kPiece;  // Of one call.

}  // namespace

bool AgentWire::read(const TakeLine& take) {
  std::vector<char> buffer(kPiece);
  for (std::size_t taken = 0; taken < kReadMax;) {
    const ssize_t got = ::read(from_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (got == 0) return false;
    taken += static_cast<std::size_t>(got);
    in_.append(buffer.data(), static_cast<std::size_t>(got));
    if (!give_lines(take)) return false;
  }
  return true;
}

bool AgentWire::give_lines(const TakeLine& take) {
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = in_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    if (!take(std::string_view(in_).substr(begin, end - begin))) return false;
  }
  in_.erase(0, begin);
  return in_.size() <= kAgentLineMax;
}

bool AgentWire::has_room() const { return out_.size() < kPiece; }

bool AgentWire::flush() {
  std::size_t done = 0;
  while (done < out_.size()) {
    const ssize_t sent = ::write(to_, out_.data() + done, std::min(kPiece, out_.size() - done));
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (sent <= 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  out_.erase(0, done);
  return true;
}

}  // namespace stint
