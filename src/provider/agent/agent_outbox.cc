#include "provider/agent/agent_outbox.h"

#include <utility>

namespace stint {

void AgentOutbox::add(std::string line) {
  bytes_ += line.size();
  lines_.push_back(std::move(line));
}

bool AgentOutbox::acknowledge(std::int64_t number) {
  if (number >= next()) return false;
  for (; first_ <= number; ++first_) {
    bytes_ -= lines_.front().size();
    lines_.pop_front();
    if (sent_ > 0) --sent_;
  }
  return true;
}

void AgentOutbox::clear() { *this = AgentOutbox(); }

AgentInbox::Verdict AgentInbox::take(std::int64_t number) {
  if (number <= heard_) return Verdict::kSeen;
  if (number != heard_ + 1) return Verdict::kGap;
  heard_ = number;
  return Verdict::kNew;
}

}  // namespace stint
