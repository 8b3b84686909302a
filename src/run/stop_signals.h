#pragma once

#include <array>
#include <csignal>

namespace stint {

/// While it lives, signals that ask this process to end (SIGINT, SIGTERM, SIGHUP) are only noted.
/// There may be one at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Whether one came since the last call.
  static bool take();

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> before_ = {};
};

}  // namespace stint
