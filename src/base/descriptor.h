#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stint {

/// Time since a moment of this boot. The clock is never set, so that it suits limits of waits;
/// decisions use a Clock instead.
Seconds steady_now();

/// The end of a wait.
class Deadline {
 public:
  explicit Deadline(Seconds limit) : end_(steady_now() + limit) {}

  /// The time left; zero once it has passed.
  Seconds left() const;

  bool passed() const { return !(left() > Seconds{}); }

 private:
  Seconds end_;
};

/// A limit as poll takes it, rounded up: a wait that returns early would be repeated at once.
int poll_milliseconds(Seconds limit);

/// Owns a file descriptor; −1 is none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  int get() const { return number_; }
  void close();

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor from;
  Descriptor to;
};

/// A pipe whose ends started programs do not inherit.
Result<Pipe> make_pipe();

/// Waits for one of `events`, as poll names them; false when none occurred within `limit`. A signal
/// does not end the wait.
bool wait_for(int descriptor, short events, Seconds limit);

/// Closes all descriptors from 3 on except these.
void close_all_but(std::vector<int> kept);

/// Appends bytes until the end of the stream, or a mebibyte; false when `limit` passed first.
bool read_to_end(int descriptor, Seconds limit, std::string& bytes);

/// A line from a pipe or socket without its newline; the bytes so far when it ends or `limit`
/// passes.
std::string read_line(int descriptor, Seconds limit);

/// False when not all could be written.
bool write_all(int descriptor, std::string_view bytes);

/// Splits the bytes of a pipe or socket into lines, for a loop that polls several.
class LineStream {
 public:
  using TakeLine = std::function<void(std::string_view line)>;

  LineStream() = default;

  /// Makes the descriptor non-blocking.
  explicit LineStream(Descriptor from);

  bool open() const { return from_.get() >= 0; }

  /// For polling, and for writing if it is a socket.
  int descriptor() const { return from_.get(); }

  /// Passes on the received lines, without their newlines, and returns without waiting. At the end
  /// of the stream an incomplete line counts as one, and the descriptor is closed. One call reads
  /// about a mebibyte at most, so that it is to be called again when there is more. Longer lines
  /// are split there.
  void read(const TakeLine& take);

  /// Passes on an incomplete line, if any, and closes.
  void close(const TakeLine& take);

 private:
  void give_lines(const TakeLine& take);

  Descriptor from_ = {};
  std::string rest_ = {};
};

}  // namespace stint
