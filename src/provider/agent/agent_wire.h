#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace stint {

/// Lines to and from a pair of descriptors, which its owner keeps open and which do not block. A
/// peer that reads slowly, or sends without end, costs little more than one line of memory in each
/// direction. Requires that SIGPIPE is ignored (see StopSignals).
class AgentWire {
 public:
  /// False: no more lines are wanted, and the wire is closed.
  using TakeLine = std::function<bool(std::string_view line)>;

  AgentWire() = default;
  AgentWire(int from, int to) : from_(from), to_(to) {}

  /// Passes on the lines that were received, without their newlines, and returns without waiting.
  /// One call reads about 256 KiB at most. False at the end of the stream, whose incomplete last
  /// line is not passed on, and at a line longer than kAgentLineMax.
  bool read(const TakeLine& take);

  /// Appends a line to what is to be written; see has_room.
  void put(std::string_view line) { out_ += line; }
  bool has_room() const;
  bool wants_to_write() const { return !out_.empty(); }

  /// Writes what is possible now; false when the peer is gone.
  bool flush();

  int from() const { return from_; }
  int to() const { return to_; }

 private:
  bool give_lines(const TakeLine& take);

  int from_ = -1;
  int to_ = -1;
  std::string in_ = {};
  std::string out_ = {};
};

}  // namespace stint
