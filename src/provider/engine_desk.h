#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "base/units.h"
#include "provider/engine_call.h"
#include "provider/provider.h"

namespace stint {

/// How often an engine is asked. Each failure in a row doubles the pause, up to the longest.
struct EnginePace {
  Seconds look = 200 * kMillisecond;  // Between two looks.
  Seconds pause_min = 200 * kMillisecond;
  Seconds pause_max = 10 * kSecond;
  Seconds patience = 2 * kMinute;  // With one call; then nobody knows what became of it.

  Seconds pause_after(int failures) const;
};

/// Looks go on while an order waits for its answer.
enum class EngineLane { kOrders, kLooks };

inline constexpr std::array kEngineLanes = {EngineLane::kOrders, EngineLane::kLooks};

/// Decides what an engine is asked next, and what its answers mean. Orders that were not answered
/// are repeated, releases until a later look shows that the machine is gone. Pure: whoever holds it
/// makes the calls, of each lane one at a time.
class EngineDesk {
 public:
  explicit EngineDesk(EnginePace pace = {}) : pace_(pace) {}

  void request(const MachineOrder& order);
  void release(const std::string& name);

  /// The call that is due, which counts as begun now.
  std::optional<EngineCall> next(EngineLane lane, Seconds now);

  /// The answer to the call of this lane that was begun last.
  void answered(EngineLane lane, EngineAnswer answer, Seconds now);

  /// When the next call of the lane is due; nothing: none is, or one is under way.
  std::optional<Seconds> due(EngineLane lane) const;

  /// News since the last call.
  ProviderNews take_news();

 private:
  struct Order {
    MachineOrder order;
    int failures = 0;
    Seconds due = {};
  };
  struct Release {
    int failures = 0;
    Seconds due = {};
    std::optional<Seconds> accepted_at = {};
    std::string reason = {};
  };

  void on_release(const EngineAnswer& answer, Seconds now);
  void on_request(EngineAnswer answer, Seconds now);
  void on_look(EngineAnswer answer, Seconds now);

  EnginePace pace_;
  std::map<std::string, Order> orders_;
  std::map<std::string, Release> releases_;
  std::optional<EngineCall> ordering_;  // Under way.
  bool looking_ = false;
  Seconds look_began_;
  Seconds look_due_;
  ProviderNews news_;
};

}  // namespace stint
