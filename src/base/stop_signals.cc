#include "base/stop_signals.h"

#include <cstddef>

namespace stint {
namespace {

volatile std::sig_atomic_t told_to_stop = 0;  // NOLINT: signal handlers have nothing else.

}  // namespace

StopSignals::StopSignals() {
  told_to_stop = 0;
  struct sigaction action {};
  action.sa_handler = [](int /*signal*/) { told_to_stop = 1; };
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == SIGPIPE) action.sa_handler = SIG_IGN;
    ::sigaction(kSignals[i], &action, &before_[i]);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &before_[i], nullptr);
  }
}

bool StopSignals::take() {
  const bool told = told_to_stop != 0;
  told_to_stop = 0;
  return told;
}

}  // namespace stint
