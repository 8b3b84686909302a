#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace stint {

/// Numbered messages that the peer has not acknowledged, as lines. They are sent in order, and
/// again from the first one on a new stream.
class AgentOutbox {
 public:
  /// The number that the next message has to carry.
  std::int64_t next() const { return first_ + static_cast<std::int64_t>(lines_.size()); }

  /// The last number that was acknowledged.
  std::int64_t acknowledged() const { return first_ - 1; }

  void add(std::string line);

  /// The peer has all up to this number; false when it was never sent.
  bool acknowledge(std::int64_t number);

  /// A new stream: what is left will be sent again.
  void rewind() { sent_ = 0; }

  /// The next line to send; null when all were sent.
  const std::string* to_send() const { return sent_ < lines_.size() ? &lines_[sent_] : nullptr; }
  void mark_sent() { ++sent_; }

  std::size_t bytes() const { return bytes_; }  // Of all that are kept.
  bool empty() const { return lines_.empty(); }

  /// Forgets everything; numbers go on from 1.
  void clear();

 private:
  std::deque<std::string> lines_;
  std::int64_t first_ = 1;  // Number of the first line.
  std::size_t sent_ = 0;    // Lines that were sent on the present stream.
  std::size_t bytes_ = 0;
};

/// The other side: which numbered messages were heard.
class AgentInbox {
 public:
  enum class Verdict {
    kNew,
    kSeen,  // It was heard on an earlier stream.
    kGap    // One before it is missing.
  };

  Verdict take(std::int64_t number);

  std::int64_t heard() const { return heard_; }
  void reset(std::int64_t heard = 0) { heard_ = heard; }

 private:
  std::int64_t heard_ = 0;
};

}  // namespace stint
