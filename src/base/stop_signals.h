#pragma once

#include <array>
#include <csignal>

namespace stint {

/// While it lives, signals that ask this process to end (SIGINT, SIGTERM, SIGHUP) are only noted.
/// A reader who closes our output (SIGPIPE) ends nothing. There may be one of these at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Whether one came since the last call.
  static bool take();

 private:
  static constexpr std::array<int, 4> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  std::array<struct sigaction, 4> before_ = {};
};

}  // namespace stint
